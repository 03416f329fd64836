#pragma once

#include "tensors.hpp"

#include <cstdint>
#include <span>
#include <variant>

namespace tmajit::python {

/// Whether the object is a Python number, which stands in place of a source.
[[nodiscard]] bool is_number(nb::handle object) noexcept;

/// An operand for a number, without type and value yet. It keeps the object.
void read_number(Operand& operand, nb::handle object);

/// The value of a number of Python.
using NumberValue = std::variant<std::int64_t, double>;

/// Sets the types (number_type()), values and devices of the numbers among a call's sources, from the objects
/// that read_number() kept. If no source is a tensor, the destinations decide the types. Throws
/// Error{invalid_argument} for an int that its type cannot hold.
void set_numbers(std::span<Operand> sources, std::span<const Operand> destinations);
/// The same for a call without objects of Python: `values` has the value of each number in turn.
void set_numbers(std::span<Operand> sources, std::span<const Operand> destinations,
                 std::span<const NumberValue> values);

/// A number of the type with which a plan was made. Throws Error{invalid_argument} for any other object, for
/// a float in place of an int, and for an int that the type cannot hold.
[[nodiscard]] Operand number_of_type(nb::handle object, ElementType type);

}  // namespace tmajit::python
