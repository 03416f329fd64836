#pragma once

#include <tmajit/arguments.hpp>
#include <tmajit/operations.hpp>

#include <string>

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

namespace tmajit::python {

namespace nb = nanobind;

/// A Python value as a value of the argument's type. Throws TypeError that says what the argument takes, and
/// Error{invalid_argument} for a choice that it does not have.
[[nodiscard]] ArgumentValue to_value(const OperationInfo& operation, const Argument& argument,
                                     nb::handle value);

/// Adds the bytes that tell the value apart from others of the argument's type.
void add_to_key(std::string& key, const OperationInfo& operation, const Argument& argument, nb::handle value);

/// The arguments of `values`, one for each argument of the operation; None is one that is not given.
[[nodiscard]] Arguments to_arguments(const OperationInfo& operation, nb::tuple values);

}  // namespace tmajit::python
