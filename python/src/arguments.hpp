#pragma once

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

/// Appends bytes to the key. Different values of the argument append different bytes.
void add_to_key(std::string& key, const OperationInfo& operation, const Argument& argument, nb::handle value);

/// Converts `values`, which has one value for each argument of the operation. None means the default.
[[nodiscard]] Arguments to_arguments(const OperationInfo& operation, const nb::tuple& values);

}  // namespace tmajit::python
