// Combines the states of threads and CTAs of a reduction, in an order that does not depend on timing.
//@ # A thread has `n` states, one for each of its results; `meet()` is a barrier of all threads that share them. Fact of the
//@ # kernel: columns.
#pragma once
#include "tmajit/division.cuh"
#include "tmajit/reduction_team.cuh"
#include "tmajit/shuffles.cuh"

namespace tmajit {

// A thread's position: the index of its result item in the tile, and its own index among the threads that share the item.
struct Place {
  u32 item;
  u32 thread;
};

__device__ __forceinline__ Place place_of(const params::ReductionTeam& team) {
  u32 rest = threadIdx.x;
  const u32 inner = take(team.inner_threads, rest);
  return columns ? Place{inner, rest} : Place{rest, inner};
}

//@ if columns
// Combines the threads' states in pairs: thread 0 of each item gets the total.
template <class Reduced, u32 n, class Meet>
__device__ __forceinline__ void combine_threads(typename Reduced::State (&state)[n], const params::ReductionTeam& team, Place place,
                                             u8* shared, const Meet& meet) {
  using State = typename Reduced::State;
  State* const exchanged = reinterpret_cast<State*>(shared);
#pragma unroll 1
  for (u32 left = team.threads_per_item; left > 1;) {
    const u32 half = (left + 1) / 2;
    const u32 lower = place.thread < half ? place.thread : place.thread - half;
    State* const at = exchanged + lower * team.tile_items + place.item;
    const u32 distance = team.tile_items * half;
    if (place.thread >= half && place.thread < left) {
#pragma unroll
      for (u32 k = 0; k < n; ++k) at[k * distance] = state[k];
    }
    meet();
    if (place.thread < left - half) {
#pragma unroll
      for (u32 k = 0; k < n; ++k) state[k] = Reduced::combine(state[k], at[k * distance]);
    }
    meet();
    left = half;
  }
}
//@ else
// Combines the threads' states within each warp, then those of the warps in order. Thread 0 of each item gets the total.
template <class Reduced, u32 n, class Meet>
__device__ __forceinline__ void combine_threads(typename Reduced::State (&state)[n], const params::ReductionTeam& team, Place place,
                                             u8* shared, const Meet& meet) {
  using State = typename Reduced::State;
#pragma unroll 1
  for (u32 bit = least(team.threads_per_item, 32) / 2; bit > 0; bit /= 2) {
#pragma unroll
    for (u32 k = 0; k < n; ++k) state[k] = Reduced::combine(state[k], state_across(state[k], bit));
  }
  if (team.threads_per_item <= 32) return;
  State* const warp_states = reinterpret_cast<State*>(shared) + threadIdx.x / 32 * n;
  meet();
  if (threadIdx.x % 32 == 0) {
#pragma unroll
    for (u32 k = 0; k < n; ++k) warp_states[k] = state[k];
  }
  meet();
  if (place.thread != 0) return;
#pragma unroll 1
  for (u32 w = 1; w < team.threads_per_item / 32; ++w) {
#pragma unroll
    for (u32 k = 0; k < n; ++k) state[k] = Reduced::combine(state[k], warp_states[w * n + k]);
  }
}
//@ end

// Writes the CTA's states to scratch memory and counts the CTA. Returns whether it is the last of `all`, which resets the count. All
// threads call meanwhile() while memory counts the CTA.
template <class State, u32 n, class Meet, class Meanwhile>
__device__ __forceinline__ bool publish_part(const State (&state)[n], State* to, u32 tile_items, bool writes, u32* count, u32 all,
                                           const Meet& meet, const Meanwhile& meanwhile) {
  __shared__ u32 before;
  if (writes) {
#pragma unroll
    for (u32 k = 0; k < n; ++k) to[k * tile_items] = state[k];
  }
  meet();
  u32 counted = 0;
  if (threadIdx.x == 0) {
    __threadfence();  // orders the writes of all threads of the CTA: they came before the barrier
    counted = atomicAdd(count, 1);
  }
  meanwhile();
  if (threadIdx.x == 0) {
    before = counted;
    if (counted + 1 == all) __threadfence();  // orders the reads of the other CTAs' parts: they come after the barrier
  }
  meet();
  const bool last = before + 1 == all;
  meet();
  if (last && threadIdx.x == 0) *count = 0;
  return last;
}

// Writes the CTA's part to scratch memory, whose first bytes count the published parts of each tile. The last CTA of a group
// combines the group's parts, and the last group combines the groups. Returns whether the CTA is the last of all: thread 0 of
// each item then has the total. All threads call it; `exists` tells whether the thread has results. Each thread calls meanwhile()
// once.
template <class Reduced, u32 n, class Meet, class Meanwhile>
__device__ __forceinline__ bool combine_parts(typename Reduced::State (&state)[n], const params::ReductionTeam& team,
                                                   Place place, bool exists, u32 tile, u32 part, u8* scratch, u8* shared,
                                                   const Meet& meet, const Meanwhile& meanwhile) {
  using State = typename Reduced::State;
  const u32 width = team.tile_items * n;
  State* const partials = reinterpret_cast<State*>(scratch + team.partials);
  State* const parts = partials + static_cast<u64>(tile) * team.parts * width + place.item;
  u32* const counts = reinterpret_cast<u32*>(scratch) + tile * (team.groups + 1);
  // Combines `count` parts: `first`, `first + step`, `first + 2 * step` …
  const auto combine = [&](u32 first, u32 step, u32 count) {
#pragma unroll
    for (u32 k = 0; k < n; ++k) state[k] = Reduced::identity();
    if (exists) {
#pragma unroll 8
      for (u32 p = place.thread; p < count; p += team.threads_per_item) {
#pragma unroll
        for (u32 k = 0; k < n; ++k) {
          state[k] = Reduced::combine(state[k], parts[(first + p * step) * width + k * team.tile_items]);
        }
      }
    }
    combine_threads<Reduced>(state, team, place, shared, meet);
  };
  const bool writes = exists && place.thread == 0;
  const u32 group = part / team.group;
  const u32 first = group * team.group;
  const u32 members = team.parts - first < team.group ? team.parts - first : team.group;
  if (!publish_part(state, parts + part * width, team.tile_items, writes, counts + 1 + group, members, meet, meanwhile))
    return false;
  combine(first, 1, members);
  if (team.groups == 1) return true;
  if (!publish_part(state, parts + first * width, team.tile_items, writes, counts, team.groups, meet, [] {})) return false;
  combine(0, team.group, team.groups);
  return true;
}

}  // namespace tmajit
