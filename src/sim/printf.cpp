#include "sim/printf.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdio>

TMAJIT_BEGIN
namespace sim {
namespace {

/// More than any width or precision that a kernel has use for.
constexpr int most_width = 1000;

/// One conversion, "%-8.3lld" taken apart.
struct Conversion {
  std::string flags;
  int width = -1;
  int precision = -1;
  bool wide = false;  ///< ll, or l, or one of the sizes that are 64 bits
  char kind = 0;
  std::size_t length = 0;
};

int take_number(std::string_view text, std::size_t& at, const PrintSource& source) {
  if (at < text.size() && text[at] == '*') {
    ++at;
    return std::clamp(static_cast<int>(static_cast<std::int32_t>(source.next(4))), 0, most_width);
  }
  int value = 0;
  for (; at < text.size() && text[at] >= '0' && text[at] <= '9'; ++at)
    value = std::min(10 * value + (text[at] - '0'), most_width);
  return value;
}

/// `text` begins with '%'.
Conversion parse(std::string_view text, const PrintSource& source) {
  Conversion c;
  std::size_t at = 1;
  for (; at < text.size() && std::string_view("-+ #0").find(text[at]) != std::string_view::npos; ++at) {
    if (c.flags.find(text[at]) == std::string::npos) c.flags += text[at];
  }
  if (at < text.size() && (text[at] == '*' || (text[at] >= '1' && text[at] <= '9')))
    c.width = take_number(text, at, source);
  if (at < text.size() && text[at] == '.') {
    ++at;
    c.precision = take_number(text, at, source);
  }
  for (; at < text.size() && std::string_view("hljztL").find(text[at]) != std::string_view::npos; ++at)
    c.wide = c.wide || (text[at] != 'h' && text[at] != 'L');
  if (at < text.size()) c.kind = text[at++];
  c.length = at;
  return c;
}

template <typename T>
std::string print_one(const Conversion& c, const char* size, char kind, T value) {
  std::string format = "%" + c.flags;
  if (c.width >= 0) format += std::to_string(c.width);
  if (c.precision >= 0) {
    format += '.';
    format += std::to_string(c.precision);
  }
  format += size;
  format += kind;
  std::array<char, 2 * most_width + 400> buffer{};  // the longest double has 309 digits before its point
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"  // made above, of parts that were checked
  const int length = std::snprintf(buffer.data(), buffer.size(), format.c_str(), value);
#pragma GCC diagnostic pop
  return {buffer.data(),
          std::min<std::size_t>(static_cast<std::size_t>(std::max(length, 0)), buffer.size() - 1)};
}

}  // namespace

std::string format_print(std::string_view format, const PrintSource& source) {
  std::string result;
  while (!format.empty()) {
    const std::size_t percent = format.find('%');
    result += format.substr(0, percent);
    if (percent == std::string_view::npos) break;
    format.remove_prefix(percent);
    const Conversion c = parse(format, source);
    switch (c.kind) {
      case 'd':
      case 'i': {
        const auto bits = source.next(c.wide ? 8 : 4);
        result += print_one(
            c, "ll", c.kind,
            c.wide ? static_cast<long long>(bits) : static_cast<long long>(static_cast<std::int32_t>(bits)));
        break;
      }
      case 'u':
      case 'o':
      case 'x':
      case 'X':
        result += print_one(c, "ll", c.kind, static_cast<unsigned long long>(source.next(c.wide ? 8 : 4)));
        break;
      case 'c': result += print_one(c, "", c.kind, static_cast<int>(source.next(4) & 0xff)); break;
      case 'e':
      case 'E':
      case 'f':
      case 'F':
      case 'g':
      case 'G':
      case 'a':
      case 'A': result += print_one(c, "", c.kind, std::bit_cast<double>(source.next(8))); break;
      case 's': result += print_one(c, "", c.kind, source.text(source.next(8)).c_str()); break;
      case 'p':
        result += print_one(Conversion{.flags = "#", .width = c.width}, "ll", 'x',
                            static_cast<unsigned long long>(source.next(8)));
        break;
      case '%': result += '%'; break;
      default: result += format.substr(0, c.length);
    }
    format.remove_prefix(c.length);
  }
  return result;
}

}  // namespace sim
TMAJIT_END
