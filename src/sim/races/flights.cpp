/// Checks accesses before griddepcontrol.wait against the accesses of earlier launches that may still run on
/// a GPU.
#include "sim/launch/flights.hpp"

#include "sim/cta/cta.hpp"
#include "sim/races/races.hpp"

#include <spdlog/fmt/fmt.h>

TMAJIT_BEGIN
namespace sim {
namespace {

/// "the write by thread (0, 0, 0) of CTA (1, 0, 0) of kernel "fill" (PTX line 7 "st.global.u32 …")"
std::string describe(const Flight& flight, const Conflict& conflict) {
  const Access& access = conflict.earlier;
  const std::uint64_t warps = (volume(flight.shape.block) + lanes - 1) / lanes;
  const std::uint32_t thread = access.thread(conflict.earlier_lane, warps);
  const CodeLocation& location = flight.program->locations[access.location & Access::location_mask];
  return fmt::format("the {}{} thread {} of CTA {} of kernel \"{}\" (PTX line {} \"{}\")",
                     conflict.earlier_write ? "write" : "read",
                     access.is_copy() ? " by the bulk copy that was issued by" : " by",
                     text_of(position_in(flight.shape.block, thread)),
                     text_of(ctaid(flight.shape.grid, flight.cluster, access.cluster, access.rank())),
                     flight.program->entry, location.line, location.text);
}

}  // namespace

void Races::wait_for_flights(const Warp& warp, Mask mask) {
  clocks_of(warp).learn(mask, warp.live, flights_agent_, 1);
}

void Races::acquire_of_flights(const Warp& warp, Mask mask, std::uint64_t at) {
  for (const auto& flight : *flights_) {
    if (flight->order != nullptr && flight->order->releases.latest(at) != nullptr)
      wait_for_flights(warp, mask);
  }
}

void Races::check_flights(std::uint64_t at, std::uint64_t bytes, std::uint32_t lane, const Touch& touch) {
  const Clock& known = touch.knowledge != nullptr ? touch.knowledge->of(lane) : *touch.clock;
  if (known.time_of(flights_agent_) != 0) return;
  for (const auto& flight : *flights_) {
    if (flight->order == nullptr) continue;
    for (std::uint64_t line = line_of(at); line < at + bytes; line += line_bytes) {
      const auto found = flight->order->shadow.touched(line);
      if (!found) continue;
      const std::lock_guard lock(*found->block);
      std::optional<Conflict> conflict =
          found->block->last(found->line, bytes_in(line, at, at + bytes), !touch.write);
      // Two strong accesses with sufficient scope are no race: grids may synchronise with them.
      if (!conflict || morally_strong(conflict->earlier, touch.access)) continue;
      conflict->lane = lane;
      report_flight(*flight, *conflict, touch, line);
      return;
    }
  }
}

void Races::report_flight(const Flight& flight, const Conflict& conflict, const Touch& touch,
                          std::uint64_t line) {
  const check::RuleId rule("race.launch-before");
  const std::uint32_t location = touch.access.location & Access::location_mask;
  Cta& cta = cluster_.cta(touch.access.rank());
  if (cta.launch.reports.count_repeat(rule->id, cta.program.locations[location].line)) return;
  cta.report(
      touch.access.thread(conflict.lane, warps_each_), location, rule,
      fmt::format("global memory at {:#x}: the launch may begin before an earlier one has ended "
                  "(LaunchShape::overlaps), and {} comes before its griddepcontrol.wait, or without it: "
                  "nothing orders it after {}",
                  line + conflict.byte,
                  describe(touch.access, conflict.lane, touch.write, Memory::global, cta.rank),
                  sim::describe(flight, conflict)));
}

}  // namespace sim
TMAJIT_END
