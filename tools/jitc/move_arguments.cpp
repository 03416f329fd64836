#include "move_arguments.hpp"

#include "parse.hpp"

#include <tmajit/error.hpp>

#include <algorithm>
#include <charconv>
#include <limits>
#include <optional>

#include <spdlog/fmt/fmt.h>

namespace jitc {
namespace {

using tmajit::Error;
using tmajit::ErrorCode;
using tmajit::Slice;

[[noreturn]] void refuse(const std::string& message) {
  throw Error(ErrorCode::invalid_argument, message);
}

/// What stands between `separator`s, empty parts included.
std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (;;) {
    const auto end = text.find(separator);
    parts.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

Slice parse_slice(std::string_view part, std::string_view text) {
  const auto wrong = [&](std::string_view why) {
    refuse(fmt::format(
        "--slice {}: \"{}\" {}; legal is start:stop or start:stop:step, each of which may be left "
        "out, as in 100:200, :-1, ::2 and :",
        text, part, why));
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
    refuse(fmt::format(
        "--slice {}: the index {} would drop its dimension, but a slice keeps all; {} takes this one "
        "element",
        text, *index,
        *index == -1 || *index == std::numeric_limits<std::int64_t>::max()
            ? fmt::format("{}:", *index)
            : fmt::format("{}:{}", *index, *index + 1)));
  }
  Slice slice{.start = number(numbers[0]), .stop = number(numbers[1])};
  if (numbers.size() == 3) slice.step = number(numbers[2]).value_or(1);
  if (slice.step == 0) wrong("has the step 0");
  return slice;
}

}  // namespace

std::vector<Slice> parse_slices(std::string_view text) {
  std::vector<Slice> slices;
  for (const auto part : split(text, ',')) slices.push_back(parse_slice(part, text));
  if (slices.size() > tmajit::max_view_rank) {
    refuse(
        fmt::format("--slice {}: {} dimensions; the most is {}", text, slices.size(), tmajit::max_view_rank));
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
    refuse(fmt::format(
        "--pad {}: more than one colon; legal is what goes before all dimensions, a colon, and what "
        "goes after them: 1,1:2,2, or 1,1 for the same at both ends",
        text));
  }
  PadWidths widths{.before = parse_strides(ends.front(), "--pad"),
                   .after = parse_strides(ends.back(), "--pad")};
  if (widths.before.size() != widths.after.size()) {
    refuse(fmt::format(
        "--pad {}: {} numbers before the colon and {} after it; legal is one a dimension on both sides", text,
        widths.before.size(), widths.after.size()));
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
      refuse(fmt::format("{} {}: dimension {} is named twice", option, text, axis));
    }
    axes.push_back(static_cast<std::uint32_t>(axis));
  }
  return axes;
}

}  // namespace jitc
