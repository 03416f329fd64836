#include "sim/cta/cta.hpp"

#include "check/kernel_name.hpp"
#include "sim/cta/warpgroup.hpp"
#include "sim/undefined/undefined.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

#include <spdlog/fmt/fmt.h>

TMAJIT_BEGIN
namespace sim {
namespace {

/// Micro-operations that a warp executes in one turn.
constexpr std::uint32_t slice = 20'000;
constexpr std::uint32_t quiet_slice = 2'000;  ///< after a round in which warps only waited, spun or computed
/// In mode random, half of all turns, drawn at random, have at most this many micro-operations.
constexpr std::uint32_t short_slice = 128;

std::string describe_wait(Cta& cta, const Group& group) {
  switch (group.wait.kind) {
    case Wait::Kind::barrier: {
      const NamedBarrier& barrier = cta.barriers[group.wait.what];
      return fmt::format("wait at barrier {}: {} of {} threads have arrived", group.wait.what,
                         barrier.arrived, barrier.expected != 0 ? barrier.expected : cta.live_threads);
    }
    case Wait::Kind::cluster:
      return fmt::format("wait at the cluster's barrier: {} of {} threads have arrived",
                         cta.cluster.barrier().arrived, cta.cluster.live_threads());
    case Wait::Kind::registers:
      return fmt::format("wait for {} registers each: the CTA's pool has {} for a warp's threads",
                         group.wait.what, cta.free_registers);
    case Wait::Kind::products:
      return "wait for a wgmma.mma_async that not all warps of their warpgroup have executed";
    case Wait::Kind::assembly:
      return group.wait.what < cta.barriers.size()
                 ? fmt::format("wait at barrier {} for the other lanes of their warp", group.wait.what)
                 : "wait at the cluster's barrier for the other lanes of their warp";
    case Wait::Kind::warp: return fmt::format("wait for lanes {:#x} of their warp", group.wait.what);
    case Wait::Kind::mbarrier: {
      const Mbarrier* barrier = cta.mbarrier(group.wait.what);
      if (barrier == nullptr) return "wait on an mbarrier that has been invalidated";
      std::string bytes = "no bytes missing";
      if (barrier->bytes > 0) bytes = fmt::format("{} bytes missing", barrier->bytes);
      if (barrier->bytes < 0) bytes = fmt::format("{} bytes in excess", -barrier->bytes);
      return fmt::format(
          "wait on the mbarrier at shared address {:#x} for a phase of parity {}: it is in phase {} with {} "
          "of {} arrivals pending and {}",
          group.wait.what + shared_base, group.wait.detail, barrier->phase, barrier->pending,
          barrier->expected, bytes);
    }
    default: return "are ready";
  }
}

/// The location of the instruction at which a group waits. At a CTA barrier the pc is already past it.
std::uint32_t location_of(const Program& program, const Group& group) {
  const std::uint32_t pc = group.pc - (group.wait.kind == Wait::Kind::barrier ? 1 : 0);
  return program.location_of[pc < program.location_of.size() ? pc : 0];
}

}  // namespace

std::string describe_threads(const Warp& warp, Mask mask) {
  const std::uint32_t first = warp.index * lanes;
  if (std::popcount(mask) == 1) return fmt::format("thread {}", first + first_lane(mask));
  return fmt::format("lanes {:#x} of warp {}", mask, warp.index);
}

Cta::Cta(Launch& cta_launch, Cluster& cta_cluster, std::uint32_t own_rank)
    : launch(cta_launch),
      cluster(cta_cluster),
      program(cta_launch.program),
      rank(own_rank),
      engine(*this),
      small_copies(*this),
      random(cta_launch.options.seed),
      shared_bytes_(program.static_shared_bytes + launch.shape.shared_bytes),
      // The copy engine accesses whole chunks of 16 bytes; bounds checks use shared_bytes_.
      shared_((std::size_t{shared_bytes_} + 15) / 16 * 16),
      shadow_(shared_.size()),
      writers_(shared_bytes_ / 4 + 4),
      loaded_(shared_bytes_ / 16 + 1),
      fences_(volume(launch.shape.block)),
      last_waits_(fences_.size()) {
  const std::size_t count = (fences_.size() + lanes - 1) / lanes;
  registers_.resize(count * program.register_bytes / 8);
  local_.resize(count * lanes * program.local_bytes);
  for (std::uint32_t i = 0; i < count; ++i) {
    auto warp = std::make_unique<Warp>();
    warp->cta = this;
    warp->program = &program;
    warp->registers =
        reinterpret_cast<std::byte*>(registers_.data()) + std::size_t{i} * program.register_bytes;
    warp->local = local_.data() + std::size_t{i} * lanes * program.local_bytes;
    warp->index = i;
    fill_constants(*warp);
    warps.push_back(std::move(warp));
  }
}

void Cta::fill_constants(Warp& warp) {
  predicate(warp, true_slot) = all_lanes;
  for (const ConstantSlot& constant : program.constants) {
    for (std::uint32_t lane = 0; lane < lanes; ++lane) {
      if (constant.wide) {
        put<std::uint64_t>(warp.registers + constant.slot, lane, constant.bits);
      } else {
        put<std::uint32_t>(warp.registers + constant.slot, lane, static_cast<std::uint32_t>(constant.bits));
      }
    }
  }
}

void Cta::start(const Triple& index) {
  ctaid = index;
  started = ended = reported = false;
  std::ranges::fill(shadow_, std::uint8_t{0});
  std::ranges::fill(writers_, 0U);
  std::ranges::fill(loaded_, 0U);
  std::ranges::fill(fences_, 0U);
  std::ranges::fill(last_waits_, 0U);
  mbarriers_.clear();
  surplus_arrivals.clear();
  barriers = {};
  engine.reset();
  small_copies.reset();
  executed_ = clock_reads_ = 0;
  thread_instructions_ = 0;
  // Each CTA has its own random sequence, which does not depend on the host thread that runs it.
  random.seed(launch.options.seed ^
              (ctaid[0] + 0x9e3779b9ULL * ctaid[1] + 0x85ebca6bULL * ctaid[2]) * 0x9e3779b97f4a7c15ULL);
  live_threads = static_cast<std::uint32_t>(fences_.size());
  free_registers = 0;
  for (auto& warp : warps) {
    const std::uint32_t left = live_threads - warp->index * lanes;
    warp->live = left >= lanes ? all_lanes : (1U << left) - 1;
    warp->active = warp->live;
    warp->pc = program.first;
    warp->groups.clear();
    warp->calls.reset();
    warp->warpgroup.reset();
    warp->registers_each = registers_at_launch(program);
    warp->timed_out = false;
    warp->gave_up.clear();
    begin_undefined(*warp);
    warp->cluster_arrived = warp->cluster_passed = warp->released = 0;
    warp->sync_arrivals = warp->used_barriers = 0;
    warp->update_join();
    for (const SpecialSlot& special : program.specials) {
      for (std::uint32_t lane = 0; lane < lanes; ++lane) {
        const std::uint32_t value = special.value({*this, *warp, lane}, special.dimension);
        if (special.is_predicate) {
          write_lane(*warp, special.slot, lane, value != 0);
        } else {
          put(warp->registers + special.slot, lane, value);
        }
      }
    }
  }
}

/// Orders warps so that a missing barrier is likely to show. In round 0 the order is reversed, because the
/// first warp usually does the set-up. Odd rounds are in order, even rounds are shuffled.
void Cta::order_warps(std::uint64_t round) {
  order_.clear();
  for (auto& warp : warps) order_.push_back(warp.get());
  if (round == 0) {
    std::ranges::reverse(order_);
  } else if (round % 2 == 0) {
    std::ranges::shuffle(order_, random);
  }
}

bool Cta::turn(std::uint64_t round, bool quiet) {
  bool ran = false;
  started = true;
  order_warps(round);
  for (Warp* warp : order_) {
    if (warp->live == 0) continue;
    if (!warp->choose()) {
      warp->wake([](const Wait& wait) { return wait.kind == Wait::Kind::yielded; });
      if (!warp->choose()) continue;
    }
    ran = true;
    const bool random_mode = launch.options.mode == SimOptions::Mode::random;
    // With short turns, other threads may run between the two stores of a thread that publishes a value.
    std::uint32_t limit = quiet ? quiet_slice : slice;
    if (random_mode && random() % 2 == 0) limit = 1 + random() % short_slice;
    execute(*warp, limit);
    if (random_mode && random() % 4 == 0) (void)engine.deliver();
  }
  return ran;
}

void Cta::finish() {
  finish_warpgroups(*this);
  engine.finish();
  if (races) races->cta_exited(*this);
  small_copies.reset();
  ended = true;
  ++changes;
}

void Cta::stop() {
  engine.reset();
  small_copies.reset();
  launch.thread_instructions += thread_instructions_;
}

bool Cta::time_out() {
  bool any = false;
  for (auto& warp : warps) {
    warp->wake([&](const Wait& wait) {
      if (wait.kind != Wait::Kind::mbarrier) return false;
      return warp->timed_out = any = true;
    });
  }
  return any;
}

std::byte* Cta::global(std::uint64_t address, std::uint64_t bytes) noexcept {
  const auto& regions = launch.regions;
  const auto memory_in = [&](const Region& region) -> std::byte* {
    const std::uint64_t at =
        address - region.begin;  // if `address` is below the region, this exceeds its size
    return at <= region.bytes && bytes <= region.bytes - at ? region.memory.get() + at : nullptr;
  };
  if (last_region_ < regions.size()) {
    if (std::byte* const memory = memory_in(regions[last_region_])) return memory;
  }
  const auto after = std::ranges::upper_bound(regions, address, {}, &Region::begin);
  if (launch.heap != nullptr && launch.heap->holds(address)) return launch.heap->at(address, bytes);
  if (after == regions.begin()) return nullptr;
  last_region_ = static_cast<std::size_t>(after - regions.begin()) - 1;
  return memory_in(regions[last_region_]);
}

std::optional<std::uint32_t> Cta::shared_offset(std::uint64_t address, std::uint64_t bytes) const noexcept {
  if (address - shared_window < window_bytes) address -= shared_window;
  if (address >> rank_shift == rank + 1) address -= std::uint64_t{rank + 1} << rank_shift;
  if (address < shared_base || address - shared_base > shared_bytes_ ||
      bytes > shared_bytes_ - (address - shared_base)) {
    return std::nullopt;
  }
  return static_cast<std::uint32_t>(address - shared_base);
}

bool Cta::is_peer_address(std::uint64_t address, Space space) const noexcept {
  if (address - shared_window < window_bytes) {
    address -= shared_window;
  } else if (space != Space::shared) {
    return false;
  }
  const std::uint64_t rank_plus_1 = address >> rank_shift;
  return rank_plus_1 != 0 && rank_plus_1 != rank + 1;
}

check::RuleId Cta::unmapped_rule(std::uint64_t address) const {
  const bool freed = launch.heap != nullptr && launch.heap->is_freed(address);
  return freed ? check::RuleId("heap.use-after-free") : check::RuleId("global.out-of-bounds");
}

std::string Cta::describe_global(std::uint64_t address, std::uint64_t bytes) const {
  const auto& regions = launch.regions;
  if (launch.heap != nullptr && (launch.heap->holds(address) || address < global_begin)) {
    std::string text = launch.heap->describe(address, bytes);
    if (!text.empty()) return text;
  }
  if (regions.empty()) return "nothing is allocated";
  const auto after = std::ranges::upper_bound(regions, address, {}, &Region::begin);
  const bool below = after != regions.begin();
  const Region& near = below ? *std::prev(after) : *after;
  const std::uint64_t end = near.begin + near.bytes;
  if (!below) {
    return fmt::format("no allocation holds it; the first, {} bytes, begins at {:#x}", near.bytes,
                       near.begin);
  }
  if (address < end) {
    return fmt::format("{} bytes more than the {} left of the allocation of {} bytes at {:#x}",
                       bytes - (end - address), end - address, near.bytes, near.begin);
  }
  return fmt::format("no allocation holds it; the one before, {} bytes at {:#x}, ends {} bytes earlier",
                     near.bytes, near.begin, address - end);
}

Mbarrier* Cta::mbarrier(std::uint32_t offset) noexcept {
  const auto found = mbarriers_.find(offset);
  return found == mbarriers_.end() ? nullptr : &found->second;
}

Mbarrier& Cta::make_mbarrier(std::uint32_t offset) {
  std::memset(shadow_.data() + offset, initialised | in_mbarrier, 8);
  std::memset(shared_.data() + offset, 0xba, 8);
  return mbarriers_[offset] = {};
}

void Cta::drop_mbarrier(std::uint32_t offset) {
  std::memset(shadow_.data() + offset, 0, 8);
  mbarriers_.erase(offset);
}

void Cta::fence_mbarriers(std::uint32_t thread) {
  for (auto& [offset, barrier] : mbarriers_) {
    if (thread_of_tag(barrier.writer) == thread) barrier.fenced = true;
  }
}

void Cta::settle(std::uint32_t offset, Mbarrier& barrier) {
  ++changes;
  if (barrier.pending != 0 || barrier.bytes != 0) return;
  if (const auto late = engine.in_flight_to(offset)) report_over_too_early(*this, offset, barrier, *late);
  barrier.transactions.next_phase();
  ++barrier.phase;
  barrier.pending = barrier.expected;
  if (races) races->mbarrier_phase(in_cluster(offset));
  for (auto& warp : warps) {
    warp->wake([&](const Wait& wait) { return wait.kind == Wait::Kind::mbarrier && wait.what == offset; });
  }
}

void Cta::release_barrier(std::uint32_t id) {
  ++changes;
  const NamedBarrier state = barriers[id];
  barriers[id] = {.expected =
                      state.expected};  // arrive_at_barrier() compares the next use's count with this one
  for (auto& warp : warps) {
    bool waits = false;
    for (Group& group : warp->groups) {
      if (group.wait.kind != Wait::Kind::barrier || group.wait.what != id) continue;
      waits = true;
      group.wait = {};
      if (races) races->barrier_pass(id, *warp, group.mask);
    }
    if (waits) {
      warp->red_true[id] = state.true_predicates;
      warp->red_total[id] = state.arrived;
    }
    warp->update_join();
  }
  if (races) races->barrier_done(id, *this);
}

void Cta::threads_exited(Warp& warp, Mask mask) {
  live_threads -= count_of(mask);
  cluster.threads_exited(warp, mask);
  ++changes;
  for (std::uint32_t id = 0; id < barriers.size(); ++id) {
    const NamedBarrier& barrier = barriers[id];
    if (barrier.arrived > 0 && barrier.expected == 0 && barrier.arrived >= live_threads) release_barrier(id);
  }
}

void Warp::report(std::uint32_t lane, check::RuleId rule, std::string found, std::string expected,
                  std::string_view remedy) const {
  cta->report(thread(lane), location(), rule, std::move(found), std::move(expected), remedy);
}

void Warp::fail(std::uint32_t lane, check::RuleId rule, std::string found, std::string expected,
                std::string_view remedy) const {
  report(lane, rule, std::move(found), std::move(expected), remedy);
  if (cta->launch.continues_after(rule->id)) throw Skip{};
  throw Stop{rule->id};
}

void Warp::stop(std::uint32_t lane, check::RuleId rule, std::string found, std::string expected,
                std::string_view remedy) const {
  report(lane, rule, std::move(found), std::move(expected), remedy);
  throw Stop{rule->id};
}

void Cta::report_unread_source(std::uint32_t thread, std::uint32_t location, std::string found) {
  if (launch.reports.count_repeat("exit.store-unread", program.locations[location].line)) return;
  report(thread, location, "exit.store-unread", std::move(found),
         "a CTA that lives until the copy has completed at its destination",
         "synchronise the cluster after the destination has waited for the copy");
}

void Cta::waited(const Warp& warp, std::uint32_t lane, std::uint32_t offset, Mbarrier& barrier) {
  const std::uint32_t thread = warp.thread(lane);
  barrier.uses.pass(number_of(thread), warp.location(), barrier.phase, warp.sync_arrivals);
  last_waits_[thread] = offset + 1;
}

Report Cta::make_report(std::uint32_t thread, std::uint32_t location, check::RuleId rule, std::string found,
                        std::string expected, std::string_view remedy) {
  Report report;
  check::describe(report, rule, std::move(found), std::move(expected), remedy);
  if (program.uses_device_headers) check::name_helper(report);
  locate(report, program, location);
  report.cta = ctaid;
  report.thread = thread_index(thread);
  return report;
}

void Cta::report(std::uint32_t thread, std::uint32_t location, check::RuleId rule, std::string found,
                 std::string expected, std::string_view remedy, About about) {
  reported = true;
  if (launch.options.keep_going && launch.reported >= Reports::max_violations) return;
  const CodeLocation& at = program.locations[location];
  Reports::Cause cause{.statement = at.statement,
                       .name = std::move(about.cause),
                       .symptom = std::string(about.symptom),
                       .symptom_line = about.symptom_line,
                       .replacement = std::move(about.replacement),
                       .leads = about.leads};
  if (about.other) {
    cause.other_line = program.locations[*about.other].line;
    // One missing barrier explains all races between shared accesses of the segments before and after it.
    if (cause.name.empty() && !rule->id.starts_with("race.global"))
      cause.name = fmt::format("segment {} with {}", at.segment, program.locations[*about.other].segment);
  }
  launch.reports.add(make_report(thread, location, rule, std::move(found), std::move(expected), remedy),
                     std::move(cause));
  if (!launch.options.keep_going || launch.allows(rule->id)) return;
  if (++launch.reported != Reports::max_violations) return;
  launch.reports.add(
      make_report(thread, location, "report-limit",
                  fmt::format("this is report {} of the launch, which ends here: its later writes are "
                              "missing",
                              Reports::max_violations)));
  launch.stopped = true;
}

std::string Cta::describe_waits() {
  std::string text;
  // Consecutive whole warps with the same wait share a line.
  std::uint32_t first = 0;
  std::uint32_t end = 0;
  std::string common;
  const std::string prefix =
      cluster.size() == 1 ? "\n    " : fmt::format("\n    CTA {} of the cluster, ", rank);
  const auto flush = [&] {
    if (!common.empty()) text += fmt::format("{}threads {} to {}{}", prefix, first, end - 1, common);
    common.clear();
  };
  for (const auto& warp : warps) {
    const std::uint32_t begin = warp->index * lanes;
    for (const Group& group : warp->groups) {
      std::string what =
          fmt::format(" at PTX line {} {}", program.locations[location_of(program, group)].line,
                      describe_wait(*this, group));
      if (group.mask == all_lanes && what == common && begin == end) {
        end += lanes;
        continue;
      }
      flush();
      if (group.mask == all_lanes) {
        first = begin;
        end = begin + lanes;
        common = std::move(what);
      } else {
        text += fmt::format("{}{}{}", prefix, describe_threads(*warp, group.mask), what);
      }
    }
  }
  flush();
  return text;
}

void Cta::report_deadlock(std::string found) {
  // Picks the wait that explains the others: waits for registers first, waits for products last.
  const auto priority = [](const Group& group) {
    if (group.wait.kind == Wait::Kind::registers) return 2;
    return group.wait.kind == Wait::Kind::products ? 0 : 1;
  };
  const Warp* first = nullptr;
  const Group* waiting = nullptr;
  for (const auto& warp : warps) {
    for (const Group& group : warp->groups) {
      if (waiting != nullptr && priority(group) <= priority(*waiting)) continue;
      first = warp.get();
      waiting = &group;
    }
  }
  // NOLINTNEXTLINE(clang-analyzer-core.NullDereference): in a deadlock some group waits
  const bool registers = waiting->wait.kind == Wait::Kind::registers;
  // A warp that has executed less than the rest of its warpgroup explains waits for registers or arrivals.
  if (report_lagging_warps(*this)) throw Stop{};
  const check::RuleId rule = registers ? check::RuleId("setmaxnreg.total") : check::RuleId("deadlock");
  report(first->thread(first_lane(waiting->mask)), location_of(program, *waiting), rule, std::move(found));
  throw Stop{rule->id};
}

}  // namespace sim

std::string Report::text() const {
  std::string where;
  if (ptx_line != 0) where = fmt::format(", PTX line {} \"{}\"", ptx_line, instruction);
  where += check::source_location(*this);
  return fmt::format("{}: {} [kernel {}{}, CTA {}, thread {}{}]\n{}", rule, found, check::shown_name(kernel),
                     where, sim::text_of(cta), sim::text_of(thread),
                     count > 1 ? fmt::format(", {} times", count) : "", check::advice(*this));
}

TMAJIT_END
