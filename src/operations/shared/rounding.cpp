#include "operations/shared/rounding.hpp"

#include <tmajit/element_type.hpp>

#include <algorithm>
#include <cctype>

TMAJIT_BEGIN
namespace {

bool is_name_character(char c) noexcept {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

/// "x" or "x0" … "x7", the name of a source.
bool is_source(std::string_view name) noexcept {
  return name.starts_with('x') &&
         (name.size() == 1 || (name.size() == 2 && name[1] >= '0' && name[1] <= '7'));
}

/// "as_bf16": the value after a store and a load of that type, which is a conversion.
bool is_conversion(std::string_view name) noexcept {
  return name.starts_with("as_");
}

/// The name that ends before `end`, ignoring spaces; empty if there is none.
std::string_view name_before(std::string_view text, std::size_t end) noexcept {
  while (end > 0 && text[end - 1] == ' ') --end;
  std::size_t first = end;
  while (first > 0 && is_name_character(text[first - 1])) --first;
  return text.substr(first, end - first);
}

}  // namespace

bool rounds_alike(std::string_view expression) noexcept {
  for (std::size_t i = 0; i < expression.size(); ++i) {
    if (expression[i] == '*') return false;
    if (expression[i] != '(') continue;
    const std::string_view called = name_before(expression, i);
    if (!called.empty() && !is_source(called) && !is_conversion(called)) return false;
  }
  return true;
}

bool sums_integers(const Move& move, std::string_view expression) noexcept {
  const auto is_integer = [](const Tensor& tensor) { return !is_float(tensor.view.type); };
  return (expression.empty() || is_source(expression)) && std::ranges::all_of(move.sources, is_integer);
}

TMAJIT_END
