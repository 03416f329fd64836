#include "sim/cta/cta.hpp"

#include <algorithm>

#include <spdlog/fmt/fmt.h>

TMAJIT_BEGIN
namespace sim {

void Warp::update_join() {
  join = changes_loop ? 0 : ~0U;
  for (const Group& group : groups) {
    if (group.wait.kind == Wait::Kind::none) join = std::min(join, group.pc);
  }
}

void Warp::park(Mask mask, std::uint32_t at, Wait wait) {
  groups.push_back({mask, at, wait});
  active &= ~mask;
  if (active == 0) running = false;
  update_join();
}

void Warp::jump(Mask mask, std::uint32_t target) {
  if (mask == active) {
    pc = target;
    return;
  }
  // The remaining lanes continue at the next instruction. The group with the smaller pc runs first.
  groups.push_back({mask, target, {}});
  active &= ~mask;
  update_join();
}

bool Warp::gather(Mask mask, Mask members) {
  const Mask missing = members & live & ~mask;
  if (missing == 0) return true;
  require_progress(mask, members, missing);
  park(mask, here(), {Wait::Kind::warp, missing, members});
  return false;
}

void Warp::require_progress(Mask mask, Mask members, Mask missing) const {
  // Lanes that wait at this instruction already will execute it together with those of `mask`.
  for (const Group& group : groups) {
    if (group.wait.kind == Wait::Kind::warp && group.pc == here() && group.wait.detail == members)
      mask |= group.mask;
  }
  missing &= ~mask;
  // The lanes that a group waits for.
  const auto awaited = [&](const Group& group) -> Mask {
    if (group.wait.kind == Wait::Kind::warp) return group.wait.what;
    if (group.wait.kind != Wait::Kind::assembly) return 0;
    Mask arrived = 0;
    for (const Group& each : groups) {
      if (each.wait.kind == Wait::Kind::assembly && each.wait.what == group.wait.what) arrived |= each.mask;
    }
    return live & ~arrived;
  };
  // The missing lanes, and all lanes that they wait for, directly or through other lanes. If lanes of `mask`
  // are among them, the waits form a cycle.
  Mask reached = missing;
  for (Mask before = 0; before != reached;) {
    before = reached;
    for (const Group& group : groups) reached |= (group.mask & reached) != 0 ? awaited(group) : 0;
  }
  if ((reached & mask) == 0) return;
  const auto other = std::ranges::find_if(
      groups, [&](const Group& group) { return (group.mask & missing) != 0 && awaited(group) != 0; });
  const std::uint32_t other_location = program->location_of[other->pc];
  const CodeLocation& other_code = program->locations[other_location];
  cta->report(
      thread(first_lane(mask)), location(), "warp.diverged",
      fmt::format("lanes {:#x} of warp {} wait here for lanes {:#x} (mask of members {:#x}), and lanes "
                  "{:#x} wait at PTX line {} \"{}\" for lanes {:#x} (mask {:#x}): none of them can continue",
                  mask, index, missing, members, other->mask, other_code.line, other_code.text,
                  awaited(*other), other->wait.kind == Wait::Kind::warp ? other->wait.detail : all_lanes),
      {}, {}, About(other_location));
  throw Stop{"warp.diverged"};
}

void Warp::retire(Mask mask) {
  live &= ~mask;
  active &= ~mask;
  if (active == 0) running = false;
  // Lanes that wait for lanes of this warp execute their instruction again: exited lanes are not awaited.
  for (Group& group : groups) {
    if (group.wait.kind == Wait::Kind::warp || group.wait.kind == Wait::Kind::assembly) group.wait = {};
  }
  update_join();
}

bool Warp::choose() {
  if (active != 0) groups.push_back({active, pc, {}});
  active = 0;
  const auto may_merge = [](const Group& group) {
    return group.wait.kind == Wait::Kind::none || group.wait.kind == Wait::Kind::warp;
  };
  // Two groups that wait at one instruction for different lanes execute separate warp-wide operations. If
  // they were merged, they would only wait again.
  const auto unrelated = [](const Group& a, const Group& b) {
    return a.wait.kind == Wait::Kind::warp && b.wait.kind == Wait::Kind::warp &&
           (a.wait.what & b.mask) == 0 && (b.wait.what & a.mask) == 0;
  };
  for (std::size_t i = 0; i < groups.size(); ++i) {
    for (std::size_t j = groups.size(); --j > i;) {
      if (groups[i].pc != groups[j].pc || !may_merge(groups[i]) || !may_merge(groups[j])) continue;
      if (unrelated(groups[i], groups[j])) continue;
      groups[i].mask |= groups[j].mask;
      groups[i].wait = {};
      groups.erase(groups.begin() + static_cast<std::ptrdiff_t>(j));
    }
  }
  auto least = groups.end();
  for (auto group = groups.begin(); group != groups.end(); ++group) {
    if (group->wait.kind == Wait::Kind::none && (least == groups.end() || group->pc < least->pc))
      least = group;
  }
  if (least == groups.end()) {
    running = false;
    return false;
  }
  active = least->mask;
  pc = least->pc;
  groups.erase(least);
  running = true;
  update_join();
  return true;
}

}  // namespace sim
TMAJIT_END
