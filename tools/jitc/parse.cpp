#include "parse.hpp"

#include <tmajit/error.hpp>
#include <tmajit/kernel_spec.hpp>

#include <algorithm>
#include <charconv>

#include <spdlog/fmt/fmt.h>

namespace jitc {
namespace {

using tmajit::Error;
using tmajit::ErrorCode;

template <class Number>
std::vector<Number> parse_numbers(std::string_view text, std::string_view option) {
  std::vector<Number> numbers;
  for (const char* at = text.data();;) {
    const char* const end = text.data() + text.size();
    Number number{};
    const auto [last, error] = std::from_chars(at, end, number);
    if (error == std::errc::result_out_of_range) {
      throw Error(ErrorCode::invalid_argument, fmt::format("{} {}: a number is out of range", option, text));
    }
    if (error != std::errc() || (last != end && *last != 'x' && *last != ',')) {
      throw Error(ErrorCode::invalid_argument,
                  fmt::format("{} {}: not a list of whole numbers such as 128x64 or 128,64", option, text));
    }
    numbers.push_back(number);
    if (last == end) break;
    at = last + 1;
  }
  if (numbers.size() > tmajit::max_view_rank) {
    throw Error(ErrorCode::invalid_argument, fmt::format("{} {}: {} dimensions; the most is {}", option, text,
                                                         numbers.size(), tmajit::max_view_rank));
  }
  return numbers;
}

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
bool is_word(char c) {
  return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

}  // namespace

std::vector<std::uint64_t> parse_extents(std::string_view text, std::string_view option) {
  return parse_numbers<std::uint64_t>(text, option);
}

std::vector<std::uint32_t> parse_box(std::string_view text, std::string_view option) {
  return parse_numbers<std::uint32_t>(text, option);
}

std::vector<std::int64_t> parse_strides(std::string_view text, std::string_view option) {
  return parse_numbers<std::int64_t>(text, option);
}

std::vector<tmajit::ElementType> parse_types(const std::vector<std::string>& texts) {
  std::vector<tmajit::ElementType> types;
  for (std::string_view rest : texts) {
    for (;;) {
      const auto comma = rest.find(',');
      types.push_back(tmajit::parse_element_type(rest.substr(0, comma)));
      if (comma == std::string_view::npos) break;
      rest.remove_prefix(comma + 1);
    }
  }
  return types;
}

std::uint32_t inputs_of(std::string_view expression) {
  std::uint32_t inputs = 1;
  for (std::size_t at = 0; at < expression.size();) {
    if (!is_word(expression[at])) {
      ++at;
      continue;
    }
    std::size_t end = at;
    while (end < expression.size() && is_word(expression[end])) ++end;
    const auto word = expression.substr(at, end - at);
    if (word.size() == 2 && word[0] == 'x' && is_digit(word[1])) {
      inputs = std::max(inputs, static_cast<std::uint32_t>(word[1] - '0') + 1);
    }
    at = end;
  }
  return inputs;
}

}  // namespace jitc
