/// The edges: barriers, mbarriers, fences, releases and acquires.
#include "sim/cta.hpp"
#include "sim/races.hpp"

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

void Races::meet(const Warp& warp, Mask mask) {
  warps_[warp.index].meet(mask, warp.live);
}

void Races::barrier_arrive(std::uint32_t id, const Warp& warp, Mask mask, bool waits) {
  Knowledge& knowledge = warps_[warp.index];
  // Nobody goes on before all have arrived, so a whole warp has met.
  if (waits && (warp.live & ~mask) == 0) knowledge.meet(mask, warp.live);
  knowledge.release(mask, barriers_[id]);
  knowledge.tick();
}

void Races::barrier_pass(std::uint32_t id, const Warp& warp, Mask mask) {
  warps_[warp.index].acquire(mask, warp.live, barriers_[id]);
}

Races::Phases& Races::phases(std::uint32_t offset) {
  const auto [found, fresh] = phases_.try_emplace(offset);
  if (fresh) found->second.agent = new_agent();
  return found->second;
}

void Races::mbarrier_init(const Warp& warp, std::uint32_t lane, std::uint32_t offset) {
  touch_mbarrier(warp, 1U << lane, offset, true);
  Phases& order = phases(offset);
  ++order.time;
  order.arriving.clear();
  order.completed.clear();
}

void Races::mbarrier_inval(const Warp& warp, std::uint32_t lane, std::uint32_t offset) {
  touch_mbarrier(warp, 1U << lane, offset, true);
}

void Races::mbarrier_use(const Warp& warp, Mask mask, std::uint32_t offset) {
  touch_mbarrier(warp, mask, offset, false);
}

void Races::mbarrier_arrive(const Warp& warp, std::uint32_t lane, std::uint32_t offset, bool releases) {
  Phases& order = phases(offset);
  if (releases) {
    warps_[warp.index].release(1U << lane, order.arriving);
    return;
  }
  // A fence before it makes a relaxed arrival release what came before the fence.
  const auto found = fences_.find(warp.index * lanes + lane);
  if (found == fences_.end()) return;
  for (const Fenced* fenced : {&found->second.narrow, &found->second.wide}) {
    if (fenced->clock == nullptr) continue;
    order.arriving.join(*fenced->clock);
    order.arriving.learn(static_cast<Agent>(warp.index), 1U << lane, warps_[warp.index].existing(),
                         fenced->time);
  }
}

void Races::arrived(const Warp& warp) {
  warps_[warp.index].tick();
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

Agent Races::import_agent(std::uint32_t thread) {
  const auto [found, fresh] = import_agents_.try_emplace(thread);
  if (fresh) found->second = new_agent();
  return found->second;
}

Races::LaneFences& Races::fences(const Warp& warp, std::uint32_t lane) {
  return fences_[warp.index * lanes + lane];
}

void Races::fence(const Warp& warp, Mask mask, bool narrow) {
  Knowledge& knowledge = warps_[warp.index];
  std::shared_ptr<const Clock> common;
  for_lanes(mask, [&](std::uint32_t lane) {
    LaneFences& lane_fences = fences(warp, lane);
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
  const Agent agent = import_agent(warp.index * lanes + lane);
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
  const auto found = fences_.find(warp.index * lanes + lane);
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
    std::vector<Pending>& seen = fences(warp, lane).seen;
    if (seen.empty() || seen.back().release != latest) seen.push_back({latest, access.ordering.narrow});
  });
}

}  // namespace sim
TMAJIT_END
