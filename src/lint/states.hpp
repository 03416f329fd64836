#pragma once

/// The states of paths at one block, merged where that loses nothing.
#include "lint/checks.hpp"

#include <map>

TMAJIT_BEGIN
namespace lint {

/// A state is left out if its facts imply those of another state with the same memory: the other state covers
/// it. A state drops its fact about a subject if another state covers the remaining cases: next to "not p",
/// "p and q" becomes "q". So paths that meet with the same memory have few states. Together these stand for
/// the same paths as before: no finding loses its certainty.
class States {
 public:
  explicit States(const Conditions& conditions) : conditions_(conditions) {}

  /// `known`: another state covers the state.
  enum class Outcome { known, added, too_many };
  Outcome add(PathState state);
  /// Calls visit(state) for each state, and removes them all.
  template <class Visit>
  void take(const Visit& visit) {
    for (auto& [memory, states] : by_memory_) {
      for (PathState& state : states) visit(std::move(state));
    }
    by_memory_.clear();
  }
  [[nodiscard]] bool empty() const { return by_memory_.empty(); }

 private:
  /// Limit of the states with the same memory: comparing them takes time.
  static constexpr std::size_t max_alike = 48;
  /// Limit of the facts of a state.
  static constexpr std::size_t max_facts = 64;

  const Conditions& conditions_;
  std::map<std::uint64_t, llvm::SmallVector<PathState, 1>> by_memory_;
};

}  // namespace lint
TMAJIT_END
