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

/// Whether bits move between views that are contiguous somewhere, in dimensions long enough for blocks.
bool moves_blocks(const MoveProblem& problem) {
  const std::uint32_t rank = problem.nest.rank;
  if (rank == 0 || !problem.expression.empty() || problem.nest.windowed) return false;
  return problem.nest.operand[0].strides[rank - 1] == 1 && contiguous_dimension(problem, 1) < rank;
}

bool is_aligned(const MoveProblem& problem, std::uint32_t column) {
  return problem.alignment(0, problem.nest.rank - 1) == vector_bytes &&
         problem.alignment(1, column) == vector_bytes;
}

/// Blocks are squares of 16 bytes a side; where a side is much shorter, most of a block would be empty.
bool is_worth_blocks(const MoveProblem& problem, std::uint32_t column) {
  const std::uint64_t side = vector_bytes / problem.element_bytes(0);
  const auto fills = [&](std::uint64_t extent) { return 2 * extent > side; };
  return fills(problem.nest.shape[column]) && fills(problem.nest.shape[problem.nest.rank - 1]);
}

}  // namespace

std::vector<MoveCandidate> move_candidates(const MoveProblem& problem) {
  std::vector<MoveCandidate> candidates;
  const auto add = [&](MoveCandidate candidate) {
    const auto same = [&](const MoveCandidate& other) { return other.kernel == candidate.kernel; };
    if (std::ranges::none_of(candidates, same)) candidates.push_back(std::move(candidate));
  };
  const std::uint32_t rank = problem.nest.rank;
  const std::uint32_t column = contiguous_dimension(problem, 1);
  if (moves_blocks(problem) && column != rank - 1 && is_worth_blocks(problem, column)) {
    add(transpose_candidate(problem, column, {}));
  } else if (moves_blocks(problem) && column == rank - 1 && is_aligned(problem, column)) {
    add(rows_candidate(problem, {.threads = 128, .turns = 2}));
  } else {
    add(general_candidate(problem, {}));
  }
  return candidates;
}

TMAJIT_END
