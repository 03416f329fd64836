/// The edges of happens-before: barriers, mbarriers, fences, releases and acquires. Also the reports of
/// races.
#include "sim/cta/cta.hpp"
#include "sim/races/races.hpp"

#include <spdlog/fmt/fmt.h>

TMAJIT_BEGIN
namespace sim {

Races::Races(Cluster& cluster, const Launch& launch)
    : cluster_(cluster),
      launch_(*launch.order),
      warps_each_(static_cast<std::uint32_t>(cluster.cta(0).warps.size())),
      pitch_(pitch(cluster.cta(0).shared_bytes())),
      warps_(std::size_t{warps_each_} * cluster.size()),
      barriers_(std::size_t{16} * cluster.size()),
      flights_(launch.overlapped.empty() ? nullptr : &launch.overlapped) {
  const std::size_t blocks = std::size_t{pitch_ / Block::bytes} * cluster.size();
  while (shared_.size() < blocks) shared_.emplace_back(launch_.slabs);
}

Agent Races::agent_of(const Warp& warp) const noexcept {
  return static_cast<Agent>(warp.cta->rank * warps_each_ + warp.index);
}

Clock& Races::barrier(std::uint32_t id, const Cta& cta) noexcept {
  return barriers_[std::size_t{16} * cta.rank + id];
}

void Races::start(std::uint32_t number) {
  number_ = number;
  for (std::size_t i = 0; i < warps_.size(); ++i) {
    const Cta& cta = cluster_.cta(static_cast<std::uint32_t>(i / warps_each_));
    warps_[i].start(static_cast<Agent>(i), cta.warps[i % warps_each_]->live);
  }
  for (Block& block : shared_) block.clear();
  for (Clock& barrier : barriers_) barrier.clear();
  cluster_arriving_.clear();
  cluster_completed_.clear();
  arriving_knowledge_.clear();
  completed_knowledge_.clear();
  phases_.clear();
  stores_.clear();
  products_.clear();
  async_fences_.clear();
  import_agents_.clear();
  fences_.clear();
  fence_facts_.clear();
  tracks_fence_sc_ = false;
  imports_.start(number);
  shared_releases_.clear();
  next_agent_ = static_cast<Agent>(warps_.size());
  flights_agent_ = new_agent();
}

void Races::barrier_arrive(std::uint32_t id, const Warp& warp, Mask mask, bool waits) {
  Knowledge& knowledge = clocks_of(warp);
  // If all lanes of the warp wait here, none continues before all have arrived: they have synchronised.
  if (waits && (warp.live & ~mask) == 0) knowledge.synchronise(mask, warp.live);
  knowledge.release(mask, barrier(id, *warp.cta));
  knowledge.tick();
  if (!tracks_fence_sc_) return;
  FenceFacts& facts = fence_facts_[16 * warp.cta->rank + id];
  collect_seen(warp, mask, facts.seen);
  collect_fenced(warp, mask, facts);
}

void Races::barrier_pass(std::uint32_t id, const Warp& warp, Mask mask) {
  clocks_of(warp).acquire(mask, warp.live, barrier(id, *warp.cta));
  if (!tracks_fence_sc_) return;
  FenceFacts& facts = fence_facts_[16 * warp.cta->rank + id];
  set_seen_by_others(warp, mask, facts.seen);
  if (!facts.has_fenced) return;
  const auto fenced = std::make_shared<const Clock>(facts.fenced);
  for_lanes(mask, [&](std::uint32_t lane) {
    LaneFences& lane_fences = fences_[number_of(warp, lane)];
    lane_fences.fenced_by_others = fenced;
    lane_fences.published_at = ~0ULL;
  });
}

void Races::barrier_done(std::uint32_t id, const Cta& cta) {
  barrier(id, cta).clear();
  if (tracks_fence_sc_) fence_facts_.erase(16 * cta.rank + id);
}

// fence.sc and barriers. Suppose that thread A reads a value that was written after a fence.sc F, then A and
// B synchronise at a barrier, and then B executes a fence.sc G. Then F comes before G in the order of all
// fence.sc: G happens after A's read, which has seen an effect of F. So a kernel may let one thread read a
// counter, then synchronise, and then let each thread execute the fence (LaneFences::seen_by_others). It may
// also let each thread execute the fence, then synchronise, and then let one thread change the counter
// (LaneFences::fenced_by_others).

void Races::collect_fenced(const Warp& warp, Mask mask, FenceFacts& target) {
  for_lanes(mask, [&](std::uint32_t lane) {
    const auto found = fences_.find(number_of(warp, lane));
    if (found == fences_.end() || !std::exchange(found->second.fenced_since_barrier, false)) return;
    const Fenced& fenced = found->second.wider_scope;
    target.fenced.join(*fenced.clock);
    target.fenced.learn(agent_of(warp), 1U << lane, clocks_of(warp).existing(), fenced.time);
    target.has_fenced = true;
  });
}

void Races::collect_seen(const Warp& warp, Mask mask, std::vector<Pending>& target) const {
  const auto add = [&](const Pending& pending) {
    const auto same = [&](const Pending& other) { return other.release == pending.release; };
    if (pending.release->sequential && std::ranges::none_of(target, same)) target.push_back(pending);
  };
  for_lanes(mask, [&](std::uint32_t lane) {
    const auto found = fences_.find(number_of(warp, lane));
    if (found == fences_.end()) return;
    std::ranges::for_each(found->second.seen, add);
    std::ranges::for_each(found->second.seen_by_others, add);
  });
}

void Races::set_seen_by_others(const Warp& warp, Mask mask, const std::vector<Pending>& releases) {
  if (releases.empty()) return;
  for_lanes(mask, [&](std::uint32_t lane) { fences_[number_of(warp, lane)].seen_by_others = releases; });
}

void Races::share_seen(const Warp& warp, Mask mask) {
  std::vector<Pending> together;
  collect_seen(warp, mask, together);
  set_seen_by_others(warp, mask, together);
}

void Races::add_waited(const Warp& warp, Mask mask, Clock& target) const {
  if (fences_.empty()) return;
  for_lanes(mask, [&](std::uint32_t lane) {
    const auto found = fences_.find(number_of(warp, lane));
    if (found != fences_.end()) target.join(found->second.waited);
  });
}

void Races::cluster_arrive(const Warp& warp, Mask mask, bool releases) {
  clocks_of(warp).release(mask, arriving_knowledge_);
  add_waited(warp, mask, arriving_knowledge_);
  if (!releases) {
    for_lanes(mask, [&](std::uint32_t lane) { release_fenced(warp, lane, cluster_arriving_); });
    return;
  }
  clocks_of(warp).release(mask, cluster_arriving_);
  clocks_of(warp).tick();
}

/// Called for a relaxed arrival, which releases everything before the thread's last fence.
void Races::release_fenced(const Warp& warp, std::uint32_t lane, Clock& target) {
  const auto found = fences_.find(number_of(warp, lane));
  if (found == fences_.end()) return;
  for (const Fenced* fenced : {&found->second.cta_scope, &found->second.wider_scope}) {
    if (fenced->clock == nullptr) continue;
    target.join(*fenced->clock);
    target.learn(agent_of(warp), 1U << lane, clocks_of(warp).existing(), fenced->time);
  }
}

Races::Phases& Races::phases(std::uint32_t offset) {
  const auto [found, fresh] = phases_.try_emplace(offset);
  if (fresh) found->second.agent = new_agent();
  return found->second;
}

void Races::mbarrier_init(const Warp& warp, std::uint32_t lane, std::uint32_t offset) {
  mbarrier_use(warp, 1U << lane, offset, true);
  Phases& edges = phases(offset);
  edges.first = ++edges.time;
  edges.arriving.clear();
  edges.completed.clear();
}

void Races::mbarrier_arrive(const Warp& warp, std::uint32_t lane, std::uint32_t offset, bool releases) {
  Phases& edges = phases(offset);
  if (releases) {
    clocks_of(warp).release(1U << lane, edges.arriving);
    return;
  }
  release_fenced(warp, lane, edges.arriving);
}

void Races::mbarrier_pass(const Warp& warp, Mask mask, std::uint32_t offset, bool acquires) {
  mbarrier_use(warp, mask, offset);
  const Clock& completed = phases(offset).completed;
  if (acquires) {
    clocks_of(warp).acquire(mask, warp.live, completed);
  } else {
    for_lanes(mask, [&](std::uint32_t lane) { fences_[number_of(warp, lane)].waited.join(completed); });
  }
}

void Races::mbarrier_phase(std::uint32_t offset) {
  Phases& edges = phases(offset);
  edges.completed.join(edges.arriving);
  edges.completed.learn(edges.agent, edges.time);
  edges.arriving.clear();
  ++edges.time;
}

void Races::fence(const Warp& warp, Mask mask, FenceKind kind) {
  const bool cta_scope = kind.cta_scope;
  Knowledge& knowledge = clocks_of(warp);
  std::array<LaneFences*, lanes> fences{};
  for_lanes(mask, [&](std::uint32_t lane) { fences[lane] = &fences_[number_of(warp, lane)]; });
  const auto acquired_part = [&](std::uint32_t lane) { return AcquiredPart{fences[lane]}; };
  for_alike(mask, acquired_part, [&](const AcquiredPart& acquired, Mask together) {
    const LaneFences& first = *acquired.lane;
    for (const Pending& pending : first.seen)
      acquire(warp, together, *pending.release, cta_scope || pending.cta_scope);
    if (kind.sequential) {
      for (const Pending& pending : first.seen_by_others)
        acquire(warp, together, *pending.release, cta_scope || pending.cta_scope);
    }
  });
  std::shared_ptr<const Clock> common;
  for_lanes(mask, [&](std::uint32_t lane) {
    LaneFences& lane_fences = *fences[lane];
    if (!cta_scope) lane_fences.seen.clear();
    if (!lane_fences.waited.empty()) knowledge.acquire(1U << lane, warp.live, lane_fences.waited);
    lane_fences.waited.clear();
    const Clock& known = knowledge.of(lane);
    const bool shares = &known == &knowledge.common();
    if (shares && common == nullptr) common = std::make_shared<const Clock>(known);
    lane_fences.published_at = ~0ULL;
    lane_fences.fenced_by_others = nullptr;
    const Fenced fenced{shares ? common : std::make_shared<const Clock>(known), knowledge.time(),
                        kind.sequential};
    lane_fences.cta_scope = fenced;
    if (!cta_scope) lane_fences.wider_scope = fenced;
    lane_fences.fenced_since_barrier = kind.sequential && !cta_scope;
  });
  knowledge.tick();
  tracks_fence_sc_ = tracks_fence_sc_ || kind.sequential;
}

void Races::acquire(const Warp& warp, Mask mask, const Release& release, bool cta_scope) {
  Knowledge& knowledge = clocks_of(warp);
  const auto [found, fresh] = import_agents_.try_emplace(std::uint64_t{agent_of(warp)} << lanes | mask);
  if (fresh) found->second = new_agent();
  const Agent agent = found->second;
  const std::uint32_t time =
      imports_.add(agent, release, !cta_scope, launch_.releases, [&](const Release& own) {
        // Between CTAs of a cluster, both the release and the acquire must be wider than CTA scope.
        if (own.rank == warp.cta->rank || (own.wide && !cta_scope))
          knowledge.acquire(mask, warp.live, own.clock);
      });
  if (time != 0) knowledge.learn(mask, warp.live, agent, time);
}

void Races::publish(Releases& where, std::uint64_t at, Clock clock, std::uint32_t rank, bool cta_scope,
                    bool sequential) {
  Release release;
  release.cluster = number_;
  release.rank = rank;
  release.wide = !cta_scope;
  release.sequential = sequential;
  release.imports = imports_.of(clock);
  release.clock = std::move(clock);
  imports_.note_own_release(where.add(at, std::move(release)));
}

void Races::before(const Warp& warp, Mask mask, const WarpAccess& access,
                   const std::array<std::uint64_t, lanes>& at) {
  if (!access.write) return;
  const auto address_of_lane = [&](std::uint32_t lane) { return at[lane]; };
  for_alike(mask, address_of_lane, [&](std::uint64_t address, Mask together) {
    if (!access.ordering.releases) return publish_fenced(warp, together, access, address);
    Clock clock;
    clocks_of(warp).release(together, clock);
    bool sequential = false;
    for_lanes(together, [&](std::uint32_t lane) {
      const auto fenced = fences_.find(number_of(warp, lane));
      sequential = sequential || (fenced != fences_.end() && fenced->second.wider_scope.sequential);
    });
    Releases& where = access.memory == Memory::shared ? shared_releases_ : launch_.releases;
    publish(where, address, std::move(clock), warp.cta->rank, access.ordering.cta_scope, sequential);
  });
}

/// Publishes what a relaxed access releases: everything before the thread's last fences.
void Races::publish_fenced(const Warp& warp, Mask mask, const WarpAccess& access, std::uint64_t at) {
  Releases& where = access.memory == Memory::shared ? shared_releases_ : launch_.releases;
  const Knowledge& knowledge = clocks_of(warp);
  std::array<const LaneFences*, lanes> fences{};
  Mask publishing = 0;
  for_lanes(mask, [&](std::uint32_t lane) {
    const auto found = fences_.find(number_of(warp, lane));
    // A thread that spins with atomics at one address needs to publish only once.
    if (found == fences_.end() || std::exchange(found->second.published_at, at) == at) return;
    fences[lane] = &found->second;
    publishing |= 1U << lane;
  });
  const auto published_part = [&](std::uint32_t lane) { return PublishedPart{fences[lane]}; };
  for_alike(publishing, published_part, [&](const PublishedPart& published, Mask together) {
    const LaneFences& first = *published.lane;
    const auto publish_fence = [&](const Fenced& fenced, bool cta_scope) {
      if (fenced.clock == nullptr) return;
      Clock clock = *fenced.clock;
      clock.learn(agent_of(warp), together, knowledge.existing(), fenced.time);
      publish(where, at, std::move(clock), warp.cta->rank, cta_scope || access.ordering.cta_scope,
              fenced.sequential);
    };
    // If one fence is the last at both scopes, the release at the wider scope is enough.
    if (first.cta_scope != first.wider_scope) publish_fence(first.cta_scope, true);
    publish_fence(first.wider_scope, false);
    if (first.fenced_by_others != nullptr)
      publish(where, at, *first.fenced_by_others, warp.cta->rank, access.ordering.cta_scope, true);
  });
}

void Races::after(const Warp& warp, Mask mask, const WarpAccess& access,
                  const std::array<std::uint64_t, lanes>& at) {
  // The release includes the access itself; a new time begins after it.
  if (access.ordering.releases) clocks_of(warp).tick();
  Releases& where = access.memory == Memory::shared ? shared_releases_ : launch_.releases;
  const auto address_of_lane = [&](std::uint32_t lane) { return at[lane]; };
  for_alike(mask, address_of_lane, [&](std::uint64_t address, Mask together) {
    if (flights_ != nullptr && access.memory == Memory::global) acquire_of_flights(warp, together, address);
    const Release* const latest = where.latest(address);
    if (latest == nullptr) return;
    if (access.ordering.acquires) return acquire(warp, together, *latest, access.ordering.cta_scope);
    for_lanes(together, [&](std::uint32_t lane) {
      std::vector<Pending>& seen = fences_[number_of(warp, lane)].seen;
      if (seen.empty() || seen.back().release != latest) seen.push_back({latest, access.ordering.cta_scope});
    });
    tracks_fence_sc_ = tracks_fence_sc_ || latest->sequential;
  });
}

// The texts of reports: both accesses, and the missing edge.

namespace {

/// Whether a copy's access belongs to a load. Loads write shared memory and read global memory; stores read
/// shared memory and write global memory.
bool is_load(bool write, Memory memory) {
  return write == (memory == Memory::shared);
}

/// The missing order between two accesses, and the remedy. Empty texts stand for those of the rule.
struct Advice {
  const char* expected = "";
  const char* remedy = "";
};

Advice advise(const Conflict& conflict, const Touch& touch) {
  const Memory memory = touch.memory;
  const Access& earlier = conflict.earlier;
  if (((earlier.location | touch.access.location) & Access::object) != 0) return {};
  if (earlier.cluster == touch.access.cluster && earlier.rank() != touch.access.rank()) {
    return {
        "barrier.cluster.arrive, not .relaxed, by the first and barrier.cluster.wait by the second, or an "
        "arrival with release on an mbarrier that the second waits on",
        "synchronise the cluster between the two; before its CTAs exit, too"};
  }
  if (earlier.cluster != touch.access.cluster) {
    return {"bytes of its own for each CTA, or a release at gpu scope by the first that the second acquires",
            "check how the grid is split into tiles; where CTAs do hand data over: __threadfence(), then an "
            "atomic; an atomic, then __threadfence()"};
  }
  if ((earlier.spread & a_product) != 0) {
    return {
        "wgmma.wait_group for the product's group by a warp that issued it, then a barrier or an arrival, "
        "before its operands are written",
        "wait for the group that reads this stage before it is handed back"};
  }
  if (earlier.is_copy()) {
    const bool load = is_load(conflict.earlier_write, memory);
    if (load && memory == Memory::shared && touch.access.is_copy() && touch.write) {
      return {
          "a wait on the earlier load's mbarrier, and for the threads that use its bytes, before the stage "
          "is loaded again",
          "wait for the stage to be free before the load; check the count of arrivals and the parity"};
    }
    if (load && memory == Memory::shared) {
      return {
          "a wait on the load's mbarrier, for the phase that it completes, by this thread or by one that "
          "has synchronised with it since",
          "let every thread that touches the stage wait, or synchronise at a barrier after the wait"};
    }
    if (load) {
      return {"a wait on the load's mbarrier before the bytes that it reads are written",
              "wait for the load, then synchronise, then write"};
    }
    if (memory == Memory::shared) {
      return {"cp.async.bulk.wait_group.read by the thread that issued the store, then a barrier",
              "wait for the group that used this memory last, then synchronise, then use it again"};
    }
    return {
        "cp.async.bulk.wait_group (not .read, which waits for the source only) by the thread that issued "
        "the store, then a barrier",
        "wait for the group that wrote these bytes, then synchronise, then use them"};
  }
  if (touch.access.is_copy()) {
    if (is_load(touch.write, memory) && memory == Memory::shared) {
      return {
          "an arrival by all threads that use the stage on an mbarrier that the issuing thread waits on, or "
          "a barrier of all, before the stage is loaded again",
          "wait for the stage to be free before the load; check the count of arrivals and the parity"};
    }
    return {"a barrier between the threads that write and the one that issues the copy",
            "writers: fence.proxy.async, then a barrier; then one thread issues the copy"};
  }
  if (earlier.agent == touch.access.agent) {
    return {"__syncwarp() between accesses of different lanes of a warp",
            "lanes run independently: call __syncwarp() before a lane uses what another lane wrote"};
  }
  return {};
}

}  // namespace

std::string Races::describe(const Access& access, std::uint32_t lane, bool write, Memory memory,
                            std::uint32_t rank) const {
  const Cta& cta = cluster_.cta(access.rank());
  std::string actor = "thread " + text_of(cta.thread_index(access.thread(lane, warps_each_)));
  if (access.cluster != number_ || access.rank() != rank)
    actor += " of CTA " + text_of(cta.launch.ctaid(access.cluster, access.rank()));
  const CodeLocation& location = cta.program.locations[access.location & Access::location_mask];
  std::string what = write ? "write" : "read";
  if ((access.location & Access::object) != 0)
    what = write ? "init or inval of the mbarrier" : "use of the mbarrier";
  if (access.is_copy()) {
    what += (access.spread & a_product) != 0 ? " by the wgmma.mma_async"
            : is_load(write, memory)         ? " by the bulk load"
                                             : " by the bulk store";
    actor = "that " + actor + " issued";
  } else {
    actor = "by " + actor;
  }
  return fmt::format("the {} {} (PTX line {} \"{}\")", what, actor, location.line, location.text);
}

void Races::report(const Conflict& conflict, const Touch& touch, std::uint64_t line) {
  const Memory memory = touch.memory;
  const char* const space = memory == Memory::shared ? "shared" : "global";
  const bool object = ((conflict.earlier.location | touch.access.location) & Access::object) != 0;
  const std::string id = object
                             ? "race.mbarrier"
                             : fmt::format("race.{}-{}-{}", space, conflict.earlier_write ? "write" : "read",
                                           touch.write ? "write" : "read");
  const check::RuleId rule(*check::find(id));
  const std::uint32_t location = touch.access.location & Access::location_mask;
  Cta& cta = cluster_.cta(touch.access.rank());
  if (cta.launch.reports.count_repeat(id, cta.program.locations[location].line)) return;
  std::uint64_t address = line + conflict.byte;
  std::string owner;
  if (memory == Memory::shared) {
    const auto rank = static_cast<std::uint32_t>(address / pitch_);
    address = address % pitch_ + shared_base;
    if (rank != cta.rank) owner = fmt::format(" of the CTA with rank {}", rank);
  }
  const std::string where = fmt::format("{} memory{} at {:#x}", space, owner, address);
  if (const auto next = as_next_iteration(conflict, touch, line))
    return report_unsynchronised_write(next->first, next->second, where);
  if (report_cause(conflict, touch, rule, where)) return;
  const bool stored = conflict.earlier.is_copy() && !conflict.earlier_write && memory == Memory::shared &&
                      (conflict.earlier.spread & a_product) == 0;
  if (stored && touch.write && !touch.access.is_copy() && issued_by(conflict.earlier) != nullptr &&
      lacks_barrier(conflict.earlier, touch.knowledge->of(conflict.lane)))
    return report_unsynchronised_write(conflict, touch, where);
  const Advice advice = advise(conflict, touch);
  About about(conflict.earlier.location & Access::location_mask, cause_of(conflict, touch));
  about.replacement = opposite_order(conflict, touch);
  cta.report(touch.access.thread(conflict.lane, warps_each_), location, rule,
             fmt::format(
                 "{}: nothing orders {} after {}", where,
                 describe(touch.access, conflict.lane, touch.write, memory, cta.rank),
                 describe(conflict.earlier, conflict.earlier_lane, conflict.earlier_write, memory, cta.rank)),
             advice.expected, advice.remedy, std::move(about));
}

void Races::report_after_exit(const Conflict& conflict, Cta& cta) {
  const Access& access = conflict.earlier;
  if (access.rank() == cta.rank) {
    cta.report_unread_source(
        access.thread(conflict.earlier_lane, warps_each_), access.location & Access::location_mask,
        "the CTA can exit before this asynchronous copy to a peer has read its shared memory: nothing "
        "makes a thread of it wait for that");
    return;
  }
  const bool reads = !conflict.earlier_write && (access.location & Access::object) == 0;
  const auto rule = reads ? check::RuleId("exit.peer-reads") : check::RuleId("exit.peer-writes");
  Cta& peer = cluster_.cta(access.rank());
  const std::uint32_t location = access.location & Access::location_mask;
  if (cta.launch.reports.count_repeat(rule->id, cta.program.locations[location].line)) return;
  peer.report(access.thread(conflict.earlier_lane, warps_each_), location, rule,
              fmt::format("the CTA with rank {} can exit before {} its shared memory: nothing makes a thread "
                          "of it wait for that",
                          cta.rank, reads ? "this read of" : "this access to"));
}

}  // namespace sim
TMAJIT_END
