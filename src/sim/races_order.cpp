/// The edges: barriers, mbarriers, fences, releases and acquires; and the reports of what none orders.
#include "sim/cta.hpp"
#include "sim/races.hpp"

#include <spdlog/fmt/fmt.h>

TMAJIT_BEGIN
namespace sim {

Races::Races(Cta& cta, LaunchOrder& launch)
    : cta_(cta),
      launch_(launch),
      warps_(cta.warps.size()),
      shared_((cta.shared_bytes() + Block::bytes - 1) / Block::bytes) {}

void Races::start(std::uint32_t cta) {
  number_ = cta;
  for (std::size_t i = 0; i < warps_.size(); ++i) warps_[i].start(static_cast<Agent>(i), cta_.warps[i]->live);
  for (Block& block : shared_) block.clear();
  for (Clock& barrier : barriers_) barrier.clear();
  phases_.clear();
  stores_.clear();
  import_agents_.clear();
  fences_.clear();
  imports_.clear();
  shared_releases_.clear();
  next_agent_ = first_agent;
}

void Races::barrier_arrive(std::uint32_t id, const Warp& warp, Mask mask, bool waits) {
  Knowledge& knowledge = warps_[warp.index];
  // Nobody goes on before all have arrived, so a whole warp has met.
  if (waits && (warp.live & ~mask) == 0) knowledge.meet(mask, warp.live);
  knowledge.release(mask, barriers_[id]);
  knowledge.tick();
}

Races::Phases& Races::phases(std::uint32_t offset) {
  const auto [found, fresh] = phases_.try_emplace(offset);
  if (fresh) found->second.agent = new_agent();
  return found->second;
}

void Races::mbarrier_init(const Warp& warp, std::uint32_t lane, std::uint32_t offset) {
  mbarrier_use(warp, 1U << lane, offset, true);
  Phases& order = phases(offset);
  ++order.time;
  order.arriving.clear();
  order.completed.clear();
}

void Races::mbarrier_arrive(const Warp& warp, std::uint32_t lane, std::uint32_t offset, bool releases) {
  Phases& order = phases(offset);
  if (releases) {
    warps_[warp.index].release(1U << lane, order.arriving);
    return;
  }
  // A fence before it makes a relaxed arrival release what came before the fence.
  const auto found = fences_.find(warp.thread(lane));
  if (found == fences_.end()) return;
  for (const Fenced* fenced : {&found->second.narrow, &found->second.wide}) {
    if (fenced->clock == nullptr) continue;
    order.arriving.join(*fenced->clock);
    order.arriving.learn(static_cast<Agent>(warp.index), 1U << lane, warps_[warp.index].existing(),
                         fenced->time);
  }
}

void Races::mbarrier_pass(const Warp& warp, Mask mask, std::uint32_t offset, bool acquires) {
  mbarrier_use(warp, mask, offset);
  if (acquires) warps_[warp.index].acquire(mask, warp.live, phases(offset).completed);
}

void Races::mbarrier_phase(std::uint32_t offset) {
  Phases& order = phases(offset);
  order.completed.join(order.arriving);
  order.completed.learn(order.agent, order.time);
  order.arriving.clear();
  ++order.time;
}

void Races::fence(const Warp& warp, Mask mask, bool narrow) {
  Knowledge& knowledge = warps_[warp.index];
  std::shared_ptr<const Clock> common;
  for_lanes(mask, [&](std::uint32_t lane) {
    LaneFences& lane_fences = fences_[warp.thread(lane)];
    for (const Pending& pending : lane_fences.seen)
      acquire(warp, lane, *pending.release, narrow || pending.narrow);
    if (!narrow) lane_fences.seen.clear();
    const Clock& known = knowledge.of(lane);
    const bool shares = &known == &knowledge.common();
    if (shares && common == nullptr) common = std::make_shared<const Clock>(known);
    const Fenced fenced{shares ? common : std::make_shared<const Clock>(known), knowledge.time()};
    lane_fences.narrow = fenced;
    if (!narrow) lane_fences.wide = fenced;
  });
  knowledge.tick();
}

void Races::acquire(const Warp& warp, std::uint32_t lane, const Release& release, bool narrow) {
  Knowledge& knowledge = warps_[warp.index];
  const auto [found, fresh] = import_agents_.try_emplace(warp.thread(lane));
  if (fresh) found->second = new_agent();
  const Agent agent = found->second;
  const std::uint32_t time = imports_.add(agent, release, number_, !narrow, [&](const Release& own) {
    knowledge.acquire(1U << lane, warp.live, own.clock);
  });
  if (time != 0) knowledge.learn(1U << lane, warp.live, agent, time);
}

void Races::publish(Releases& where, std::uint64_t at, Clock clock, bool narrow) {
  Release release;
  release.cta = number_;
  release.wide = !narrow;
  release.imports = imports_.of(clock);
  release.clock = std::move(clock);
  where.add(at, std::move(release));
}

void Races::before(const Warp& warp, std::uint32_t lane, const WarpAccess& access, std::uint64_t at) {
  if (!access.write) return;
  Releases& where = access.memory == Memory::shared ? shared_releases_ : launch_.releases;
  Knowledge& knowledge = warps_[warp.index];
  if (access.ordering.releases) {
    Clock clock;
    knowledge.release(1U << lane, clock);
    publish(where, at, std::move(clock), access.ordering.narrow);
    return;
  }
  const auto found = fences_.find(warp.thread(lane));
  if (found == fences_.end()) return;
  const auto from = [&](const Fenced& fenced, bool narrow) {
    if (fenced.clock == nullptr) return;
    Clock clock = *fenced.clock;
    clock.learn(static_cast<Agent>(warp.index), 1U << lane, knowledge.existing(), fenced.time);
    publish(where, at, std::move(clock), narrow || access.ordering.narrow);
  };
  from(found->second.narrow, true);
  from(found->second.wide, false);
}

void Races::after(const Warp& warp, Mask mask, const WarpAccess& access,
                  const std::array<std::uint64_t, lanes>& at) {
  // What was published was of this time, the access included.
  if (access.ordering.releases) warps_[warp.index].tick();
  Releases& where = access.memory == Memory::shared ? shared_releases_ : launch_.releases;
  for_lanes(mask, [&](std::uint32_t lane) {
    const Release* const latest = where.latest(at[lane]);
    if (latest == nullptr) return;
    if (access.ordering.acquires) {
      acquire(warp, lane, *latest, access.ordering.narrow);
      return;
    }
    std::vector<Pending>& seen = fences_[warp.thread(lane)].seen;
    if (seen.empty() || seen.back().release != latest) seen.push_back({latest, access.ordering.narrow});
  });
}

// The words of reports: both accesses, and the edge that is missing.

namespace {

bool is_copy(const Access& access) {
  return access.agent >= first_agent;
}

/// Loads write shared memory and read global memory, stores the other way round.
bool is_load(bool write, Memory memory) {
  return write == (memory == Memory::shared);
}

/// What would have ordered two accesses, and what helps; empty where the rule's own words say it.
struct Advice {
  const char* expected = "";
  const char* remedy = "";
};

Advice advise(const Conflict& conflict, const Touch& by) {
  const Memory memory = by.memory;
  const Access& earlier = conflict.earlier;
  if (((earlier.place | by.access.place) & Access::object) != 0) return {};
  if (earlier.cta != by.access.cta) {
    return {"bytes of its own for each CTA, or a release at gpu scope by the first that the second acquires",
            "check how the grid is split into tiles; where CTAs do hand data over: __threadfence(), then an "
            "atomic; an atomic, then __threadfence()"};
  }
  if (is_copy(earlier)) {
    const bool load = is_load(conflict.earlier_write, memory);
    if (load && memory == Memory::shared && is_copy(by.access) && by.write) {
      return {
          "a wait on the earlier load's mbarrier, and for those who use what it brought, before the stage "
          "is loaded again",
          "wait for the stage to be free before the load; check the count of arrivals and the parity"};
    }
    if (load && memory == Memory::shared) {
      return {
          "a wait on the load's mbarrier, for the phase that it completes, by this thread or by one that "
          "it has met since",
          "let every thread that touches the stage wait, or meet at a barrier after the wait"};
    }
    if (load) {
      return {"a wait on the load's mbarrier before the bytes that it reads are written",
              "wait for the load, then meet, then write"};
    }
    if (memory == Memory::shared) {
      return {"cp.async.bulk.wait_group.read by the thread that issued the store, then a barrier",
              "wait for the group that used this memory last, then meet, then use it again"};
    }
    return {
        "cp.async.bulk.wait_group (not .read, which waits for the source only) by the thread that issued "
        "the store, then a barrier",
        "wait for the group that wrote these bytes, then meet, then use them"};
  }
  if (is_copy(by.access)) {
    if (is_load(by.write, memory) && memory == Memory::shared) {
      return {
          "an arrival by all who use the stage on an mbarrier that the issuing thread waits on, or a "
          "barrier of both, before it is loaded again",
          "wait for the stage to be free before the load; check the count of arrivals and the parity"};
    }
    return {"a barrier between the threads that write and the one that issues the copy",
            "writers: fence.proxy.async, then a barrier; then one thread issues the copy"};
  }
  if (earlier.agent == by.access.agent) {
    return {"__syncwarp() between accesses of different lanes of a warp",
            "lanes run independently: call __syncwarp() where one needs what another did"};
  }
  return {};
}

}  // namespace

std::string Races::describe(const Access& access, std::uint32_t lane, bool write, Memory memory) const {
  std::string who = "thread " + text_of(cta_.thread_index(access.thread(lane)));
  if (access.cta != number_) who += " of CTA " + text_of(place_in(cta_.launch.shape.grid, access.cta));
  const Place& place = cta_.program.place[access.place & Access::place_mask];
  std::string what = write ? "write" : "read";
  if ((access.place & Access::object) != 0)
    what = write ? "making or end of the mbarrier" : "use of the mbarrier";
  if (is_copy(access)) {
    what += is_load(write, memory) ? " by the bulk load" : " by the bulk store";
    who = "that " + who + " issued";
  } else {
    who = "by " + who;
  }
  return fmt::format("the {} {} (PTX line {} \"{}\")", what, who, place.line, place.text);
}

void Races::report(const Conflict& conflict, const Touch& by, std::uint64_t line) {
  const Memory memory = by.memory;
  const char* const space = memory == Memory::shared ? "shared" : "global";
  const bool object = ((conflict.earlier.place | by.access.place) & Access::object) != 0;
  const std::string id = object
                             ? "race.mbarrier"
                             : fmt::format("race.{}-{}-{}", space, conflict.earlier_write ? "write" : "read",
                                           by.write ? "write" : "read");
  const check::RuleId rule(*check::find(id));
  const std::uint32_t place = by.access.place & Access::place_mask;
  if (cta_.launch.reports.again(id, cta_.program.place[place].line)) return;
  const std::uint64_t address = line + conflict.byte + (memory == Memory::shared ? shared_base : 0);
  const Advice advice = advise(conflict, by);
  cta_.report(by.access.thread(conflict.lane), place, rule,
              fmt::format("{} memory at {:#x}: nothing orders {} after {}", space, address,
                          describe(by.access, conflict.lane, by.write, memory),
                          describe(conflict.earlier, conflict.earlier_lane, conflict.earlier_write, memory)),
              advice.expected, advice.remedy);
}

}  // namespace sim
TMAJIT_END
