#include "families/shared/lines_met.hpp"

#include "spec/saturate.hpp"

#include <tmajit/bank_conflicts.hpp>

#include <algorithm>
#include <array>

TMAJIT_BEGIN

double lines_met(const Problem& problem, std::uint32_t operand, std::span<const std::uint32_t> dimensions,
                 std::uint32_t step, std::uint64_t count) {
  constexpr std::int64_t line = memory_line_bytes;
  std::array<std::int64_t, warp_lanes> lines{};
  std::array<std::uint64_t, max_view_rank> index{};
  const auto lanes = static_cast<std::uint32_t>(
      std::clamp<std::uint64_t>(ceil_div(count, std::uint64_t{step}), 1, warp_lanes));
  std::uint32_t found = 0;
  std::int64_t at = 0;
  for (std::uint32_t n = 0; n < lanes; ++n) {
    const std::int64_t number = at >= 0 ? at / line : (at + 1) / line - 1;
    const bool repeated = found > 0 && lines[found - 1] == number;
    if (!repeated && std::find(lines.begin(), lines.begin() + found, number) == lines.begin() + found)
      lines[found++] = number;
    std::uint64_t carry = step;
    for (std::size_t k = 0; k < dimensions.size() && carry > 0; ++k) {
      const std::uint64_t extent = problem.nest.shape[dimensions[k]];
      const std::uint64_t old = index[k];
      index[k] += carry;
      carry = 0;
      for (; index[k] >= extent; index[k] -= extent) ++carry;
      at += (static_cast<std::int64_t>(index[k]) - static_cast<std::int64_t>(old)) *
            problem.step(operand, dimensions[k]);
    }
  }
  return static_cast<double>(found) * warp_lanes / lanes;
}

double lines_along(const Problem& problem, std::uint32_t operand, std::uint32_t step) {
  std::array<std::uint32_t, max_view_rank> order{};  // dimensions from the last to the first
  for (std::uint32_t d = 0; d < problem.nest.rank; ++d) order[d] = problem.nest.rank - 1 - d;
  return lines_met(problem, operand, std::span(order).first(problem.nest.rank), step,
                   problem.nest.elements());
}

TMAJIT_END
