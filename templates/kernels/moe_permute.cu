// moe_permute: sorts the rows of tokens by expert, stably, in one launch.
//
//   all expert ids --counts in shared memory--> next row of each expert --own ids, in order--> positions --> rows
//
// Each CTA owns a group of tokens, or a part of their rows. It reads all ids and counts those before its tokens and those from
// its tokens on. So it knows the rows of its own tokens without an exchange between CTAs. A vector is loaded once and
// stored to all rows of its token.
//@ # Facts of the kernel: rank, IndexElement, Ids, vector_bytes, threads, turns, max_experts, max_places.
#include "tmajit/division.cuh"
#include "tmajit/moe_plan.cuh"
#include "tmajit/shuffles.cuh"
#include "tmajit/vector16.cuh"

namespace tmajit {

using Plan = params::MoePlan<rank>;
using Piece = typename Bits<vector_bytes>::Type;

constexpr u32 none = ~0U;                 // in place of an expert: the id is out of range
constexpr i32 absent = -2147483647 - 1;   // the position of a slot without a row
constexpr u32 ids_at_once = 4;            // loads of ids that a thread has in flight
// The unsigned type of an id's size: negative ids become large numbers.
using Id = typename Bits<sizeof(IndexElement)>::Type;

struct Shared {
  u32 next[max_experts];      // ids before the CTA's tokens, by expert; then the row of the expert's next id
  u32 remaining[max_experts]; // ids from the CTA's tokens on
  i32 place[max_places];      // rows of the round's slots
  u8 has_row[max_places];     // whether a token of the round has a row
  u32 of_warp[threads / 32];  // rows of the experts of a warp's threads
};

// Returns an id's expert, or `none`.
__device__ __forceinline__ u32 expert_of(const Plan& plan, Id id) { return id < plan.expert_count ? static_cast<u32>(id) : none; }

// The id of a (token, slot).
__device__ __forceinline__ Id load_id(const Plan& plan, u32 pair) {
  u32 token = pair;
  const u32 slot = take(plan.slots, token);
  return *reinterpret_cast<const Id*>(plan.experts.first + token * plan.experts.token + slot * plan.experts.slot);
}

// How a thread loads ids to count them: one by one, or by 16 bytes where all ids are neighbours in memory.
struct SingleIds {
  static constexpr u32 count = 1;
  static __device__ __forceinline__ void load(const Plan& plan, u32 pair, Id (&id)[1]) { id[0] = load_id(plan, pair); }
};
struct NeighbouringIds {
  static constexpr u32 count = 16 / sizeof(Id);
  static __device__ __forceinline__ void load(const Plan& plan, u32 pair, Id (&id)[count]) {
    struct Vector {
      Id id[count];
    };
    const auto loaded = __builtin_bit_cast(Vector, load16(plan.experts.first + pair * sizeof(Id)));
#pragma unroll
    for (u32 i = 0; i < count; ++i) id[i] = loaded.id[i];
  }
};

// Counts all ids: those of pairs before `first_pair`, and the remaining ones.
__device__ __forceinline__ void count_ids(const Plan& plan, Shared& shared, u32 first_pair) {
  for (u32 expert = threadIdx.x; expert < plan.expert_count; expert += threads) {
    shared.next[expert] = 0;
    shared.remaining[expert] = 0;
  }
  __syncthreads();
  const auto count = [&](Id id, u32 pair) {
    const u32 expert = expert_of(plan, id);
    if (expert != none) atomicAdd(pair < first_pair ? &shared.next[expert] : &shared.remaining[expert], 1U);
  };
  const u32 pairs = plan.tokens * plan.slots.divisor;
  const u32 vectors = pairs / Ids::count;
#pragma unroll 1
  for (u32 first = threadIdx.x; first < vectors; first += ids_at_once * threads) {
    Id id[ids_at_once][Ids::count];
#pragma unroll
    for (u32 i = 0; i < ids_at_once; ++i) {
      const u32 vector = first + i * threads;
      if (vector < vectors) Ids::load(plan, vector * Ids::count, id[i]);
    }
#pragma unroll
    for (u32 i = 0; i < ids_at_once; ++i) {
      const u32 vector = first + i * threads;
#pragma unroll
      for (u32 k = 0; k < Ids::count && vector < vectors; ++k) count(id[i][k], vector * Ids::count + k);
    }
  }
  // The ids after the last whole vector.
  const u32 last = vectors * Ids::count + threadIdx.x;
  if (last < pairs) count(load_id(plan, last), last);
  __syncthreads();
}

// The sum of `rows` of all threads before this one.
__device__ __forceinline__ u32 rows_before(Shared& shared, u32 rows) {
  const u32 lane = threadIdx.x % 32;
  const u32 warp = threadIdx.x / 32;
  const u32 sum = sum_up_to_lane(rows, lane);
  if (lane == 31) shared.of_warp[warp] = sum;
  __syncthreads();
  u32 before = sum - rows;
#pragma unroll 1
  for (u32 w = 0; w < warp; ++w) before += shared.of_warp[w];
  return before;
}

// Sets the next row of each expert. The first CTA stores counts and offsets. A thread has a few neighbouring experts.
__device__ __forceinline__ void find_next_rows(const Plan& plan, Shared& shared) {
  const u32 own = (plan.expert_count + threads - 1) / threads;
  const u32 begin = threadIdx.x * own;
  const u32 end = begin + own < plan.expert_count ? begin + own : plan.expert_count;
  const auto aligned = [&](u32 count) {
    return quotient(plan.alignment, count + plan.alignment.divisor - 1) * plan.alignment.divisor;
  };
  u32 rows = 0;
  for (u32 expert = begin; expert < end; ++expert) rows += aligned(shared.next[expert] + shared.remaining[expert]);
  u32 row = rows_before(shared, rows);
  for (u32 expert = begin; expert < end; ++expert) {
    const u32 count = shared.next[expert] + shared.remaining[expert];
    if (blockIdx.x == 0) {
      *reinterpret_cast<u32*>(plan.counts.first + expert * plan.counts.step) = count;
      *reinterpret_cast<u32*>(plan.offsets.first + expert * plan.offsets.step) = row;
    }
    shared.next[expert] += row;
    row += aligned(count);
  }
  // No expert follows those of the last thread, so its `row` is the number of all rows.
  if (blockIdx.x == 0 && threadIdx.x == threads - 1) {
    *reinterpret_cast<u32*>(plan.offsets.first + plan.expert_count * plan.offsets.step) = row;
  }
  __syncthreads();
}

// Places the slots of a round, in order. One warp does it: a lane's rank is the number of equal ids before it.
__device__ __forceinline__ void place_slots(const Plan& plan, Shared& shared, u32 first_token, u32 tokens) {
  const u32 first_pair = first_token * plan.slots.divisor;
  const u32 slots = tokens * plan.slots.divisor;
  for (u32 token = threadIdx.x; token < tokens; token += 32) shared.has_row[token] = 0;
#pragma unroll 1
  for (u32 first = threadIdx.x; first - threadIdx.x < slots; first += ids_at_once * 32) {
    u32 expert[ids_at_once];
#pragma unroll
    for (u32 i = 0; i < ids_at_once; ++i) {
      expert[i] = first + i * 32 < slots ? expert_of(plan, load_id(plan, first_pair + first + i * 32)) : none;
    }
#pragma unroll
    for (u32 i = 0; i < ids_at_once; ++i) {
      const bool exists = expert[i] != none;
      const u32 equal = __match_any_sync(~0U, expert[i]);
      const u32 rank_in_warp = __popc(equal & ((1U << threadIdx.x) - 1));
      const u32 row = exists ? shared.next[expert[i]] + rank_in_warp : none;
      __syncwarp();
      if (exists && rank_in_warp == 0) shared.next[expert[i]] = row + __popc(equal);
      __syncwarp();
      const bool is_stored = row < plan.capacity;
      const u32 pair = first + i * 32;
      if (pair < slots) shared.place[pair] = is_stored ? static_cast<i32>(row) : absent;
      if (is_stored) shared.has_row[quotient(plan.slots, pair)] = 1;
    }
  }
}

__device__ __forceinline__ void store_positions(const Plan& plan, const Shared& shared, u32 first_token, u32 slots) {
  for (u32 pair = threadIdx.x; pair < slots; pair += threads) {
    u32 token = pair;
    const u32 slot = take(plan.slots, token);
    u8* const to = plan.positions.first + (first_token + token) * plan.positions.token + slot * plan.positions.slot;
    *reinterpret_cast<i32*>(to) = shared.place[pair];
  }
}

// Offsets of a vector in its row, in bytes.
struct Offsets {
  i64 rows;
  i64 x;
};

__device__ __forceinline__ Offsets offsets_of(const Plan& plan, u32 vector) {
  Offsets offsets{};
#pragma unroll
  for (u32 n = 0; n < rank; ++n) {
    const u32 d = rank - 1 - n;
    const i64 index = d > 0 ? take(plan.digit[d].count, vector) : vector;
    offsets.rows += index * plan.digit[d].rows;
    offsets.x += index * plan.digit[d].x;
  }
  return offsets;
}

// Moves the CTA's part of the rows of a round. Neighbouring threads have neighbouring vectors of a token.
__device__ __forceinline__ void move_rows(const Plan& plan, const Shared& shared, u32 first_token, u32 tokens, u32 part) {
  const u32 first_vector = part * plan.part_vectors.divisor;
  const u32 all = tokens * plan.part_vectors.divisor;
#pragma unroll 1
  for (u32 first = threadIdx.x; first < all; first += turns * threads) {
    u32 slot[turns];
    i64 to[turns];
    bool exists[turns];
    Piece piece[turns];
#pragma unroll
    for (u32 turn = 0; turn < turns; ++turn) {
      u32 token = first + turn * threads;
      exists[turn] = token < all;
      const u32 vector = first_vector + take(plan.part_vectors, token);
      exists[turn] = exists[turn] && vector < plan.vectors && shared.has_row[token] != 0;
      const Offsets offsets = offsets_of(plan, vector);
      slot[turn] = token * plan.slots.divisor;
      to[turn] = offsets.rows;
      const u8* const from = plan.x + (first_token + token) * plan.token_step + offsets.x;
      if (exists[turn]) piece[turn] = *reinterpret_cast<const Piece*>(from);
    }
#pragma unroll
    for (u32 turn = 0; turn < turns; ++turn) {
      if (!exists[turn]) continue;
#pragma unroll 4
      for (u32 k = 0; k < plan.slots.divisor; ++k) {
        const i32 row = shared.place[slot[turn] + k];
        if (row != absent) *reinterpret_cast<Piece*>(plan.rows + row * plan.row_step + to[turn]) = piece[turn];
      }
    }
  }
}

__device__ __forceinline__ void permute_tokens(const Plan& plan) {
  __shared__ Shared shared;
  u32 group = blockIdx.x;
  const u32 part = take(plan.parts, group);
  const u32 begin = group * plan.group_tokens;
  const u32 end = plan.tokens - begin < plan.group_tokens ? plan.tokens : begin + plan.group_tokens;
  count_ids(plan, shared, begin * plan.slots.divisor);
  find_next_rows(plan, shared);
#pragma unroll 1
  for (u32 token = begin; token < end; token += plan.round_tokens) {
    const u32 tokens = end - token < plan.round_tokens ? end - token : plan.round_tokens;
    const u32 slots = tokens * plan.slots.divisor;
    if (threadIdx.x < 32) place_slots(plan, shared, token, tokens);
    __syncthreads();
    if (part == 0) store_positions(plan, shared, token, slots);
    move_rows(plan, shared, token, tokens, part);
    __syncthreads();
  }
}

}  // namespace tmajit
