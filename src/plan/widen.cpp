#include "plan/widen.hpp"

#include "plan/move_kernel.hpp"

#include <bit>

TMAJIT_BEGIN
namespace {

constexpr std::uint64_t widest = 16;

/// Elements of the last dimension, if they make one wider element in both views; else 1.
std::uint32_t joinable(const MoveProblem& problem) {
  const CanonicalNest& nest = problem.nest;
  if (nest.rank < 3 || nest.windowed || !problem.expression.empty()) return 1;
  const std::uint32_t last = nest.rank - 1;
  const std::uint64_t size = problem.element_bytes(0);
  if (nest.shape[last] > widest / size || !std::has_single_bit(nest.shape[last])) return 1;
  for (const std::uint32_t i : {0U, 1U}) {
    if (nest.operand[i].strides[last] != 1) return 1;
    if (problem.alignment(i, last) < size * nest.shape[last]) return 1;
  }
  return static_cast<std::uint32_t>(nest.shape[last]);
}

}  // namespace

MoveProblem widened(MoveProblem problem) {
  const std::uint32_t joined = joinable(problem);
  if (joined == 1) return problem;
  MoveProblem wide = problem;
  CanonicalNest& nest = wide.nest;
  wide.joined = joined;
  --nest.rank;
  nest.shape[nest.rank] = 0;
  for (std::uint32_t i = 0; i < nest.operands; ++i) {
    CanonicalNest::Operand& operand = nest.operand[i];
    for (std::uint32_t d = 0; d < nest.rank; ++d) operand.strides[d] /= static_cast<std::int64_t>(joined);
    operand.strides[nest.rank] = 0;
    // Of an element that was walked backwards the view's address is the last part.
    operand.offset = (operand.offset + (joined - 1)) >> std::countr_zero(joined);
  }
  return takes_blocks(wide) ? wide : problem;
}

TMAJIT_END
