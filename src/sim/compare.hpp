#pragma once

/// The comparisons of setp and set (PTX ISA 9.7.6).
#include <tmajit/version.hpp>

#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>

TMAJIT_BEGIN
namespace sim {

enum class Compare : std::uint8_t { eq, ne, lt, le, gt, ge, equ, neu, ltu, leu, gtu, geu, num, nan };

template <typename T>
[[nodiscard]] constexpr bool holds(Compare compare, T a, T b) {
  const bool unordered = a != a || b != b;
  switch (compare) {
    case Compare::eq: return a == b;
    case Compare::ne: return a != b && !unordered;
    case Compare::lt: return a < b;
    case Compare::le: return a <= b;
    case Compare::gt: return a > b;
    case Compare::ge: return a >= b;
    case Compare::equ: return a == b || unordered;
    case Compare::neu: return a != b;
    case Compare::ltu: return a < b || unordered;
    case Compare::leu: return a <= b || unordered;
    case Compare::gtu: return a > b || unordered;
    case Compare::geu: return a >= b || unordered;
    case Compare::num: return !unordered;
    case Compare::nan: return unordered;
  }
  return false;
}

[[nodiscard]] inline std::optional<Compare> parse_compare(std::string_view word) {
  constexpr std::pair<std::string_view, Compare> names[] = {
      {"eq", Compare::eq},   {"ne", Compare::ne},   {"lt", Compare::lt},   {"le", Compare::le},
      {"gt", Compare::gt},   {"ge", Compare::ge},   {"lo", Compare::lt},   {"ls", Compare::le},
      {"hi", Compare::gt},   {"hs", Compare::ge},   {"equ", Compare::equ}, {"neu", Compare::neu},
      {"ltu", Compare::ltu}, {"leu", Compare::leu}, {"gtu", Compare::gtu}, {"geu", Compare::geu},
      {"num", Compare::num}, {"nan", Compare::nan}};
  for (const auto& [name, compare] : names) {
    if (name == word) return compare;
  }
  return std::nullopt;
}

}  // namespace sim
TMAJIT_END
