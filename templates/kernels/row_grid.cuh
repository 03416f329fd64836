// The team of a row that no cluster holds: a group of CTAs that are resident at once and exchange states through scratch memory.
//@ # `plan.group` neighbouring CTAs are a group. A CTA publishes its state of a reduction in its slot, then spins on the slots of its
//@ # group until their tags are those of the row. CTAs wait for each other in no other way. Rows use two sets of slots in turn, so that
//@ # a CTA that is one row ahead overwrites no slot that another CTA still reads. Scratch memory begins with a counter for each group,
//@ # and all of it is zero before and after the kernel.
#pragma once
#include "tmajit/row_teams.cuh"
#include "tmajit/slot.cuh"

namespace tmajit {

// All threads of a group.
struct GridTeam {
  static constexpr bool lanes_only = false;
  static constexpr u32 turns_of_slots = 2;
  u32 size;
  u32 index;
  u32 group;      // number of the group
  u32 ctas;       // of the group
  u32 round = 0;  // rows before this one
  u8* scratch;

  __device__ __forceinline__ GridTeam(u32 ctas_of_group, u8* memory)
      : size(ctas_of_group * blockDim.x), group(blockIdx.x / ctas_of_group), ctas(ctas_of_group), scratch(memory) {
    index = rank() * blockDim.x + threadIdx.x;
  }
  __device__ __forceinline__ u32 rank() const { return blockIdx.x - group * ctas; }
  __device__ __forceinline__ u32 groups() const { return gridDim.x / ctas; }

  template <class Reduced, u32 step>
  __device__ __forceinline__ typename Reduced::State combined(typename Reduced::State state) const {
    using State = typename Reduced::State;
    static_assert(sizeof(Slot<State>) <= params::row_slot_bytes);
    state = combined_cta<Reduced, 2 * step>(state);
    const u32 turn = round % turns_of_slots * reductions + step;
    if (threadIdx.x == 0) Slot<State>::publish(slot(turn, rank()), round + 1, state);
    state = Reduced::identity();
#pragma unroll 1
    for (u32 n = threadIdx.x; n < ctas; n += blockDim.x) {
      Slot<State> found;
      do {
        found.load(slot(turn, n));
      } while (!found.has_tag(round + 1));
      state = Reduced::combine(state, found.state());
    }
    return combined_cta<Reduced, 2 * step + 1>(state);
  }

  // All threads call it at the end. The last CTA of the group sets the group's scratch memory to zero.
  __device__ __forceinline__ void clear() const {
    __shared__ bool is_last;
    u32* const left = reinterpret_cast<u32*>(scratch) + group;  // CTAs that have read all slots that they wait for
    if (threadIdx.x == 0) is_last = atomicAdd(left, 1) + 1 == ctas;
    __syncthreads();
    if (!is_last) return;
    constexpr u32 words = params::row_slot_bytes / 8;
#pragma unroll 1
    for (u32 turn = 0; turn < turns_of_slots * reductions; ++turn) {
#pragma unroll 1
      for (u32 n = threadIdx.x; n < ctas * words; n += blockDim.x) ptx::store_relaxed(slot(turn, 0) + 8 * n, 0);
    }
    if (threadIdx.x == 0) *left = 0;
  }

 private:
  __device__ __forceinline__ u8* slot(u32 turn, u32 cta) const {
    return scratch + params::row_counter_bytes + (turn * gridDim.x + group * ctas + cta) * params::row_slot_bytes;
  }
};

}  // namespace tmajit
