#include "parse.hpp"

#include "text.hpp"
#include "usage.hpp"

#include <algorithm>
#include <charconv>
#include <limits>
#include <optional>

#include <spdlog/fmt/fmt.h>

namespace jitc {
namespace {

using tmajit::Slice;

template <class Number>
std::vector<Number> parse_numbers(std::string_view text, std::string_view option) {
  std::vector<Number> numbers;
  for (const char* at = text.data();;) {
    const char* const end = text.data() + text.size();
    Number number{};
    const auto [last, error] = std::from_chars(at, end, number);
    if (error == std::errc::result_out_of_range) {
      refuse("{} {}: a number is out of range", option, text);
    }
    if (error != std::errc() || (last != end && *last != 'x' && *last != ',')) {
      refuse("{} {}: not a list of whole numbers such as 128x64 or 128,64", option, text);
    }
    numbers.push_back(number);
    if (last == end) break;
    at = last + 1;
  }
  if (numbers.size() > tmajit::max_view_rank) {
    refuse("{} {}: {} dimensions; the most is {}", option, text, numbers.size(), tmajit::max_view_rank);
  }
  return numbers;
}

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
bool is_word(char c) {
  return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

/// Identifiers and numbers, in order.
std::vector<std::string_view> words_of(std::string_view expression) {
  std::vector<std::string_view> words;
  for (std::size_t at = 0; at < expression.size();) {
    std::size_t end = at;
    while (end < expression.size() && is_word(expression[end])) ++end;
    if (end != at) words.push_back(expression.substr(at, end - at));
    at = std::max(end, at + 1);
  }
  return words;
}

Slice parse_slice(std::string_view part, std::string_view text) {
  const auto wrong = [&](std::string_view why) {
    refuse(
        "--slice {}: \"{}\" {}; legal is start:stop or start:stop:step, each of which may be left "
        "out, as in 100:200, :-1, ::2 and :",
        text, part, why);
  };
  const auto numbers = split(part, ':');
  if (numbers.size() > 3) wrong("has more than two colons");
  const auto number = [&](std::string_view digits) -> std::optional<std::int64_t> {
    if (digits.empty()) return std::nullopt;
    std::int64_t value = 0;
    const auto* const end = digits.data() + digits.size();
    const auto [last, error] = std::from_chars(digits.data(), end, value);
    if (error == std::errc::result_out_of_range) wrong("holds a number that is out of range");
    if (error != std::errc() || last != end) wrong("is no slice");
    return value;
  };
  if (numbers.size() == 1) {
    const auto index = number(part);
    if (!index) wrong("is empty");
    refuse(
        "--slice {}: the index {} would drop its dimension, but a slice keeps all; {} takes this one "
        "element",
        text, *index,
        *index == -1 || *index == std::numeric_limits<std::int64_t>::max()
            ? fmt::format("{}:", *index)
            : fmt::format("{}:{}", *index, *index + 1));
  }
  Slice slice{.start = number(numbers[0]), .stop = number(numbers[1])};
  if (numbers.size() == 3) slice.step = number(numbers[2]).value_or(1);
  if (slice.step == 0) wrong("has the step 0");
  return slice;
}

}  // namespace

std::vector<std::uint64_t> parse_extents(std::string_view text, std::string_view option) {
  auto extents = parse_numbers<std::uint64_t>(text, option);
  for (const std::uint64_t extent : extents) {
    if (extent > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) {
      refuse("{} {}: {} is past 2^63 - 1, the largest extent", option, text, extent);
    }
  }
  return extents;
}

std::vector<std::uint32_t> parse_box(std::string_view text, std::string_view option) {
  return parse_numbers<std::uint32_t>(text, option);
}

std::vector<std::int64_t> parse_strides(std::string_view text, std::string_view option) {
  return parse_numbers<std::int64_t>(text, option);
}

std::vector<tmajit::ElementType> parse_types(const std::vector<std::string>& texts) {
  std::vector<tmajit::ElementType> types;
  for (const auto& text : texts) {
    for (const auto type : split(text, ',')) types.push_back(tmajit::parse_element_type(type));
  }
  return types;
}

std::uint32_t inputs_of(std::string_view expression) {
  std::uint32_t inputs = 0;
  for (const auto word : words_of(expression)) {
    if (word == "x") inputs = std::max(inputs, 1U);
    if (word.size() == 2 && word[0] == 'x' && is_digit(word[1])) {
      inputs = std::max(inputs, static_cast<std::uint32_t>(word[1] - '0') + 1);
    }
  }
  return inputs;
}

bool reads(std::string_view expression, std::string_view name) {
  const auto words = words_of(expression);
  return std::find(words.begin(), words.end(), name) != words.end();
}

std::vector<Slice> parse_slices(std::string_view text) {
  std::vector<Slice> slices;
  for (const auto part : split(text, ',')) slices.push_back(parse_slice(part, text));
  if (slices.size() > tmajit::max_view_rank) {
    refuse("--slice {}: {} dimensions; the most is {}", text, slices.size(), tmajit::max_view_rank);
  }
  return slices;
}

std::string format(std::span<const Slice> slices) {
  std::vector<std::string> parts;
  for (const auto& slice : slices) {
    auto& part = parts.emplace_back();
    if (slice.start) part += fmt::to_string(*slice.start);
    part += ':';
    if (slice.stop) part += fmt::to_string(*slice.stop);
    if (slice.step != 1) part += fmt::format(":{}", slice.step);
  }
  return fmt::to_string(fmt::join(parts, ","));
}

PadWidths parse_padding(std::string_view text) {
  const auto ends = split(text, ':');
  if (ends.size() > 2) {
    refuse(
        "--pad {}: more than one colon; legal is what goes before all dimensions, a colon, and what "
        "goes after them: 1,1:2,2, or 1,1 for the same at both ends",
        text);
  }
  PadWidths widths{.before = parse_strides(ends.front(), "--pad"),
                   .after = parse_strides(ends.back(), "--pad")};
  if (widths.before.size() != widths.after.size()) {
    refuse("--pad {}: {} numbers before the colon and {} after it; legal is one a dimension on both sides",
           text, widths.before.size(), widths.after.size());
  }
  return widths;
}

std::string format(const PadWidths& widths) {
  return fmt::format("{}:{}", fmt::join(widths.before, ","), fmt::join(widths.after, ","));
}

std::vector<std::uint32_t> parse_axes(std::string_view text, std::uint32_t rank, std::string_view option) {
  std::vector<std::uint32_t> axes;
  for (const auto given : parse_strides(text, option)) {
    const auto axis = given < 0 ? given + static_cast<std::int64_t>(rank) : given;
    if (axis < 0 || axis >= static_cast<std::int64_t>(rank)) {
      refuse(rank == 0
                 ? fmt::format("{} {}: a scalar has no dimension {}", option, text, given)
                 : fmt::format(
                       "{} {}: there is no dimension {} in a tensor of {}; legal are 0 to {}, and -{} to "
                       "-1 from the end",
                       option, text, given, rank, rank - 1, rank));
    }
    if (std::find(axes.begin(), axes.end(), static_cast<std::uint32_t>(axis)) != axes.end()) {
      refuse("{} {}: dimension {} is named twice", option, text, axis);
    }
    axes.push_back(static_cast<std::uint32_t>(axis));
  }
  return axes;
}

}  // namespace jitc
