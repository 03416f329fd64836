#pragma once

/// All ways of a thread through a kernel that its branches allow as far as they are understood: a way knows
/// what it has been told of conditions that are asked more than once, and does not contradict itself.
#include "lint/kernel.hpp"

TMAJIT_BEGIN
namespace lint {

/// What a check remembers along a path, and the facts that the path has learned.
struct PathState {
  std::uint64_t memory = 0;
  Facts facts;
  friend bool operator==(const PathState&, const PathState&) = default;
};

/// A check of paths: an automaton over events.
class PathCheck {
 public:
  virtual ~PathCheck() = default;
  /// The event happens in `state`: appends every state that the path may go on with; none ends it.
  virtual void step(std::uint32_t event, const PathState& state, std::vector<PathState>& next) = 0;
  /// The thread ends at `instruction`, or one past the last.
  virtual void end(std::uint32_t instruction, const PathState& state);
  /// The path goes back to a block of that rank; false ends it.
  virtual bool retreat(PathState& state, std::int32_t rank);
};

/// Follows every path from the entry. False if there were too many; then nothing is certain of those left.
[[nodiscard]] bool explore(const Kernel& kernel, PathCheck& check);

}  // namespace lint
TMAJIT_END
