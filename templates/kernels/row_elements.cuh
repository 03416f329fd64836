// The elements of a row that a thread reads: in registers, in shared memory, or loaded again for each step.
//@ # Elements have load(plan, team, row), which begins to load a row, wait(), and each(plan, team, row, visit), which calls
//@ # visit(inputs, turn, first, range) for each vector of the thread, without late sources. each_complete() loads these, too. Facts of
//@ # the kernel: turns, Team, those of row_access.cuh. The flag `staged` adds the elements in shared memory, `grid` the team of row_grid.cuh.
#pragma once
#include "tmajit/row_access.cuh"
//@ if grid
#include "tmajit/row_grid.cuh"
//@ else
#include "tmajit/row_teams.cuh"
//@ end
//@ if staged
#include "tmajit/bulk.cuh"
//@ end

namespace tmajit {

// The first element of vector `turn` of a thread, counted from the beginning of its row.
__device__ __forceinline__ i32 first_element(const Team& team, const Row& row, u32 turn) {
  return static_cast<i32>((turn * team.size + team.index) * vector) - row.before;
}
__device__ __forceinline__ Range elements_at(const Row& row, i32 first) {
  const Range range = Edges::range(first, row.length);
  return Edges::cuts && row.length == 0 ? Range{0, 0} : range;
}

// A thread holds its elements in registers.
struct HeldElements {
  AllInputs inputs[turns] = {};
  Range range[turns];

  __device__ __forceinline__ void wait() const {}
  __device__ __forceinline__ void load(const Plan& plan, const Team& team, const Row& row) {
#pragma unroll
    for (u32 turn = 0; turn < turns; ++turn) {
      if (is_idle(plan, turn)) break;
      const i32 first = first_element(team, row, turn);
      range[turn] = elements_at(row, first);
      if (is_accessed(range[turn])) load_inputs<false>(inputs[turn], plan, row, first, range[turn]);
    }
  }
  // Calls visit(inputs, turn, first, range) for each vector of the thread, without late sources. If lanes share a row, `range` may be
  // empty: that costs less than a branch.
  template <class Visit>
  __device__ __forceinline__ void each(const Plan& plan, const Team& team, const Row& row, const Visit& visit) const {
#pragma unroll
    for (u32 turn = 0; turn < turns; ++turn) {
      if (is_idle(plan, turn)) break;
      if (Team::lanes_only || range[turn].begin < range[turn].end) visit(inputs[turn], turn, first_element(team, row, turn), range[turn]);
    }
  }
  // The same for vectors that are not empty, with late sources, which are loaded one vector ahead.
  template <class Visit>
  __device__ __forceinline__ void each_complete(const Plan& plan, const Team& team, const Row& row, const Visit& visit) const {
    AllInputs next = inputs[0];
    if (is_accessed(range[0])) load_inputs<true>(next, plan, row, first_element(team, row, 0), range[0]);
#pragma unroll
    for (u32 turn = 0; turn < turns; ++turn) {
      if (is_idle(plan, turn)) break;
      const AllInputs now = next;
      if (turn + 1 < turns && !is_idle(plan, turn + 1)) {
        next = inputs[turn + 1];
        const Range ahead = range[turn + 1];
        if (is_accessed(ahead)) load_inputs<true>(next, plan, row, first_element(team, row, turn + 1), ahead);
      }
      if (is_accessed(range[turn])) visit(now, turn, first_element(team, row, turn), range[turn]);
    }
  }

 private:
  // Single elements are accessed by predicated instructions, which cost less than branches.
  static __device__ __forceinline__ bool is_accessed(Range range) { return vector == 1 || range.begin < range.end; }
  // Whether no lane has a vector in this turn. The row needs more than half of the kernel's turns. In other teams the ranges of
  // whole warps are empty.
  static __device__ __forceinline__ bool is_idle(const Plan& plan, u32 turn) {
    return Team::lanes_only && turn > turns / 2 && turn >= plan.turns;
  }
};
// A thread loads its elements for each step. Results are stored from the end of the row to its beginning: the L2 cache still holds what
// the last reduction loaded last.
struct ReloadedElements {
  __device__ __forceinline__ void wait() const {}
  __device__ __forceinline__ void load(const Plan&, const Team&, const Row&) {}
  template <class Visit>
  __device__ __forceinline__ void each(const Plan& plan, const Team& team, const Row& row, const Visit& visit) const {
    walk<false>(plan, team, row, visit);
  }
  template <class Visit>
  __device__ __forceinline__ void each_complete(const Plan& plan, const Team& team, const Row& row, const Visit& visit) const {
    walk<true>(plan, team, row, visit);
  }

 private:
  template <bool complete, class Visit>
  __device__ __forceinline__ void walk(const Plan& plan, const Team& team, const Row& row, const Visit& visit) const {
    const u32 vectors = (plan.length + static_cast<u32>(row.before) + vector - 1) / vector;
    const u32 rounds = (vectors + turns * team.size - 1) / (turns * team.size);
#pragma unroll 1
    for (u32 round = 0; round < rounds; ++round) {
      const u32 turn = (complete ? rounds - 1 - round : round) * turns;
      AllInputs inputs[turns];
      Range range[turns];
#pragma unroll
      for (u32 t = 0; t < turns; ++t) {
        const i32 first = first_element(team, row, turn + t);
        range[t] = elements_at(row, first);
        if (range[t].begin >= range[t].end) continue;
        load_inputs<false>(inputs[t], plan, row, first, range[t]);
        if (complete) load_inputs<true>(inputs[t], plan, row, first, range[t]);
      }
#pragma unroll
      for (u32 t = 0; t < turns; ++t) {
        if (range[t].begin < range[t].end) visit(inputs[t], t, first_element(team, row, turn + t), range[t]);
      }
    }
  }
};

//@ if staged
// A CTA copies its part of the row, consecutive vectors, into shared memory, where it stays. Sources that are not staged, such as
// weights, are loaded for each step.
struct StagedElements {
  u32 barrier;       // shared address; counts the bytes of the copies
  u32 first_vector;  // the number of the CTA's first vector in the row
  u32 vectors;       // of the CTA

  __device__ __forceinline__ void load(const Plan& plan, const Team& team, const Row& row) {
    __shared__ u64 word;
    barrier = ptx::shared_address(&word);
    const u32 all = (plan.length + static_cast<u32>(row.before) + vector - 1) / vector;
    first_vector = least(team.rank() * plan.part, all);
    vectors = least(plan.part, all - first_vector);
    if (threadIdx.x != 0) return;
    ptx::mbarrier::init(barrier, 1);
    ptx::fence_mbarrier_init();
    copy_all(AllSources{}, plan, row);
  }
  __device__ __forceinline__ void wait() const {
    __syncthreads();
    ptx::mbarrier::wait(barrier, 0);
  }
  template <class Visit>
  __device__ __forceinline__ void each(const Plan& plan, const Team&, const Row& row, const Visit& visit) const {
    walk<false>(AllSources{}, plan, row, visit);
  }
  template <class Visit>
  __device__ __forceinline__ void each_complete(const Plan& plan, const Team&, const Row& row, const Visit& visit) const {
    walk<true>(AllSources{}, plan, row, visit);
  }

 private:
  static constexpr u32 vector_bytes = 16;

  // The index of the first element of the CTA's vector n in its row.
  __device__ __forceinline__ i32 element(const Row& row, u32 n) const { return static_cast<i32>((first_vector + n) * vector) - row.before; }
  template <u32 i>
  static __device__ __forceinline__ const u8* address(const Plan& plan, const Row& row, i32 first) {
    return plan.first[i + 1] + row.at[i + 1] + static_cast<i64>(first) * sizeof(typename Source<i>::Element);
  }
  // Source i's vector n in shared memory.
  template <u32 i>
  static __device__ __forceinline__ u8* staged_vector(const Plan& plan, u32 n) {
    extern __shared__ __align__(16) u8 staged_vectors[];
    return staged_vectors + (Source<i>::slot * plan.part + n) * vector_bytes;
  }

  // The vectors of source i that the CTA copies: all but the operand's first and last one, if these reach beyond its memory.
  template <u32 i>
  __device__ __forceinline__ Range copied(const Plan& plan, const Row& row) const {
    if (!Source<i>::is_staged || vectors == 0) return {0, 0};
    Range range{0, vectors};
    if (Edges::cuts && !is_reached<i + 1>(plan, address<i>(plan, row, element(row, 0)))) range.begin = 1;
    if (Edges::cuts && vectors > range.begin && !is_reached<i + 1>(plan, address<i>(plan, row, element(row, vectors - 1)))) --range.end;
    return range;
  }
  template <u32 i>
  __device__ __forceinline__ void copy(const Plan& plan, const Row& row, Range range) const {
    if constexpr (Source<i>::is_staged) {
      if (range.begin == range.end) return;
      const u8* const from = address<i>(plan, row, element(row, range.begin));
      ptx::bulk_load(ptx::shared_address(staged_vector<i>(plan, range.begin)), from, (range.end - range.begin) * vector_bytes, barrier);
    }
  }
  template <u32... i>
  __device__ __forceinline__ void copy_all(Indices<i...>, const Plan& plan, const Row& row) const {
    const Range range[] = {copied<i>(plan, row)...};
    u32 count = 0;
    ((count += range[i].end - range[i].begin), ...);
    ptx::mbarrier::arrive_expect_tx(barrier, count * vector_bytes);
    (copy<i>(plan, row, range[i]), ...);
  }

  template <u32 i, bool complete>
  static __device__ __forceinline__ void load_source(Input<i>& input, const Plan& plan, const Row& row, u32 n, i32 first, Range range) {
    if constexpr (Source<i>::is_staged) {
      const u8* const at = address<i>(plan, row, first);
      if (Edges::cuts && !is_reached<i + 1>(plan, at)) return load_run(input.bits, at, range);
      const Vector16 loaded = *reinterpret_cast<const Vector16*>(staged_vector<i>(plan, n));
#pragma unroll
      for (u32 w = 0; w < 4; ++w) input.bits.word[w] = loaded.word[w];
    } else if constexpr (complete || !Source<i>::is_late) {
      load_input<i>(input, plan, row, first, range);
    }
  }
  template <bool complete, class Visit, u32... i>
  __device__ __forceinline__ void walk(Indices<i...>, const Plan& plan, const Row& row, const Visit& visit) const {
#pragma unroll 1
    for (u32 begin = threadIdx.x; begin < vectors; begin += turns * blockDim.x) {
      AllInputs inputs[turns];
      Range range[turns];
#pragma unroll
      for (u32 t = 0; t < turns; ++t) {
        const u32 n = begin + t * blockDim.x;
        range[t] = n < vectors ? elements_at(row, element(row, n)) : Range{0, 0};
        if (range[t].begin >= range[t].end) continue;
        (load_source<i, complete>(inputs[t], plan, row, n, element(row, n), range[t]), ...);
      }
#pragma unroll
      for (u32 t = 0; t < turns; ++t) {
        if (range[t].begin < range[t].end) visit(inputs[t], t, element(row, begin + t * blockDim.x), range[t]);
      }
    }
  }
};

//@ end

}  // namespace tmajit
