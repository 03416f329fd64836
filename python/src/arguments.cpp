#include "arguments.hpp"

#include <tmajit/error.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <span>
#include <string_view>
#include <variant>
#include <vector>

namespace tmajit::python {
namespace {

std::string_view accepted_values(ArgumentType type) {
  switch (type) {
    case ArgumentType::number: return "a number";
    case ArgumentType::count: return "a whole number from 0 to 2^32 - 1";
    case ArgumentType::text:
    case ArgumentType::choice: return "a str";
    case ArgumentType::axis: return "a whole number";
    case ArgumentType::axes:
    case ArgumentType::extents:
    case ArgumentType::numbers: return "a whole number, or a sequence of them";
    case ArgumentType::parts: return "a sequence of whole numbers";
    case ArgumentType::slices: return "a slice for each dimension, as numpy.s_[1:3, ::2] makes them";
    case ArgumentType::widths:
      return "for each dimension a whole number, or a pair of them: before and after";
  }
  return "";
}

[[noreturn]] void refuse(const OperationInfo& operation, const Argument& argument, nb::handle value) {
  std::string message = std::string(operation.name) + ": " + std::string(argument.name) + " takes " +
                        std::string(accepted_values(argument.type)) + "; found " +
                        nb::cast<std::string>(nb::repr(value));
  if (!argument.choices.empty()) {
    message += "; legal are";
    for (const std::string_view choice : argument.choices) message += " \"" + std::string(choice) + "\"";
  }
  PyErr_SetString(PyExc_TypeError, message.c_str());
  nb::raise_python_error();
}

/// Reads any object that Python accepts as an index. Returns false for other objects.
bool to_integer(nb::handle value, std::int64_t& number) {
  if (PyBool_Check(value.ptr())) return false;
  number = PyLong_AsLongLong(value.ptr());
  if (number != -1 || PyErr_Occurred() == nullptr) return true;
  PyErr_Clear();
  const nb::object index = nb::steal(PyNumber_Index(value.ptr()));
  if (!index.is_valid()) {
    PyErr_Clear();
    return false;
  }
  number = PyLong_AsLongLong(index.ptr());
  if (number == -1 && PyErr_Occurred() != nullptr) {
    PyErr_Clear();
    return false;
  }
  return true;
}

/// Reads a sequence of integers. Returns false for other objects.
bool to_integers(nb::handle value, std::vector<std::int64_t>& numbers) {
  if (PySequence_Check(value.ptr()) == 0 || PyUnicode_Check(value.ptr())) return false;
  for (const nb::handle item : nb::borrow<nb::object>(value)) {
    numbers.emplace_back();
    if (!to_integer(item, numbers.back())) return false;
  }
  return true;
}

/// Reads an integer or a sequence of integers. Returns false for other objects.
bool to_dims(nb::handle value, Dims& dims) {
  std::array<std::int64_t, max_view_rank> numbers{};
  if (PyTuple_CheckExact(value.ptr())) {
    const auto size = static_cast<std::size_t>(PyTuple_Size(value.ptr()));
    if (size <= numbers.size()) {
      for (std::size_t i = 0; i < size; ++i)
        if (!to_integer(PyTuple_GetItem(value.ptr(), static_cast<Py_ssize_t>(i)), numbers[i])) return false;
      dims = Dims(std::span(numbers.data(), size));
      return true;
    }
  }
  if (to_integer(value, numbers[0])) {
    dims = Dims(std::span(numbers.data(), 1));
    return true;
  }
  std::vector<std::int64_t> many;
  if (!to_integers(value, many)) return false;
  dims = Dims(many);  // throws if there are more than eight
  return true;
}

bool to_slice(nb::handle value, Slice& slice) {
  if (!PySlice_Check(value.ptr())) return false;
  const auto bound = [&](const char* name, std::optional<std::int64_t>& to) {
    const nb::object given = value.attr(name);
    if (given.is_none()) return true;
    std::int64_t number = 0;
    if (!to_integer(given, number)) return false;
    to = number;
    return true;
  };
  std::optional<std::int64_t> step;
  if (!bound("start", slice.start) || !bound("stop", slice.stop) || !bound("step", step)) return false;
  slice.step = step.value_or(1);
  return true;
}

bool to_slices(nb::handle value, std::vector<Slice>& slices) {
  if (PySlice_Check(value.ptr())) return to_slice(value, slices.emplace_back());
  if (PySequence_Check(value.ptr()) == 0 || PyUnicode_Check(value.ptr())) return false;
  for (const nb::handle item : nb::borrow<nb::object>(value))
    if (!to_slice(item, slices.emplace_back())) return false;
  return true;
}

bool to_widths(nb::handle value, PadWidths& widths) {
  if (PySequence_Check(value.ptr()) == 0 || PyUnicode_Check(value.ptr())) return false;
  std::vector<std::int64_t> before;
  std::vector<std::int64_t> after;
  for (const nb::handle item : nb::borrow<nb::object>(value)) {
    Dims pair;
    if (!to_dims(item, pair) || pair.empty() || pair.size() > 2) return false;
    before.push_back(pair[0]);
    after.push_back(pair[pair.size() - 1]);
  }
  widths = {Dims(before), Dims(after)};
  return true;
}

/// The bytes of a str. For other objects it returns an empty text and sets `ok` to false.
std::string_view to_text(nb::handle value, bool& ok) {
  ok = PyUnicode_Check(value.ptr()) != 0;
  if (!ok) return {};
  Py_ssize_t size = 0;
  const char* const bytes = PyUnicode_AsUTF8AndSize(value.ptr(), &size);
  if (bytes == nullptr) nb::raise_python_error();
  return {bytes, static_cast<std::size_t>(size)};
}

/// The text of a choice. True and False mean "yes" and "no".
std::string_view to_choice(const OperationInfo& operation, const Argument& argument, nb::handle value) {
  bool ok = true;
  std::string_view text;
  if (PyBool_Check(value.ptr())) {
    text = value.is(nb::handle(Py_True)) ? "yes" : "no";
  } else {
    text = to_text(value, ok);
  }
  if (ok && std::ranges::find(argument.choices, text) == argument.choices.end()) {
    if (PyBool_Check(value.ptr())) refuse(operation, argument, value);
    // This parser's error suggests the most similar choice.
    (void)parse_argument(argument, text, std::string(operation.name) + ": " + std::string(argument.name));
  }
  if (!ok) refuse(operation, argument, value);
  return text;
}

// The overloads of add() add a value to a key.
void add(CallKey& key, double number) {
  key.add(std::bit_cast<std::uint64_t>(number));
}

void add(CallKey& key, std::int64_t number) {
  key.add(static_cast<std::uint64_t>(number));
}

void add(CallKey& key, const Dims& dims) {
  key.add(dims.size());
  key.add_all(dims.data(), dims.size());
}

void add(CallKey& key, const std::vector<std::int64_t>& numbers) {
  key.add(numbers.size());
  key.add_all(numbers.data(), numbers.size());
}

void add(CallKey& key, const std::vector<Slice>& slices) {
  key.add(slices.size());
  for (const Slice& one : slices) {
    const std::array numbers{one.start.has_value() ? std::int64_t{1} : 0, one.start.value_or(0),
                             one.stop.has_value() ? std::int64_t{1} : 0, one.stop.value_or(0), one.step};
    key.add_all(numbers.data(), numbers.size());
  }
}

void add(CallKey& key, const PadWidths& widths) {
  add(key, widths.before);
  add(key, widths.after);
}

void add(CallKey& key, const std::string& text) {
  key.add_text(text);
}

void add(CallKey& key, const ArgumentValue& value) {
  std::visit([&](const auto& typed) { add(key, typed); }, value);
}

}  // namespace

ArgumentValue to_value(const OperationInfo& operation, const Argument& argument, nb::handle value) {
  switch (argument.type) {
    case ArgumentType::number: {
      const double number = PyFloat_AsDouble(value.ptr());
      if (number == -1 && PyErr_Occurred() != nullptr) {
        PyErr_Clear();
        break;
      }
      return number;
    }
    case ArgumentType::text: {
      bool ok = false;
      const std::string_view text = to_text(value, ok);
      if (!ok) break;
      return std::string(text);
    }
    case ArgumentType::choice: return std::string(to_choice(operation, argument, value));
    case ArgumentType::count:
    case ArgumentType::axis: {
      std::int64_t number = 0;
      if (!to_integer(value, number)) break;
      if (argument.type == ArgumentType::count && (number < 0 || number > 0xffffffff)) break;
      return number;
    }
    case ArgumentType::axes:
    case ArgumentType::extents:
    case ArgumentType::numbers: {
      Dims dims;
      if (!to_dims(value, dims)) break;
      return dims;
    }
    case ArgumentType::parts: {
      std::vector<std::int64_t> parts;
      if (!to_integers(value, parts)) break;
      return parts;
    }
    case ArgumentType::slices: {
      std::vector<Slice> slices;
      if (!to_slices(value, slices)) break;
      return slices;
    }
    case ArgumentType::widths: {
      PadWidths widths;
      if (!to_widths(value, widths)) break;
      return widths;
    }
  }
  refuse(operation, argument, value);
}

void add_to_key(CallKey& key, const OperationInfo& operation, const nb::tuple& values) {
  for (std::size_t i = 0; i < operation.arguments.size(); ++i) {
    const Argument& argument = operation.arguments[i];
    const nb::handle value = values[i];
    key.add(value.is_none() ? 0U : 1U);
    if (value.is_none()) continue;
    if (argument.type == ArgumentType::text || argument.type == ArgumentType::choice) {
      // Texts are the only values that to_value() would copy to the heap although the key needs no copy.
      bool ok = true;
      const std::string_view text =
          argument.type == ArgumentType::text ? to_text(value, ok) : to_choice(operation, argument, value);
      if (!ok) refuse(operation, argument, value);
      key.add_text(text);
    } else {
      add(key, to_value(operation, argument, value));
    }
  }
}

void add_to_key(CallKey& key, const OperationInfo& operation, const Arguments& arguments) {
  for (const Argument& argument : operation.arguments) {
    const ArgumentValue* const value = arguments.find(argument.name);
    key.add(value == nullptr ? 0U : 1U);
    if (value != nullptr) add(key, *value);
  }
}

Arguments to_arguments(const OperationInfo& operation, const nb::tuple& values) {
  Arguments arguments;
  for (std::size_t i = 0; i < operation.arguments.size(); ++i) {
    const nb::handle value = values[i];
    if (value.is_none()) continue;
    arguments.set(operation.arguments[i].name, to_value(operation, operation.arguments[i], value));
  }
  return arguments;
}

}  // namespace tmajit::python
