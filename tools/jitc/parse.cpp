#include "parse.hpp"

#include "text.hpp"
#include "usage.hpp"

#include <tmajit/arguments.hpp>

#include <algorithm>
#include <limits>

#include <spdlog/fmt/fmt.h>

namespace jitc {
namespace {

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

}  // namespace

std::vector<std::uint64_t> parse_extents(std::string_view text, std::string_view option) {
  const tmajit::Dims extents = tmajit::parse_extents(text, option);
  return {extents.begin(), extents.end()};
}

std::vector<std::uint64_t> parse_parts(std::string_view text, std::string_view option) {
  std::vector<std::uint64_t> parts;
  for (const std::string_view item : split(text, ',')) {
    // For an empty item, parse_extents() refuses the whole list.
    for (const std::uint64_t part : parse_extents(item.empty() ? text : item, option)) parts.push_back(part);
  }
  return parts;
}

std::vector<std::uint32_t> parse_box(std::string_view text, std::string_view option) {
  const tmajit::Dims extents = tmajit::parse_extents(text, option);
  for (const std::int64_t extent : extents) {
    if (extent > std::numeric_limits<std::uint32_t>::max())
      refuse("{} {}: a number is out of range", option, text);
  }
  return {extents.begin(), extents.end()};
}

std::vector<std::int64_t> parse_strides(std::string_view text, std::string_view option) {
  const tmajit::Dims strides = tmajit::parse_numbers(text, option);
  return {strides.begin(), strides.end()};
}

std::vector<tmajit::ElementType> parse_types(const std::vector<std::string>& texts) {
  std::vector<tmajit::ElementType> types;
  for (const auto& text : texts) {
    for (const auto type : split(text, ',')) types.push_back(tmajit::parse<tmajit::ElementType>(type));
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

}  // namespace jitc
