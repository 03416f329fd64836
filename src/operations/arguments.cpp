#include "operations/shared/make.hpp"
#include "spec/counted.hpp"
#include "spec/enum_names.hpp"
#include "spec/suggestion.hpp"
#include "spec/views.hpp"

#include <tmajit/arguments.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <optional>

#include <spdlog/fmt/fmt.h>
#include <spdlog/fmt/ranges.h>

TMAJIT_BEGIN
namespace {

constexpr EnumNames<ArgumentType, 11> type_names{
    "argument type",
    {"number", "count", "text", "choice", "axis", "axes", "extents", "parts", "numbers", "slices", "widths"}};

using Texts = std::vector<std::string_view>;

Texts split_at(std::string_view text, char separator) {
  Texts parts;
  for (std::size_t begin = 0;;) {
    const std::size_t end = text.find(separator, begin);
    parts.push_back(text.substr(begin, end - begin));
    if (end == std::string_view::npos) return parts;
    begin = end + 1;
  }
}

/// Reads whole numbers up to 2^63 - 1 that are separated by commas or by x.
template <class Number>
std::vector<Number> read_numbers(std::string_view text, std::string_view subject) {
  std::vector<Number> numbers;
  const char* const end = text.data() + text.size();
  for (const char* at = text.data();;) {
    Number number{};
    const auto [last, error] = std::from_chars(at, end, number);
    if (error == std::errc::result_out_of_range) refuse("{} {}: a number is out of range", subject, text);
    if (error != std::errc() || (last != end && *last != 'x' && *last != ','))
      refuse("{} {}: not a list of whole numbers such as 128x64 or 128,64", subject, text);
    numbers.push_back(number);
    if (last == end) break;
    at = last + 1;
  }
  for (const Number number : numbers) {
    if (number > static_cast<Number>(std::numeric_limits<std::int64_t>::max()))
      refuse("{} {}: {} is past 2^63 - 1, the largest extent", subject, text, number);
  }
  return numbers;
}

template <class Number>
Dims read_dims(std::string_view text, std::string_view subject) {
  const std::vector<Number> numbers = read_numbers<Number>(text, subject);
  if (numbers.size() > max_view_rank)
    refuse("{} {}: {} numbers; the most is {}", subject, text, numbers.size(), max_view_rank);
  return Dims(numbers);
}

Slice read_slice(std::string_view part, std::string_view text, std::string_view subject) {
  const auto wrong = [&](std::string_view why) {
    refuse(
        fmt::format("{} {}: \"{}\" {}; legal is start:stop or start:stop:step, each of which may be left "
                    "out, as in 100:200, :-1, ::2 and :",
                    subject, text, part, why));
  };
  const Texts numbers = split_at(part, ':');
  if (numbers.size() > 3) wrong("has more than two colons");
  const auto number = [&](std::string_view digits) -> std::optional<std::int64_t> {
    if (digits.empty()) return std::nullopt;
    std::int64_t value = 0;
    const char* const end = digits.data() + digits.size();
    const auto [last, error] = std::from_chars(digits.data(), end, value);
    if (error == std::errc::result_out_of_range) wrong("holds a number that is out of range");
    if (error != std::errc() || last != end) wrong("is no slice");
    return value;
  };
  if (numbers.size() == 1) {
    const std::optional<std::int64_t> index = number(part);
    if (!index) wrong("is empty");
    const bool is_last = *index == -1 || *index == std::numeric_limits<std::int64_t>::max();
    refuse(
        fmt::format("{} {}: the index {} would drop its dimension, but a slice keeps all; {} takes this "
                    "one element",
                    subject, text, *index,
                    is_last ? fmt::format("{}:", *index) : fmt::format("{}:{}", *index, *index + 1)));
  }
  Slice slice{.start = number(numbers[0]), .stop = number(numbers[1])};
  if (numbers.size() == 3) slice.step = number(numbers[2]).value_or(1);
  if (slice.step == 0) wrong("has the step 0");
  return slice;
}

std::vector<Slice> read_slices(std::string_view text, std::string_view subject) {
  std::vector<Slice> slices;
  for (const std::string_view part : split_at(text, ',')) slices.push_back(read_slice(part, text, subject));
  if (slices.size() > max_view_rank) {
    refuse("{} {}: {} dimensions; the most is {}", subject, text, slices.size(), max_view_rank);
  }
  return slices;
}

PadWidths read_widths(std::string_view text, std::string_view subject) {
  const Texts ends = split_at(text, ':');
  if (ends.size() > 2) {
    refuse(
        fmt::format("{} {}: more than one colon; legal are a width before each dimension, a colon, and a "
                    "width after each, such as \"1,1:2,2\"; \"1,1\" is the same at both ends",
                    subject, text));
  }
  const PadWidths widths{.before = parse_numbers(ends.front(), subject),
                         .after = parse_numbers(ends.back(), subject)};
  if (widths.before.size() != widths.after.size()) {
    refuse(
        fmt::format("{} {}: {} numbers before the colon and {} after it; legal is one number for each "
                    "dimension on both sides",
                    subject, text, widths.before.size(), widths.after.size()));
  }
  return widths;
}

double read_number(std::string_view text, std::string_view subject) {
  double value = 0;
  const char* const end = text.data() + text.size();
  const auto [last, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || last != end) refuse("{} {}: not a number such as 0.5", subject, text);
  return value;
}

std::int64_t read_count(std::string_view text, std::string_view subject) {
  std::uint32_t value = 0;
  const char* const end = text.data() + text.size();
  const auto [last, error] = std::from_chars(text.data(), end, value);
  if (error == std::errc() && last == end) return value;
  refuse("{}: \"{}\" is no whole number from 0 to {}", subject, text,
         std::numeric_limits<std::uint32_t>::max());
}

std::string read_choice(const Argument& argument, std::string_view text, std::string_view subject) {
  if (std::ranges::find(argument.choices, text) != argument.choices.end()) return std::string(text);
  refuse("{} {}: there is no such choice; legal are {}{}", subject, text, fmt::join(argument.choices, ", "),
         suggestion(text, argument.choices));
}

std::string slice_text(const Slice& slice) {
  std::string text = slice.start ? fmt::to_string(*slice.start) : std::string();
  text += ':';
  if (slice.stop) text += fmt::to_string(*slice.stop);
  if (slice.step != 1) text += fmt::format(":{}", slice.step);
  return text;
}

template <class T>
const T* typed(const Arguments& arguments, std::string_view name) {
  const ArgumentValue* const value = arguments.find(name);
  if (value == nullptr) return nullptr;
  const T* const found = std::get_if<T>(value);
  if (found == nullptr) refuse("the argument {} is {}, which has another type", name, text_of(*value));
  return found;
}

}  // namespace

std::string_view name(ArgumentType type) noexcept {
  return type_names.of(type);
}
template <>
ArgumentType parse<ArgumentType>(std::string_view text) {
  return type_names.parse(text);
}

Arguments::Arguments(std::initializer_list<std::pair<std::string_view, ArgumentValue>> given) {
  for (const auto& [name, value] : given) set(name, value);
}

void Arguments::set(std::string_view name, ArgumentValue value) {
  const auto found =
      std::ranges::find(given_, name, [](const auto& one) { return std::string_view(one.first); });
  if (found == given_.end()) {
    given_.emplace_back(name, std::move(value));
  } else {
    found->second = std::move(value);
  }
}

const ArgumentValue* Arguments::find(std::string_view name) const noexcept {
  const auto found =
      std::ranges::find(given_, name, [](const auto& one) { return std::string_view(one.first); });
  return found == given_.end() ? nullptr : &found->second;
}

double Arguments::number(std::string_view name, double fallback) const {
  const double* const value = typed<double>(*this, name);
  return value == nullptr ? fallback : *value;
}
std::string_view Arguments::text(std::string_view name, std::string_view fallback) const {
  const std::string* const value = typed<std::string>(*this, name);
  return value == nullptr ? fallback : std::string_view(*value);
}
std::uint32_t Arguments::count(std::string_view name, std::uint32_t fallback) const {
  const std::int64_t* const value = typed<std::int64_t>(*this, name);
  if (value == nullptr) return fallback;
  constexpr std::uint32_t most = std::numeric_limits<std::uint32_t>::max();
  if (*value < 0 || *value > most)
    refuse("the argument {} is {}; legal are whole numbers from 0 to {}", name, *value, most);
  return static_cast<std::uint32_t>(*value);
}
std::int64_t Arguments::axis(std::string_view name, std::int64_t fallback) const {
  const std::int64_t* const value = typed<std::int64_t>(*this, name);
  return value == nullptr ? fallback : *value;
}
Dims Arguments::dims(std::string_view name) const {
  const Dims* const value = typed<Dims>(*this, name);
  return value == nullptr ? Dims() : *value;
}
std::vector<Slice> Arguments::slices(std::string_view name) const {
  const auto* const value = typed<std::vector<Slice>>(*this, name);
  return value == nullptr ? std::vector<Slice>() : *value;
}
PadWidths Arguments::widths(std::string_view name) const {
  const PadWidths* const value = typed<PadWidths>(*this, name);
  return value == nullptr ? PadWidths() : *value;
}
std::vector<std::int64_t> Arguments::parts(std::string_view name) const {
  const auto* const value = typed<std::vector<std::int64_t>>(*this, name);
  return value == nullptr ? std::vector<std::int64_t>() : *value;
}

Dims parse_extents(std::string_view text, std::string_view subject) {
  return read_dims<std::uint64_t>(text, subject);
}

Dims parse_numbers(std::string_view text, std::string_view subject) {
  return read_dims<std::int64_t>(text, subject);
}

std::vector<std::int64_t> parse_parts(std::string_view text, std::string_view subject) {
  const std::vector<std::uint64_t> numbers = read_numbers<std::uint64_t>(text, subject);
  return {numbers.begin(), numbers.end()};
}

ArgumentValue parse_argument(const Argument& argument, std::string_view text, std::string_view subject) {
  switch (argument.type) {
    case ArgumentType::number: return read_number(text, subject);
    case ArgumentType::count: return read_count(text, subject);
    case ArgumentType::text: return std::string(text);
    case ArgumentType::choice: return read_choice(argument, text, subject);
    case ArgumentType::axis: {
      const Dims numbers = parse_numbers(text, subject);
      if (numbers.size() != 1) refuse("{} {}: {} dimensions; legal is one", subject, text, numbers.size());
      return numbers[0];
    }
    case ArgumentType::extents: return parse_extents(text, subject);
    case ArgumentType::parts: return parse_parts(text, subject);
    case ArgumentType::axes:
    case ArgumentType::numbers: return parse_numbers(text, subject);
    case ArgumentType::slices: return read_slices(text, subject);
    case ArgumentType::widths: return read_widths(text, subject);
  }
  refuse("{}: an argument of unknown type", subject);
}

std::string text_of(const ArgumentValue& value) {
  struct Writer {
    std::string operator()(double number) const { return fmt::to_string(number); }
    std::string operator()(const std::string& text) const { return text; }
    std::string operator()(std::int64_t axis) const { return fmt::to_string(axis); }
    std::string operator()(const Dims& numbers) const { return fmt::to_string(fmt::join(numbers, ",")); }
    std::string operator()(const std::vector<std::int64_t>& parts) const {
      return fmt::to_string(fmt::join(parts, ","));
    }
    std::string operator()(const std::vector<Slice>& slices) const {
      std::vector<std::string> parts;
      parts.reserve(slices.size());
      for (const Slice& slice : slices) parts.push_back(slice_text(slice));
      return fmt::to_string(fmt::join(parts, ","));
    }
    std::string operator()(const PadWidths& widths) const {
      return fmt::format("{}:{}", fmt::join(widths.before, ","), fmt::join(widths.after, ","));
    }
  };
  return std::visit(Writer(), value);
}

std::vector<std::uint32_t> resolve_axes(const Dims& axes, std::uint32_t rank, std::string_view subject) {
  std::vector<std::uint32_t> resolved;
  const std::string text = text_of(axes);
  for (const std::int64_t given : axes) {
    const std::optional<std::uint32_t> axis = dimension_of(given, rank);
    if (!axis) {
      refuse(rank == 0 ? fmt::format("{} {}: a scalar has no dimension {}", subject, text, given)
                       : fmt::format("{} {}: there is no dimension {} in a tensor of {}; legal: {}", subject,
                                     text, given, counted(rank, "dimension"), legal_axes(rank)));
    }
    if (std::ranges::find(resolved, *axis) != resolved.end())
      refuse("{} {}: dimension {} is named twice", subject, text, *axis);
    resolved.push_back(*axis);
  }
  return resolved;
}

TMAJIT_END
