/// The loops that execute a warp's micro-operations, and the conditions that end them.
#include "sim/cta/cta.hpp"
#include "sim/cta/warpgroup.hpp"
#include "sim/undefined/undefined.hpp"

#include <bit>
#include <chrono>
#include <utility>

#include <spdlog/fmt/fmt.h>

TMAJIT_BEGIN
namespace sim {
namespace {

/// After this many thread-instructions a CTA adds its count to the launch's, for SimOptions::progress.
constexpr std::uint64_t progress_batch = 1 << 20;

}  // namespace

template <bool checks_products, bool tracks_undefined>
std::uint32_t Cta::run(Warp& warp, std::uint32_t limit) {
  const MicroOp* const code = program.code.data();
  std::uint64_t thread_instructions = 0;
  std::uint32_t executed = 0;
  while (warp.running && executed < limit) {
    const std::uint32_t pc = warp.pc;
    const MicroOp& op = code[pc];
    const Mask guard = read_mask(warp, op.guard);
    const Mask mask = warp.active & guard;
    if constexpr (checks_products) {
      if (mask != 0 && program.watch_begin[pc] != program.watch_begin[pc + 1]) watch_registers(warp, mask);
    }
    if constexpr (tracks_undefined) warp.undefined->before(warp, mask);
    ++warp.pc;
    ++executed;
    thread_instructions += mask == all_lanes ? lanes : static_cast<std::uint64_t>(std::popcount(mask));
    if (mask != 0) {
      try {
        op.handler(warp, op, mask);
      } catch (const Skip&) {
        // The remaining effects of the instruction are skipped.
      }
    }
    if constexpr (tracks_undefined) warp.undefined->after(warp, pc, mask & warp.active);
    if (warp.pc >= warp.join && warp.running) {
      warp.choose();
      if (!tracks_undefined && warp.changes_loop) break;
    }
    if (tracks_undefined && !warp.undefined->any()) break;
  }
  thread_instructions_ += thread_instructions;
  executed_ += executed;
  return executed;
}

void Cta::execute(Warp& warp, std::uint32_t limit) {
  while (warp.running && limit > 0) {
    if (std::exchange(warp.changes_loop, false)) warp.update_join();
    const bool tracks_undefined = warp.undefined && warp.undefined->any();
    if (program.watched == 0) [[likely]] {
      limit -= tracks_undefined ? run<false, true>(warp, limit) : run<false, false>(warp, limit);
    } else {
      limit -= tracks_undefined ? run<true, true>(warp, limit) : run<true, false>(warp, limit);
    }
  }
  if (thread_instructions_ >= progress_batch)
    launch.thread_instructions += std::exchange(thread_instructions_, 0);
  if (executed_ > launch.options.instruction_limit) report_limit(warp);
  if (launch.options.seconds_limit > 0 && std::chrono::steady_clock::now() > launch.deadline)
    report_late(warp);
  // The turn is over. The group may spin for other lanes of its warp, so those run first in the next turn.
  if (warp.running && !warp.groups.empty()) warp.park(warp.active, warp.pc, {Wait::Kind::yielded, 0, 0});
}

void Cta::report_limit(const Warp& warp) {
  const std::uint32_t at = program.location_of[warp.pc < program.location_of.size() ? warp.pc : 0];
  report(warp.thread(0), at, "instruction-limit",
         fmt::format("the CTA has executed {} warp-instructions and has not ended", executed_),
         fmt::format("at most {} (SimOptions::instruction_limit, jitc run --sim-limit)",
                     launch.options.instruction_limit));
  throw Stop{"instruction-limit"};
}

void Cta::report_late(const Warp& warp) {
  // Only the first host thread that misses the deadline reports it.
  if (launch.deadline_reported.exchange(true)) throw Stop{};
  std::string found = fmt::format(
      "the launch has run for {} s: {} of {} CTAs have ended; in CTA {}:", launch.options.seconds_limit,
      launch.ctas_done.load(), volume(launch.shape.grid), text_of(ctaid));
  for (const auto& each : warps) {
    if (each->active == 0) continue;
    found += fmt::format(
        "\n    {} at PTX line {} run", describe_threads(*each, each->active),
        program.locations[program.location_of[each->pc < program.location_of.size() ? each->pc : 0]].line);
  }
  found += describe_waits();
  report(warp.thread(0), program.location_of[warp.pc < program.location_of.size() ? warp.pc : 0],
         "time-limit", std::move(found));
  throw Stop{"time-limit"};
}

}  // namespace sim
TMAJIT_END
