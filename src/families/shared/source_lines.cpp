#include "families/shared/source_lines.hpp"

#include <bit>
#include <cstdlib>

TMAJIT_BEGIN
namespace {

constexpr std::uint32_t unit = 16;           // bytes that are loaded at once
constexpr std::uint64_t most_line_gap = 32;  // bytes that a line skips rather than end

}  // namespace

bool takes_lines(const Problem& problem) noexcept {
  const CanonicalNest& nest = problem.nest;
  if (nest.rank < 2 || problem.sources() != 1 || !problem.reads_bits()) return false;
  if (problem.interleaved[1]) return false;  // lines hold what lies between the elements, too
  return problem.element_bytes(0) < unit && nest.operand[0].strides[nest.rank - 1] == 1;
}

bool joins_line(const Problem& problem, std::uint32_t d, std::uint64_t box, std::uint64_t span) noexcept {
  const std::int64_t stride = problem.nest.operand[1].strides[d];
  if (stride == 0 || (stride < 0 && box < problem.nest.shape[d])) return false;
  const auto distance = static_cast<std::uint64_t>(std::abs(stride));
  return distance <= span || (distance - span) * problem.element_bytes(1) <= most_line_gap;
}

std::uint32_t line_alignment(const Problem& problem, const PerDimension& box, const PerDimension& order,
                             std::uint32_t dimensions) noexcept {
  const CanonicalNest& nest = problem.nest;
  std::uint64_t bits = unit | problem.address[1];
  for (std::uint32_t k = 0; k < nest.rank; ++k) {
    const std::uint32_t d = order[k];
    const std::int64_t stride = nest.operand[1].strides[d];
    auto step = static_cast<std::uint64_t>(problem.step(1, d));
    if (k >= nest.rank - dimensions) {
      // Tiles begin so far apart; a line that runs backwards, taken whole, begins with its last.
      step *= box[d] < nest.shape[d] ? box[d] : stride < 0 ? nest.shape[d] - 1 : 0;
    }
    bits |= step;
  }
  return 1U << std::countr_zero(bits);
}

TMAJIT_END
