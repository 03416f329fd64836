#include "lint/states.hpp"

#include <llvm/ADT/STLExtras.h>

TMAJIT_BEGIN
namespace lint {

States::Outcome States::add(PathState state) {
  auto& alike = by_memory_[state.memory];
  bool first_round = true;
  const auto covers = [&](const PathState& a, const PathState& b) {
    return conditions_.covers(a.facts, b.facts);
  };
  const auto widen = [&](PathState& one, const PathState& by) {
    if (!conditions_.widen(one.facts, by.facts)) return false;
    one.has_other_origins |= by.has_other_origins || one.origin != by.origin;
    return true;
  };
  for (bool changed = true; changed;) {
    changed = false;
    for (const PathState& other : alike) {
      if (covers(other, state)) return first_round ? Outcome::known : Outcome::added;
    }
    llvm::erase_if(alike, [&](const PathState& other) { return covers(state, other); });
    for (PathState& other : alike) {
      // `other` is widened by `state` as it was before its own widening: both then drop their facts about the
      // same subject.
      const PathState before = state;
      if (widen(state, other)) changed = true;
      if (widen(other, before)) changed = true;
    }
    first_round = false;
  }
  if (alike.size() >= max_alike || state.facts.size() > max_facts) return Outcome::too_many;
  alike.push_back(std::move(state));
  return Outcome::added;
}

}  // namespace lint
TMAJIT_END
