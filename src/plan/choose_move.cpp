#include "plan/move_kernel.hpp"

#include <algorithm>

TMAJIT_BEGIN
namespace {

constexpr std::uint32_t vector_bytes = 16;

/// The dimension in which a source is contiguous; the rank if there is none.
std::uint32_t contiguous_dimension(const MoveProblem& problem, std::uint32_t operand) {
  const auto& strides = problem.nest.operand[operand].strides;
  return static_cast<std::uint32_t>(std::find(strides.begin(), strides.begin() + problem.nest.rank, 1) -
                                    strides.begin());
}

bool moves_vectors(const MoveProblem& problem) {
  const std::uint32_t rank = problem.nest.rank;
  if (rank == 0 || !problem.expression.empty() || problem.nest.windowed) return false;
  const std::uint32_t column = contiguous_dimension(problem, 1);
  return problem.nest.operand[0].strides[rank - 1] == 1 && column < rank &&
         problem.alignment(0, rank - 1) == vector_bytes && problem.alignment(1, column) == vector_bytes;
}

}  // namespace

std::vector<MoveCandidate> move_candidates(const MoveProblem& problem) {
  std::vector<MoveCandidate> candidates;
  const auto add = [&](MoveCandidate candidate) {
    const auto same = [&](const MoveCandidate& other) { return other.kernel == candidate.kernel; };
    if (std::ranges::none_of(candidates, same)) candidates.push_back(std::move(candidate));
  };
  const std::uint32_t rank = problem.nest.rank;
  if (!moves_vectors(problem)) {
    add(general_candidate(problem, {}));
    return candidates;
  }
  const std::uint32_t column = contiguous_dimension(problem, 1);
  if (column == rank - 1) {
    add(rows_candidate(problem, {.threads = 128, .turns = 2}));
  } else {
    add(transpose_candidate(problem, column, {}));
  }
  return candidates;
}

TMAJIT_END
