#include "operations/drawing/draw_expression.hpp"

#include <array>
#include <string>

namespace reference {
namespace {

/// An expression that reads coordinates alone and computes in integers.
std::string fill_expression(TestCaseDraw& draw, std::size_t rank) {
  std::string text = std::to_string(between(draw.kernel_property_random, 0, 9)) + " - 4";
  for (std::size_t d = 0; d < rank; ++d) {
    const std::uint64_t factor = between(draw.kernel_property_random, 0, 6);
    if (factor > 0)
      text += " + (" + std::to_string(static_cast<std::int64_t>(factor) - 3) + ") * int(g[" +
              std::to_string(d) + "])";
  }
  return text;
}

}  // namespace

std::string draw_expression(TestCaseDraw& draw, std::uint64_t sources, std::size_t rank) {
  if (sources == 0) return fill_expression(draw, rank);
  if (sources == 1) {
    constexpr std::array texts{
        "x", "x0 + 1", "(float)x * 0.5f", "x == x ? x : 1", "x > 7 ? 1.5f : -2.0f", "sqrtf((float)x)"};
    const std::uint64_t chosen = between(draw.kernel_property_random, 0, rank == 0 ? 5 : 6);
    if (chosen < texts.size()) return texts.at(chosen);
    return "x + (unsigned)g[" + std::to_string(between(draw.kernel_property_random, 0, rank - 1)) + "]";
  }
  if (sources == 2 && one_in(draw.kernel_property_random, 2)) return "x0 > x1 ? x0 : x1";
  std::string text = "x0";
  for (std::uint64_t i = 1; i < sources; ++i) text += " + x" + std::to_string(i);
  return text;
}

}  // namespace reference
