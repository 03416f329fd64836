/// Finds the mistake behind a race: the missing wait or barrier. Reports it at the instruction to be changed.
#include "sim/causes/causes.hpp"

#include "sim/cta/warpgroup.hpp"
#include "sim/races/races.hpp"

#include <algorithm>

#include <spdlog/fmt/fmt.h>

TMAJIT_BEGIN
namespace sim {

const std::vector<std::uint32_t>* Races::issued_by(const Access& access) const {
  for (const auto& [warp, own] : products_) {
    if (own.agent == access.agent) return &own.issued;
  }
  for (const auto& [thread, own] : stores_) {
    if (own.reads == access.agent || own.writes == access.agent) return &own.issued;
  }
  return nullptr;
}

bool Races::synchronised_since_issue(const Access& earlier, const Clock& known) const {
  const std::vector<std::uint32_t>* const issued = issued_by(earlier);
  if (issued == nullptr || earlier.time == 0) return false;
  if (earlier.time > issued->size())
    return true;  // not in a group: the mistake is the missing wait, not a missing barrier
  const std::uint32_t thread = earlier.thread(0, warps_each_);
  const auto warp = static_cast<Agent>(earlier.rank() * warps_each_ + thread / lanes);
  const std::uint32_t since = (*issued)[earlier.time - 1] + 1;
  if ((earlier.spread & a_product) == 0) return known.knows(warp, thread % lanes, since);
  for (std::uint32_t lane = 0; lane < lanes; ++lane) {
    if (known.knows(warp, lane, since)) return true;
  }
  return false;
}

std::string Races::cause_of(const Conflict& conflict, const Touch& touch) const {
  const Access& earlier = conflict.earlier;
  const auto segment = [&](const Access& access) {
    return cluster_.cta(access.rank()).program.locations[access.location & Access::location_mask].segment;
  };
  if ((earlier.location & Access::object) != 0 && conflict.earlier_write)
    return fmt::format("made in segment {}", segment(earlier));
  if (earlier.is_copy() != touch.access.is_copy())
    return fmt::format("copies in segment {}", segment(earlier.is_copy() ? earlier : touch.access));
  // Races in global memory are not merged: each word may be synchronised by itself.
  if (touch.memory != Memory::shared) return {};
  return fmt::format("segments {} and {}", segment(earlier), segment(touch.access));
}

std::optional<std::pair<std::uint32_t, std::uint32_t>> Races::load_of(const Access& access) const {
  const auto has_agent = [&](const auto& each) { return each.second.agent == access.agent; };
  const auto load = std::ranges::find_if(phases_, has_agent);
  if (load == phases_.end()) return std::nullopt;
  return std::pair(static_cast<std::uint32_t>(load->first / pitch_),
                   static_cast<std::uint32_t>(load->first % pitch_));
}

bool Races::report_cause(const Conflict& conflict, const Touch& touch, check::RuleId rule,
                         const std::string& where) {
  const Access& earlier = conflict.earlier;
  if (touch.memory != Memory::shared || ((earlier.location | touch.access.location) & Access::object) != 0)
    return false;
  if (earlier.cluster != touch.access.cluster) return false;
  Cta& cta = cluster_.cta(touch.access.rank());
  Cta& other = cluster_.cta(earlier.rank());
  const std::uint32_t thread = touch.access.thread(conflict.lane, warps_each_);
  const std::uint32_t other_thread = earlier.thread(conflict.earlier_lane, warps_each_);
  const std::uint32_t location = touch.access.location & Access::location_mask;
  const std::uint32_t other_location = earlier.location & Access::location_mask;
  const std::uint32_t line = cta.program.locations[location].line;
  const bool product = earlier.is_copy() && (earlier.spread & a_product) != 0;
  const bool bulk = earlier.is_copy() && !product;
  const auto described = [&] {
    return fmt::format(
        "nothing orders {} after {}",
        describe(touch.access, conflict.lane, touch.write, touch.memory, cta.rank),
        describe(earlier, conflict.earlier_lane, conflict.earlier_write, touch.memory, cta.rank));
  };
  // A load overwrites a stage that threads or products read, or that another load writes: the mistake is in
  // the wait before the load.
  if (touch.access.is_copy() && touch.write && conflict.earlier_write == bulk) {
    std::optional<Reader> reader;
    if (!conflict.earlier_write) {
      reader = Reader{&other, other_thread, other_location, product};
      const auto load = load_of(touch.access);
      if (load && load->first == cta.rank) reader->full = load->second;
    }
    if (const auto cause = why_too_early(cta, thread, rule, reader)) {
      sim::report(*cause, fmt::format("at {} {}", where, described()), rule, line);
      return true;
    }
  }
  if (product && touch.write &&
      synchronised_since_issue(
          earlier, touch.knowledge != nullptr ? touch.knowledge->of(conflict.lane) : *touch.clock)) {
    About about(location, product_cause(other.program, other_location));
    about.symptom = rule->id;
    about.symptom_line = line;
    other.report(
        other_thread, other_location, rule,
        fmt::format("no wgmma.wait_group covers the product at PTX line {} before its operands are "
                    "overwritten at {}: {}",
                    other.program.locations[other_location].line, where, described()),
        "wgmma.commit_group, and a wgmma.wait_group that covers the product before its stage is handed back",
        "wait for the product's group before the arrival or the barrier that frees its operands",
        std::move(about));
    return true;
  }
  // A thread reads bytes that a load has not delivered: the mistake is in the reader's own wait.
  if (bulk && conflict.earlier_write && !touch.write) {
    const auto load = load_of(earlier);
    if (!load) return false;
    Cta& owner = cluster_.cta(load->first);
    if (const auto cause = why_read_early(cta, thread, owner, load->second)) {
      sim::report(*cause, fmt::format("at {} {}", where, described()), rule, line);
      return true;
    }
  }
  return false;
}

std::optional<Report> Races::opposite_order(const Conflict& conflict, const Touch& touch) {
  const Access& earlier = conflict.earlier;
  if (touch.memory != Memory::shared || conflict.earlier_write || !touch.write) return std::nullopt;
  if (((earlier.location | touch.access.location) & Access::object) != 0) return std::nullopt;
  Cta& cta = cluster_.cta(earlier.rank());
  const bool product = (earlier.spread & a_product) != 0;
  const bool stores = earlier.is_copy() && !product;
  const bool loaded = touch.access.is_copy();
  const bool one_warp = !earlier.is_copy() && !loaded && earlier.agent == touch.access.agent;
  const char* expected = "a barrier between the threads that write and those that read";
  const char* remedy = "call __syncthreads() between the write and the read";
  if (stores) {
    expected = "";
    remedy = "";
  } else if (loaded) {
    expected = "a wait on the load's mbarrier, for the phase that it completes, before the read";
    remedy = "let every thread that reads the stage wait for it, or synchronise at a barrier after the wait";
  } else if (one_warp) {
    expected = "__syncwarp() between accesses of different lanes of a warp";
    remedy = "lanes run independently: call __syncwarp() between the write and the read";
  }
  return cta.make_report(
      earlier.thread(conflict.earlier_lane, warps_each_), earlier.location & Access::location_mask,
      stores ? check::RuleId("store.missing-barrier") : check::RuleId("race.shared-write-read"),
      fmt::format(
          "nothing orders {} after {}: here the read came first, and found memory that no thread had written",
          describe(earlier, conflict.earlier_lane, false, touch.memory, cta.rank),
          describe(touch.access, conflict.lane, true, touch.memory, cta.rank)),
      expected, remedy);
}

bool Races::lacks_barrier(const Access& read, const Clock& writer) const {
  if (!synchronised_since_issue(read, writer)) return true;
  const std::uint32_t thread = read.thread(0, warps_each_);
  const Cta& cta = cluster_.cta(read.rank());
  const bool waited =
      clocks_of(*cta.warps[thread / lanes]).of(thread % lanes).knows(read.agent, 0, read.time);
  return waited || is_about_to_wait(cta, thread);
}

std::optional<std::pair<Conflict, Touch>> Races::as_next_iteration(const Conflict& conflict,
                                                                   const Touch& touch, std::uint64_t line) {
  const Access& write = conflict.earlier;
  if (touch.memory != Memory::shared || touch.write || !conflict.earlier_write || write.is_copy())
    return std::nullopt;
  if (((write.location | touch.access.location) & Access::object) != 0 ||
      issued_by(touch.access) == nullptr || (touch.access.spread & a_product) != 0)
    return std::nullopt;
  const std::uint64_t at = line + conflict.byte;
  Cta& owner = cluster_.cta(static_cast<std::uint32_t>(at / pitch_));
  const std::uint32_t tag = owner.writers()[at % pitch_ / 4];
  if (!owner.is_iteration_ahead(tag, touch.access.thread(0, warps_each_))) return std::nullopt;
  std::pair<Conflict, Touch> next{conflict, touch};
  next.first.earlier = touch.access;
  next.first.earlier_write = false;
  next.first.lane = conflict.earlier_lane;
  next.second.access = write;
  next.second.write = true;
  return next;
}

std::optional<std::pair<Conflict, Touch>> Races::conflict_with_store(const Warp& warp, std::uint32_t lane,
                                                                     const Copy& store, std::uint64_t group) {
  const auto agents = stores_.find(store.issuer->rank * warps_each_ * lanes + store.thread);
  if (agents == stores_.end()) return std::nullopt;
  const Touch read = copy_touch(store, Memory::shared, agents->second.reads,
                                static_cast<std::uint32_t>(group + 1), false, true);
  Conflict conflict;
  conflict.earlier = read.access;
  conflict.lane = lane;
  return std::pair(conflict, touch_of(warp, 1U << lane, {Memory::shared, 4, true, {}}));
}

bool Races::report_unsynchronised_write(const Warp& warp, std::uint32_t lane, std::uint32_t address,
                                        const Copy& store, std::uint64_t group) {
  const auto both = conflict_with_store(warp, lane, store, group);
  if (!both || !lacks_barrier(both->first.earlier, both->second.knowledge->of(lane))) return false;
  report_unsynchronised_write(both->first, both->second, fmt::format("shared memory at {:#x}", address));
  return true;
}

void Races::report_unsynchronised_write(const Conflict& conflict, const Touch& touch,
                                        const std::string& where) {
  const check::RuleId rule("race.shared-read-write");
  Cta& cta = cluster_.cta(touch.access.rank());
  const std::uint32_t location = touch.access.location & Access::location_mask;
  if (cta.launch.reports.count_repeat(rule->id, cta.program.locations[location].line)) return;
  About about(conflict.earlier.location & Access::location_mask, cause_of(conflict, touch));
  about.replacement = opposite_order(conflict, touch);
  cta.report(
      touch.access.thread(conflict.lane, warps_each_), location, rule,
      fmt::format("{}: no barrier stands between the wait for a bulk store and this write: nothing orders {} "
                  "after {}",
                  where, describe(touch.access, conflict.lane, true, Memory::shared, cta.rank),
                  describe(conflict.earlier, 0, false, Memory::shared, cta.rank)),
      "cp.async.bulk.wait_group.read by the thread that issued the store, then a barrier of it and all "
      "writers",
      "synchronise the threads that write with the one that has waited for the store", std::move(about));
}

std::optional<Report> Races::missing_barrier(const Warp& warp, std::uint32_t lane, const Copy& store,
                                             std::uint64_t group) {
  const auto both = conflict_with_store(warp, lane, store, group);
  return both ? opposite_order(both->first, both->second) : std::nullopt;
}

}  // namespace sim
TMAJIT_END
