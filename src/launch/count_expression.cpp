#include "launch/count_expression.hpp"

#include "report/text.hpp"
#include "spec/refuse.hpp"
#include "spec/suggestion.hpp"

#include <algorithm>
#include <cctype>
#include <optional>
#include <vector>

#include <spdlog/fmt/fmt.h>
#include <spdlog/fmt/ranges.h>

TMAJIT_BEGIN
namespace {

bool is_word(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

/// A recursive-descent parser that evaluates as it parses.
class Reader {
 public:
  Reader(std::string_view text, const Counts& counts) : rest_(text), counts_(counts) {}

  std::int64_t read() {
    const std::int64_t value = expression();
    if (!rest_.empty()) fail("'{}' is not expected", rest_.front());
    return value;
  }

 private:
  template <class... Values>
  [[noreturn]] void fail(fmt::format_string<Values...> message, Values&&... values) const {
    refuse(fmt::format(message, std::forward<Values>(values)...));
  }
  void skip_spaces() {
    while (!rest_.empty() && rest_.front() == ' ') rest_.remove_prefix(1);
  }
  bool take(char c) {
    skip_spaces();
    if (!rest_.starts_with(c)) return false;
    rest_.remove_prefix(1);
    skip_spaces();
    return true;
  }
  void need(char c) {
    if (!take(c)) fail("'{}' is missing", c);
  }

  /// The quotient, or the remainder if `wants_remainder`.
  [[nodiscard]] std::int64_t divide(std::int64_t a, std::int64_t b, bool wants_remainder) const {
    if (b == 0) fail("a division by 0");
    if (b == -1) return wants_remainder ? 0 : apply('-', 0, a);
    return wants_remainder ? a % b : a / b;
  }

  [[nodiscard]] std::int64_t apply(char operation, std::int64_t a, std::int64_t b) const {
    std::int64_t result = 0;
    bool overflows = false;
    switch (operation) {
      case '+': overflows = __builtin_add_overflow(a, b, &result); break;
      case '-': overflows = __builtin_sub_overflow(a, b, &result); break;
      case '*': overflows = __builtin_mul_overflow(a, b, &result); break;
      default: return divide(a, b, operation == '%');
    }
    if (overflows) fail("a number does not fit 64 bits");
    return result;
  }

  /// Parses operations whose precedence is at least `least`: 1 for sums, 2 for products.
  std::int64_t expression(int least = 1) {
    std::int64_t value = unary();
    for (;;) {
      skip_spaces();
      const char operation = rest_.empty() ? '\0' : rest_.front();
      const int precedence = operation == '+' || operation == '-'                       ? 1
                             : operation == '*' || operation == '/' || operation == '%' ? 2
                                                                                        : 0;
      if (precedence < least) return value;
      rest_.remove_prefix(1);
      value = apply(operation, value, expression(precedence + 1));
    }
  }
  std::int64_t unary() {
    constexpr int max_depth = 100;
    if (depth_ == max_depth) fail("it is nested too deeply");
    ++depth_;
    const std::int64_t value = take('-') ? apply('-', 0, unary()) : primary();
    --depth_;
    return value;
  }
  std::int64_t primary() {
    if (take('(')) {
      const std::int64_t value = expression();
      need(')');
      return value;
    }
    skip_spaces();
    const auto end = std::ranges::find_if_not(rest_, is_word);
    const std::string_view word = rest_.substr(0, static_cast<std::size_t>(end - rest_.begin()));
    if (word.empty()) fail("a number or a name is missing");
    rest_.remove_prefix(word.size());
    skip_spaces();
    if (std::isdigit(static_cast<unsigned char>(word[0])) != 0) {
      if (const auto value = parse_number<std::int64_t>(word)) return *value;
      fail("{} is no whole number", word);
    }
    return take('(') ? call(word) : named(word);
  }
  std::int64_t named(std::string_view name) const {
    if (const auto found = counts_.find(name); found != counts_.end()) return found->second;
    std::vector<std::string_view> names;
    for (const auto& [known, value] : counts_) names.push_back(known);
    if (names.empty()) fail("{} is not a constant; the launch has none", name);
    fail("{} is not a constant; legal are {}{}", name, fmt::join(names, ", "), suggestion(name, names));
  }
  std::int64_t call(std::string_view function) {
    const std::int64_t a = expression();
    need(',');
    const std::int64_t b = expression();
    need(')');
    if (function == "min") return std::min(a, b);
    if (function == "max") return std::max(a, b);
    if (function != "ceil_div") fail("{} is not a function; legal are ceil_div, min and max", function);
    const std::int64_t quotient = divide(a, b, false);
    return divide(a, b, true) != 0 && (a < 0) == (b < 0) ? apply('+', quotient, 1) : quotient;
  }

  std::string_view rest_;
  const Counts& counts_;
  int depth_ = 0;
};

}  // namespace

std::int64_t evaluate_count(std::string_view text, const Counts& counts) {
  return Reader(text, counts).read();
}

TMAJIT_END
