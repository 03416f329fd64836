#include "parse.hpp"

#include "text.hpp"
#include "usage.hpp"

#include <tmajit/arguments.hpp>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <limits>
#include <system_error>
#include <utility>

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

std::variant<std::int64_t, double> parse_number(const std::string& text) {
  const char* const end = text.data() + text.size();
  std::int64_t whole = 0;
  if (const auto parsed = std::from_chars(text.data(), end, whole);
      parsed.ptr == end && parsed.ec == std::errc())
    return whole;
  double real = 0;
  if (const auto parsed = std::from_chars(text.data(), end, real);
      parsed.ptr == end && parsed.ec == std::errc())
    return real;
  refuse("--number {}: no number of 64 bits; legal are 3, -1.5, 1e-6, inf", text);
}

std::vector<tmajit::ElementType> parse_types(const std::vector<std::string>& texts) {
  std::vector<tmajit::ElementType> types;
  for (const auto& text : texts) {
    for (const auto type : split(text, ',')) types.push_back(tmajit::parse<tmajit::ElementType>(type));
  }
  return types;
}

std::vector<std::string> command_words(std::string_view text) {
  std::vector<std::string> words;
  bool in_word = false;
  char quote = 0;
  for (const char next : text) {
    if (quote == 0 && std::isspace(static_cast<unsigned char>(next)) != 0) {
      in_word = false;
      continue;
    }
    if (!std::exchange(in_word, true)) words.emplace_back();
    if (quote == 0 && (next == '\'' || next == '"')) {
      quote = next;
    } else if (next == quote) {
      quote = 0;
    } else {
      words.back() += next;
    }
  }
  if (quote != 0) refuse("a quote, {}, does not end", quote);
  return words;
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
