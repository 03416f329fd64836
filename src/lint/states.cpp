#include "lint/states.hpp"

#include <llvm/ADT/STLExtras.h>

TMAJIT_BEGIN
namespace lint {

States::Outcome States::add(PathState state) {
  auto& alike = by_memory_[state.memory];
  bool fresh = true;
  const auto covers = [&](const PathState& a, const PathState& b) {
    return conditions_.covers(a.facts, b.facts);
  };
  const auto widen = [&](PathState& one, const PathState& by) {
    if (!conditions_.widen(one.facts, by.facts)) return false;
    one.several |= by.several || one.origin != by.origin;
    return true;
  };
  for (bool changed = true; changed;) {
    changed = false;
    for (const PathState& other : alike) {
      if (covers(other, state)) return fresh ? Outcome::known : Outcome::added;
    }
    llvm::erase_if(alike, [&](const PathState& other) { return covers(state, other); });
    for (PathState& other : alike) {
      // Widens by the state before: both states may drop the fact about the same subject.
      const PathState before = state;
      if (widen(state, other)) changed = true;
      if (widen(other, before)) changed = true;
    }
    fresh = false;
  }
  if (alike.size() >= max_alike || state.facts.size() > max_facts) return Outcome::too_many;
  alike.push_back(std::move(state));
  return Outcome::added;
}

}  // namespace lint
TMAJIT_END
