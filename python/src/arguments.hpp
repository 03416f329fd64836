#pragma once

#include "call_key.hpp"

#include <tmajit/arguments.hpp>
#include <tmajit/operations.hpp>

#include <string>

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

namespace tmajit::python {

namespace nb = nanobind;

/// Converts a Python value to the argument's type. Throws TypeError if the value has another type, and
/// Error{invalid_argument} for an unknown choice.
[[nodiscard]] ArgumentValue to_value(const OperationInfo& operation, const Argument& argument,
                                     nb::handle value);

/// Adds `values`, which has one value for each argument of the operation, to the key. None means the default.
/// Different values add different words.
void add_to_key(CallKey& key, const OperationInfo& operation, const nb::tuple& values);
/// Adds the same words for values that were converted by to_arguments().
void add_to_key(CallKey& key, const OperationInfo& operation, const Arguments& arguments);

/// Converts `values`, which has one value for each argument of the operation. None means the default.
[[nodiscard]] Arguments to_arguments(const OperationInfo& operation, const nb::tuple& values);

}  // namespace tmajit::python
