#pragma once

#include <tmajit/dims.hpp>
#include <tmajit/names.hpp>
#include <tmajit/tensor.hpp>
#include <tmajit/version.hpp>

#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

TMAJIT_BEGIN

/// The type of an operation's argument. Each comment shows how a value is written as text.
enum class ArgumentType : std::uint8_t {
  number,   ///< "0.5"
  count,    ///< a whole number from 0 to 2^32 - 1: "4"
  text,     ///< an expression: "x0 + x1"
  choice,   ///< one of Argument::choices
  axis,     ///< one dimension; a negative number counts from the end: "1"
  axes,     ///< different dimensions; a negative number counts from the end: "0,2,1,3"
  extents,  ///< numbers of elements, 0 or more: "3x3", "10,20,30"
  parts,    ///< extents of any number of parts along one dimension: "10,20,30"
  numbers,  ///< whole numbers of either sign: "2,2"
  slices,   ///< Python's start:stop:step, one a dimension: "100:200,:,::-1"
  widths,   ///< widths before each dimension, a colon, widths after each: "1,1:2,2"; "1,1" is "1,1:1,1"
};
/// "number", "slices".
[[nodiscard]] TMAJIT_API std::string_view name(ArgumentType type) noexcept;
template <>
[[nodiscard]] TMAJIT_API ArgumentType parse<ArgumentType>(std::string_view name);

/// One argument of an operation, described once: command-line options, JSON, the documentation's table and
/// bindings are made from it.
struct Argument {
  std::string_view name;    ///< "axes", in C++ and in JSON
  std::string_view option;  ///< "--axes", of jitc; operations that share an option share its type
  ArgumentType type = ArgumentType::text;
  bool required = false;
  std::string_view fallback = {};  ///< the default, in words: "all dimensions", "0"
  std::string_view sentence;       ///< the meaning, as a noun: "the new order of the dimensions"
  std::string_view example;        ///< "0,2,1,3"
  std::span<const std::string_view> choices = {};  ///< legal values of a choice
};

/// Elements that are added before and after each dimension; a negative number crops.
struct PadWidths {
  Dims before = {};
  Dims after = {};
  friend bool operator==(const PadWidths&, const PadWidths&) = default;
};

/// The value of one argument, by its type: double, text or choice, axis or count, lists of numbers, slices,
/// widths, parts.
using ArgumentValue = std::variant<double, std::string, std::int64_t, Dims, std::vector<Slice>, PadWidths,
                                   std::vector<std::int64_t>>;

/// The values of an operation's arguments, by name. Plain data. An absent argument has its default
/// (Argument::fallback).
class TMAJIT_API Arguments {
 public:
  Arguments() = default;
  Arguments(std::initializer_list<std::pair<std::string_view, ArgumentValue>> given);

  void set(std::string_view name, ArgumentValue value);
  /// Null if the argument is not given.
  [[nodiscard]] const ArgumentValue* find(std::string_view name) const noexcept;
  [[nodiscard]] bool has(std::string_view name) const noexcept { return find(name) != nullptr; }

  // The value of that name, or the fallback. Throws Error{invalid_argument} if it has another type.
  [[nodiscard]] double number(std::string_view name, double fallback = 0) const;
  /// Valid as long as this object, or the text of `fallback`, lives.
  [[nodiscard]] std::string_view text(std::string_view name, std::string_view fallback = {}) const;
  [[nodiscard]] std::uint32_t count(std::string_view name, std::uint32_t fallback = 0) const;
  [[nodiscard]] std::int64_t axis(std::string_view name, std::int64_t fallback = 0) const;
  [[nodiscard]] Dims dims(std::string_view name) const;
  [[nodiscard]] std::vector<Slice> slices(std::string_view name) const;
  [[nodiscard]] PadWidths widths(std::string_view name) const;
  [[nodiscard]] std::vector<std::int64_t> parts(std::string_view name) const;

  [[nodiscard]] std::span<const std::pair<std::string, ArgumentValue>> all() const noexcept { return given_; }
  friend bool operator==(const Arguments&, const Arguments&) = default;

 private:
  std::vector<std::pair<std::string, ArgumentValue>> given_;
};

/// Parses `text` as a value of the argument's type. Messages name the value by `subject`: "--axes". Throws
/// Error{invalid_argument} that quotes the text and says what is legal.
[[nodiscard]] TMAJIT_API ArgumentValue parse_argument(const Argument& argument, std::string_view text,
                                                      std::string_view subject);
/// The value as text that parse_argument() reads.
[[nodiscard]] TMAJIT_API std::string text_of(const ArgumentValue& value);

/// "128x64" or "128,64", outermost first: numbers from 0 to 2^63 - 1. Throws Error{invalid_argument}.
[[nodiscard]] TMAJIT_API Dims parse_extents(std::string_view text, std::string_view subject);
/// Like parse_extents(), but numbers may be negative: "4096,-1". Throws Error{invalid_argument}.
[[nodiscard]] TMAJIT_API Dims parse_numbers(std::string_view text, std::string_view subject);
/// Extents of any number of parts: "100,37,5". Throws Error{invalid_argument}.
[[nodiscard]] TMAJIT_API std::vector<std::int64_t> parse_parts(std::string_view text,
                                                               std::string_view subject);
/// The dimensions that `axes` names, counted from the front. Throws Error{invalid_argument} for a dimension
/// that is out of range or named twice.
[[nodiscard]] TMAJIT_API std::vector<std::uint32_t> resolve_axes(const Dims& axes, std::uint32_t rank,
                                                                 std::string_view subject);

TMAJIT_END
