#include "sim/cluster.hpp"

#include <bit>

#include <spdlog/fmt/fmt.h>

TMAJIT_BEGIN

std::string Report::text() const {
  const auto triple = [](const std::array<std::uint32_t, 3>& v) {
    return fmt::format("({}, {}, {})", v[0], v[1], v[2]);
  };
  std::string where;
  if (ptx_line != 0) where = fmt::format(", PTX line {} \"{}\"", ptx_line, instruction);
  if (source_line != 0) where += fmt::format(", source line {}", source_line);
  return fmt::format("{}: {} [kernel {}{}, CTA {}, thread {}{}]\n  legal: {}\n  remedy: {}", rule, found,
                     kernel, where, triple(cta), triple(thread),
                     count > 1 ? fmt::format(", {} times", count) : "", expected, remedy);
}

namespace sim {

void Cta::report(const Warp* warp, std::uint32_t lane, std::uint32_t place, std::string_view rule,
                 std::string found, std::string expected, std::string remedy) {
  Report report;
  report.rule = rule;
  report.kernel = program.entry;
  if (place < program.place.size()) {
    const Place& at = program.place[place];
    report.ptx_line = at.line;
    report.source_line = at.source_line;
    report.instruction = at.text;
  }
  report.cta = ctaid;
  report.thread = thread_index(warp != nullptr ? warp->index * lanes + lane : lane);
  report.found = std::move(found);
  report.expected = std::move(expected);
  report.remedy = std::move(remedy);
  launch.reports.add(std::move(report));
}

namespace {

std::string describe_threads(const Warp& warp, Mask mask) {
  const std::uint32_t first = warp.index * lanes;
  if (std::popcount(mask) == 1)
    return fmt::format("thread {}", first + static_cast<std::uint32_t>(std::countr_zero(mask)));
  return fmt::format("lanes {:#x} of warp {}", mask, warp.index);
}

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
    case Wait::Kind::warp: return fmt::format("wait for lanes {:#x} of their warp", group.wait.what);
    case Wait::Kind::mbarrier: {
      const Mbarrier* barrier = cta.mbarrier(group.wait.what);
      if (barrier == nullptr) return "wait on an mbarrier that has been invalidated";
      std::string bytes = "no bytes missing";
      if (barrier->bytes > 0) bytes = fmt::format("{} bytes missing", barrier->bytes);
      if (barrier->bytes < 0) bytes = fmt::format("{} bytes in excess", -barrier->bytes);
      return fmt::format(
          "wait on the mbarrier at shared address {:#x} for a phase of parity {}: it is in phase {} with {} "
          "of {} "
          "arrivals pending and {}",
          group.wait.what + shared_base, group.wait.detail, barrier->phase, barrier->pending,
          barrier->expected, bytes);
    }
    default: return "are ready";
  }
}

/// At a CTA barrier the counter has moved on already.
std::uint32_t place_of(const Program& program, const Group& group) {
  const std::uint32_t pc = group.pc - (group.wait.kind == Wait::Kind::barrier ? 1 : 0);
  return program.places[pc < program.places.size() ? pc : 0];
}

}  // namespace

std::string Cta::describe_waits() {
  std::string text;
  // Whole warps that wait for the same, one after the other, are one line.
  std::uint32_t first = 0;
  std::uint32_t end = 0;
  std::string shared;
  const std::string prefix =
      cluster.size() == 1 ? "\n    " : fmt::format("\n    CTA {} of the cluster, ", rank);
  const auto flush = [&] {
    if (!shared.empty()) text += fmt::format("{}threads {} to {}{}", prefix, first, end - 1, shared);
    shared.clear();
  };
  for (const auto& warp : warps) {
    const std::uint32_t begin = warp->index * lanes;
    for (const Group& group : warp->groups) {
      std::string what = fmt::format(" at PTX line {} {}", program.place[place_of(program, group)].line,
                                     describe_wait(*this, group));
      if (group.mask == all_lanes && what == shared && begin == end) {
        end += lanes;
        continue;
      }
      flush();
      if (group.mask == all_lanes) {
        first = begin;
        end = begin + lanes;
        shared = std::move(what);
      } else {
        text += prefix + describe_threads(*warp, group.mask) + what;
      }
    }
  }
  flush();
  return text;
}

void Cta::report_deadlock(std::string found) {
  for (const auto& warp : warps) {
    if (warp->groups.empty()) continue;
    const Group& group = warp->groups.front();
    report(
        warp.get(), static_cast<std::uint32_t>(std::countr_zero(group.mask)), place_of(program, group),
        "deadlock", std::move(found), "every wait is ended by an arrival and its bytes",
        "compare expect_tx with the bytes the loads deliver, the arrivals with the count of mbarrier.init, "
        "and the parity waited for with the phase");
    break;
  }
  throw Stop{};
}

void Cta::report_limit(const Warp& warp) {
  const std::uint32_t at = program.places[warp.pc < program.places.size() ? warp.pc : 0];
  report(&warp, 0, at, "instruction-limit",
         fmt::format("the CTA has executed {} warp-instructions and has not ended", executed_),
         fmt::format("at most {} (SimOptions::instruction_limit, jitc run --sim-limit)",
                     launch.options.instruction_limit),
         "look for a loop that never ends, or raise the limit");
  throw Stop{};
}

}  // namespace sim
TMAJIT_END
