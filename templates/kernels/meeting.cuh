// How what threads and CTAs keep of a reduction comes together: in an order that never changes, whoever is last.
//@ # A thread has `n` states, of several items of what is kept; `meet()` waits for the other threads. A fact: columns.
#pragma once
#include "tmajit/division.cuh"
#include "tmajit/reduction_team.cuh"
#include "tmajit/shuffles.cuh"

namespace tmajit {

// Where a thread is: `own` is its item of what is kept in its CTA, `phase` its place among those that share it.
struct Place {
  u32 own;
  u32 phase;
};

__device__ __forceinline__ Place place_of(const params::ReductionTeam& team) {
  u32 rest = threadIdx.x;
  const u32 lane = take(team.lanes, rest);
  return columns ? Place{lane, rest} : Place{rest, lane};
}

//@ if columns
// What threads keep, put together in pairs: phase 0 has all of it.
template <class Reduced, u32 n, class Meet>
__device__ __forceinline__ void put_together(typename Reduced::State (&state)[n], const params::ReductionTeam& team, Place place,
                                             u8* shared, const Meet& meet) {
  using State = typename Reduced::State;
  State* const other = reinterpret_cast<State*>(shared);
#pragma unroll 1
  for (u32 left = team.phases; left > 1;) {
    const u32 half = (left + 1) / 2;
    const u32 lower = place.phase < half ? place.phase : place.phase - half;
    State* const at = other + lower * team.owners + place.own;
    const u32 apart = team.owners * half;
    if (place.phase >= half && place.phase < left) {
#pragma unroll
      for (u32 k = 0; k < n; ++k) at[k * apart] = state[k];
    }
    meet();
    if (place.phase < left - half) {
#pragma unroll
      for (u32 k = 0; k < n; ++k) state[k] = Reduced::both(state[k], at[k * apart]);
    }
    meet();
    left = half;
  }
}
//@ else
// What threads keep, put together: first by warps, then one warp's after the other. Phase 0 has all of it.
template <class Reduced, u32 n, class Meet>
__device__ __forceinline__ void put_together(typename Reduced::State (&state)[n], const params::ReductionTeam& team, Place place,
                                             u8* shared, const Meet& meet) {
  using State = typename Reduced::State;
#pragma unroll 1
  for (u32 bit = least(team.phases, 32) / 2; bit > 0; bit /= 2) {
#pragma unroll
    for (u32 k = 0; k < n; ++k) state[k] = Reduced::both(state[k], state_across(state[k], bit));
  }
  if (team.phases <= 32) return;
  State* const of_warp = reinterpret_cast<State*>(shared) + threadIdx.x / 32 * n;
  meet();
  if (threadIdx.x % 32 == 0) {
#pragma unroll
    for (u32 k = 0; k < n; ++k) of_warp[k] = state[k];
  }
  meet();
  if (place.phase != 0) return;
#pragma unroll 1
  for (u32 w = 1; w < team.phases / 32; ++w) {
#pragma unroll
    for (u32 k = 0; k < n; ++k) state[k] = Reduced::both(state[k], of_warp[w * n + k]);
  }
}
//@ end

// Leaves what the CTA has in scratch memory and counts it. Whether it was the last of `all`: the count is 0 again then.
template <class State, u32 n, class Meet>
__device__ __forceinline__ bool leave_part(const State (&state)[n], State* to, u32 owners, bool mine, u32* count, u32 all,
                                           const Meet& meet) {
  __shared__ u32 before;
  if (mine) {
#pragma unroll
    for (u32 k = 0; k < n; ++k) to[k * owners] = state[k];
  }
  meet();
  if (threadIdx.x == 0) {
    __threadfence();  // for all threads of the CTA, which have met
    before = atomicAdd(count, 1);
    __threadfence();
  }
  meet();
  const bool last = before + 1 == all;
  meet();
  if (last && threadIdx.x == 0) *count = 0;
  return last;
}

// The CTA's part goes to scratch memory, whose first bytes count the parts of each tile that are there: those of a group
// first, whose last CTA puts them together, then the groups. Whether the CTA was the last of all: then phase 0 has what
// all parts together make. All threads call it; `exists`: the thread's items of what is kept do.
template <class Reduced, u32 n, class Meet>
__device__ __forceinline__ bool put_parts_together(typename Reduced::State (&state)[n], const params::ReductionTeam& team,
                                                   Place place, bool exists, u32 tile, u32 part, u8* scratch, u8* shared,
                                                   const Meet& meet) {
  using State = typename Reduced::State;
  const u32 width = team.owners * n;
  State* const parts = reinterpret_cast<State*>(scratch + team.partials) + static_cast<u64>(tile) * team.parts * width + place.own;
  u32* const counts = reinterpret_cast<u32*>(scratch) + tile * (team.groups + 1);
  // The parts `first`, `first + step` and on, of which there are `count`.
  const auto read = [&](u32 first, u32 step, u32 count) {
#pragma unroll
    for (u32 k = 0; k < n; ++k) state[k] = Reduced::none();
    if (exists) {
#pragma unroll 8
      for (u32 p = place.phase; p < count; p += team.phases) {
#pragma unroll
        for (u32 k = 0; k < n; ++k) state[k] = Reduced::both(state[k], parts[(first + p * step) * width + k * team.owners]);
      }
    }
    put_together<Reduced>(state, team, place, shared, meet);
  };
  const bool mine = exists && place.phase == 0;
  const u32 group = part / team.group;
  const u32 first = group * team.group;
  const u32 members = team.parts - first < team.group ? team.parts - first : team.group;
  if (!leave_part(state, parts + part * width, team.owners, mine, counts + 1 + group, members, meet)) return false;
  read(first, 1, members);
  if (team.groups == 1) return true;
  if (!leave_part(state, parts + first * width, team.owners, mine, counts, team.groups, meet)) return false;
  read(0, team.group, team.groups);
  return true;
}

}  // namespace tmajit
