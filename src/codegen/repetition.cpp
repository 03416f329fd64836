#include "codegen/repetition.hpp"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <optional>
#include <stdexcept>

#include <spdlog/fmt/fmt.h>

TMAJIT_BEGIN
namespace {

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

std::string_view without_spaces(std::string_view text) {
  while (text.starts_with(' ')) text.remove_prefix(1);
  while (text.ends_with(' ')) text.remove_suffix(1);
  return text;
}

/// Evaluates whole numbers with + - * / between them, from left to right; nullopt if a name occurs.
std::optional<std::int64_t> computed(std::string_view text) {
  std::int64_t value = 0;
  char operation = '+';
  for (std::string_view rest = without_spaces(text);; rest = without_spaces(rest)) {
    if (!rest.empty() && is_name_character(rest.front()) && !is_digit(rest.front())) return std::nullopt;
    std::int64_t number = 0;
    const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), number);
    if (error != std::errc{} || (operation == '/' && number == 0))
      throw std::invalid_argument(fmt::format("\"{}\" is no sum of whole numbers and names", text));
    value = operation == '+'   ? value + number
            : operation == '-' ? value - number
            : operation == '*' ? value * number
                               : value / number;
    rest = without_spaces(rest.substr(static_cast<std::size_t>(end - rest.data())));
    if (rest.empty()) return value;
    operation = rest.front();
    if (std::string_view("+-*/").find(operation) == std::string_view::npos)
      throw std::invalid_argument(fmt::format("\"{}\" is no sum of whole numbers and names", text));
    rest.remove_prefix(1);
  }
}

/// The position of the bracket that closes the one `text` begins with.
std::size_t closing(std::string_view text) {
  const char open = text.front();
  const char close = open == '(' ? ')' : ']';
  int depth = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    depth += text[i] == open ? 1 : text[i] == close ? -1 : 0;
    if (depth == 0) return i;
  }
  throw std::invalid_argument(fmt::format("\"${}\" has no \"{}\"", text.substr(0, text.find('\n')), close));
}

std::string with_dollar_value(std::string_view text, std::string_view name, std::string_view value);

/// Returns the replacement of `$(inside)`.
std::string number(std::string_view inside, std::string_view name, std::string_view value) {
  const std::string sum = with_value(inside, name, value);
  const auto result = computed(sum);
  return result ? fmt::format("{}", *result) : fmt::format("$({})", sum);
}

/// Returns the replacement of `$[inside]`.
std::string list(std::string_view inside, std::string_view name, std::string_view value) {
  const std::size_t less = inside.find('<');
  const std::size_t colon = inside.find(':');
  if (less == std::string_view::npos || colon == std::string_view::npos || colon < less)
    throw std::invalid_argument(fmt::format("\"$[{}]\" is not $[name < count: text]", inside));
  const std::string_view index = without_spaces(inside.substr(0, less));
  const std::string count = with_value(inside.substr(less + 1, colon - less - 1), name, value);
  const std::string body = with_dollar_value(without_spaces(inside.substr(colon + 1)), name, value);
  const auto times = computed(count);
  if (!times) return fmt::format("$[{} < {}: {}]", index, without_spaces(count), body);
  std::string out;
  for (std::int64_t i = 0; i < *times; ++i) {
    if (i > 0) out += ", ";
    out += with_dollar_value(body, index, fmt::format("{}", i));
  }
  return out;
}

/// Replaces every `$name` by `value`, then every form whose names all have values.
std::string with_dollar_value(std::string_view text, std::string_view name, std::string_view value) {
  std::string out;
  while (true) {
    const std::size_t dollar = text.find('$');
    out += text.substr(0, dollar);
    if (dollar == std::string_view::npos) return out;
    text.remove_prefix(dollar + 1);
    if (text.starts_with('(') || text.starts_with('[')) {
      const std::size_t end = closing(text);
      const std::string_view inside = text.substr(1, end - 1);
      out += text.front() == '(' ? number(inside, name, value) : list(inside, name, value);
      text.remove_prefix(end + 1);
    } else if (text.starts_with('_') && text.substr(1).starts_with(name)) {
      std::string word(value);
      std::ranges::replace(word, '.', '_');
      out += word;
      text.remove_prefix(1 + name.size());
    } else if (text.starts_with(name)) {
      // "$rankd" is $rank and a d: letters may follow a value in an instruction's name.
      out += value;
      text.remove_prefix(name.size());
    } else {
      out += '$';
    }
  }
}

/// Whether a `$` form of the text contains the name.
bool uses(std::string_view text, std::string_view name) {
  constexpr std::string_view no_name = "\n";
  return with_dollar_value(text, name, "0") != with_dollar_value(text, no_name, "0");
}

/// Lines up to and including the next blank ones, in three consecutive parts.
struct Paragraph {
  std::string_view comment;  ///< the comments at its beginning
  std::string_view code;
  std::string_view blank;
  [[nodiscard]] std::size_t size() const { return comment.size() + code.size() + blank.size(); }
};

/// The first paragraph of a text of whole lines.
Paragraph first_paragraph(std::string_view text) {
  std::size_t at = 0;
  const auto line = [&] { return text.substr(at, text.find('\n', at) - at); };
  const auto pass_while = [&](auto holds) {
    const std::size_t begin = at;
    while (at < text.size() && holds(line())) at += line().size() + 1;
    return text.substr(begin, at - begin);
  };
  const auto is_comment = [](std::string_view one) {
    return without_spaces(one).starts_with("//") && !without_spaces(one).starts_with("//@");
  };
  Paragraph result;
  result.comment = pass_while(is_comment);
  result.code = pass_while([](std::string_view one) { return !one.empty(); });
  result.blank = pass_while([](std::string_view one) { return one.empty(); });
  return result;
}

}  // namespace

bool is_name_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || is_digit(c) || c == '_';
}

std::string with_value(std::string_view text, std::string_view name, std::string_view value) {
  std::string out;
  while (!text.empty()) {
    const auto end = std::ranges::find_if(text, is_name_character, {}) - text.begin();
    out += text.substr(0, static_cast<std::size_t>(end));
    text.remove_prefix(static_cast<std::size_t>(end));
    const auto length = std::ranges::find_if_not(text, is_name_character, {}) - text.begin();
    const std::string_view found = text.substr(0, static_cast<std::size_t>(length));
    out += found == name ? value : found;
    text.remove_prefix(found.size());
  }
  return out;
}

std::string repeated(std::string_view text, std::string_view name, const std::vector<std::string>& values) {
  std::string out;
  while (!text.empty() && !values.empty()) {
    const Paragraph paragraph = first_paragraph(text);
    text.remove_prefix(paragraph.size());
    if (!uses(paragraph.comment, name) && !uses(paragraph.code, name)) {
      out.append(paragraph.comment).append(paragraph.code).append(paragraph.blank);
      continue;
    }
    const bool own_comments = uses(paragraph.comment, name);
    for (const std::string& value : values) {
      if (own_comments || &value == &values.front()) out += with_dollar_value(paragraph.comment, name, value);
      out += with_dollar_value(paragraph.code, name, value);
      if (own_comments || &value == &values.back()) out += paragraph.blank;
    }
  }
  return out;
}

bool has_open_repetition(std::string_view text) {
  return text.find('$') != std::string_view::npos;
}

TMAJIT_END
