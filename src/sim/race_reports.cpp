/// The words of race reports: both accesses, and the edge that is missing.
#include "sim/cta.hpp"
#include "sim/races.hpp"

#include <spdlog/fmt/fmt.h>

TMAJIT_BEGIN
namespace sim {
namespace {

bool is_copy(const Access& access) {
  return access.agent >= first_agent;
}

/// Loads write shared memory and read global memory, stores the other way round.
bool is_load(bool write, Memory memory) {
  return write == (memory == Memory::shared);
}

struct Advice {
  const char* expected;
  const char* remedy;
};

Advice advise(const Conflict& conflict, const Touch& by, Memory memory) {
  const Access& earlier = conflict.earlier;
  if (((earlier.place | by.access.place) & Access::object) != 0) {
    return {
        "mbarrier.init, then a barrier of the CTA, before other threads use it; the last use, then a "
        "barrier, before mbarrier.inval",
        "call __syncthreads() between the thread that initialises or invalidates it and those who use it"};
  }
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
  return {"a barrier, or a release that the second thread acquires, between the two",
          "call __syncthreads() between them"};
}

}  // namespace

std::string Races::describe(const Access& access, std::uint32_t lane, bool write, Memory memory) const {
  const auto thread = cta_.thread_index(access.thread(lane));
  std::string who = fmt::format("thread ({}, {}, {})", thread[0], thread[1], thread[2]);
  if (access.cta != number_) {
    const auto& grid = cta_.launch.shape.grid;
    who += fmt::format(" of CTA ({}, {}, {})", access.cta % grid[0], access.cta / grid[0] % grid[1],
                       access.cta / grid[0] / grid[1]);
  }
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

void Races::report(const Conflict& conflict, const Touch& by, Memory memory, std::uint64_t line) {
  const char* const space = memory == Memory::shared ? "shared" : "global";
  const bool object = ((conflict.earlier.place | by.access.place) & Access::object) != 0;
  const std::string rule =
      object ? "race.mbarrier"
             : fmt::format("race.{}-{}-{}", space, conflict.earlier_write ? "write" : "read",
                           by.write ? "write" : "read");
  const std::uint32_t place = by.access.place & Access::place_mask;
  if (cta_.launch.reports.again(rule, cta_.program.place[place].line)) return;
  const std::uint64_t address = line + conflict.byte + (memory == Memory::shared ? shared_base : 0);
  const Advice advice = advise(conflict, by, memory);
  cta_.report(nullptr, by.access.thread(conflict.lane), place, rule,
              fmt::format("{} memory at {:#x}: nothing orders {} after {}", space, address,
                          describe(by.access, conflict.lane, by.write, memory),
                          describe(conflict.earlier, conflict.earlier_lane, conflict.earlier_write, memory)),
              advice.expected, advice.remedy);
}

}  // namespace sim
TMAJIT_END
