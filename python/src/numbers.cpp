#include "numbers.hpp"

#include <tmajit/error.hpp>

#include <algorithm>
#include <string>
#include <vector>

namespace tmajit::python {
namespace {

[[noreturn]] void refuse(const std::string& message) {
  throw Error(ErrorCode::invalid_argument, message);
}

/// The value of a Python number. Throws Error{invalid_argument} for an int out of i64's range.
NumberValue value_of(PyObject* object) {
  if (PyLong_Check(object) == 0) {
    const double value = PyFloat_AsDouble(object);
    if (value == -1 && PyErr_Occurred() != nullptr) nb::raise_python_error();
    return value;
  }
  int overflow = 0;
  const long long value = PyLong_AsLongLongAndOverflow(object, &overflow);
  if (overflow != 0) refuse("an int out of range; legal is -2^63 to 2^63 - 1, or a float");
  return std::int64_t{value};
}

void set_value(Operand& operand, const NumberValue& value, ElementType type) {
  operand.tensor = number(value, type);
  operand.type = &data_type(type);
  operand.owner.reset();
}

}  // namespace

bool is_number(nb::handle object) noexcept {
  return PyFloat_Check(object.ptr()) || PyLong_Check(object.ptr());
}

void read_number(Operand& operand, nb::handle object) {
  operand.tensor.view.is_number = true;
  operand.owner = nb::borrow(object);
}

void set_numbers(std::span<Operand> sources, std::span<const Operand> destinations) {
  std::vector<NumberValue> values;
  for (const Operand& operand : sources)
    if (operand.tensor.view.is_number) values.push_back(value_of(operand.owner.ptr()));
  set_numbers(sources, destinations, values);
}

void set_numbers(std::span<Operand> sources, std::span<const Operand> destinations,
                 std::span<const NumberValue> values) {
  const auto is_tensor = [](const Operand& operand) { return !operand.tensor.view.is_number; };
  const bool has_tensor = std::ranges::any_of(sources, is_tensor);
  const std::span<const Operand> decisive = has_tensor ? std::span<const Operand>(sources) : destinations;
  std::vector<TensorView> views;
  for (const Operand& operand : decisive) views.push_back(operand.tensor.view);
  auto next = values.begin();
  for (Operand& operand : sources) {
    if (is_tensor(operand)) continue;
    const NumberValue& value = *next++;
    set_value(operand, value, number_type(value, List<TensorView>(std::span<const TensorView>(views))));
    const auto like = std::ranges::find_if(decisive, is_tensor);
    if (like == decisive.end()) continue;
    operand.device = like->device;
    operand.library = like->library;
  }
}

Operand number_of_type(nb::handle object, ElementType type) {
  if (!is_number(object)) refuse("the plan takes a number in place of this source");
  Operand operand;
  read_number(operand, object);
  set_value(operand, value_of(object.ptr()), type);
  return operand;
}

}  // namespace tmajit::python
