// cast_transpose: scales and converts matrices, stores them in up to two orders, and finds their greatest magnitude.
//
//   source --lines of a block--> registers --scaled, converted--> destinations that are contiguous as the source is
//                                    |  |
//                                    |  +--transposed in registers--> destinations that are contiguous across its lines
//                                    +--shuffles, shared and scratch memory, in a fixed order--> greatest magnitude
//
// A thread has one block of `side` rows and columns. Eight neighbouring threads share a line of the source and four a column, so
// that a warp loads and stores whole sectors.
//@ # Facts of the kernel: side, From, To, Load, Edges, Scale, targets, Target<k>; columns = false, for meeting.cuh.
#include "tmajit/block_transpose.cuh"
#include "tmajit/cast_plan.cuh"
#include "tmajit/division.cuh"
#include "tmajit/element.cuh"
//@ if has_amax
#include "tmajit/meeting.cuh"
#include "tmajit/reducers.cuh"
//@ end
#include "tmajit/values.cuh"

namespace tmajit {

using Plan = params::CastPlan;
constexpr u32 from_bytes = sizeof(From);
constexpr u32 to_bytes = sizeof(To);
using Line = Raw<from_bytes, side>;
using Stored = Raw<to_bytes, side>;
using Converted = Block<to_bytes, to_bytes * side>;

// The rows and columns of a block that exist: all or none.
struct WholeBlocks {
  static constexpr bool cuts = false;
};
// Blocks at the edges may be incomplete.
struct CutBlocks {
  static constexpr bool cuts = true;
};

// The number of existing elements in a block that begins at index `first`.
__device__ __forceinline__ u32 elements_from(u64 first, u64 extent) {
  if (first >= extent) return 0;
  return Edges::cuts && extent - first < side ? static_cast<u32>(extent - first) : side;
}

// ---- access to a line of a block ----

// Loads the first `count` elements, `step` bytes apart; the remaining ones become zero.
__device__ __forceinline__ void load_elements(Line& line, const u8* at, i64 step, u32 count) {
  Line::Element loaded[side] = {};
#pragma unroll
  for (u32 k = 0; k < side; ++k) {
    if (!Edges::cuts || k < count) loaded[k] = *reinterpret_cast<const Line::Element*>(at + k * step);
  }
  line = {};
#pragma unroll
  for (u32 k = 0; k < side; ++k) line.set(k, loaded[k]);
}
__device__ __forceinline__ void store_elements(u8* at, i64 step, const Stored& line, u32 count) {
#pragma unroll
  for (u32 k = 0; k < side; ++k) {
    if (!Edges::cuts || k < count) *reinterpret_cast<Stored::Element*>(at + k * step) = line.get(k);
  }
}

// Neighbouring elements, at multiples of `alignment` bytes.
template <u32 alignment>
struct Vectors {
  static __device__ __forceinline__ void load(Line& line, const u8* at, i64 step, u32 count) {
    if (!Edges::cuts || count == side) return load_narrowly<alignment>(line.word, at);
    load_elements(line, at, step, count);
  }
  static __device__ __forceinline__ void store(u8* at, i64 step, const Stored& line, u32 count) {
    if (!Edges::cuts || count == side) return store_raw<alignment>(at, line);
    store_elements(at, step, line, count);
  }
};
// Elements one by one.
struct Elements {
  static __device__ __forceinline__ void load(Line& line, const u8* at, i64 step, u32 count) { load_elements(line, at, step, count); }
  static __device__ __forceinline__ void store(u8* at, i64 step, const Stored& line, u32 count) { store_elements(at, step, line, count); }
};

// ---- values ----

// No scale.
struct Unscaled {
  static __device__ __forceinline__ float of(const Plan&) { return 1; }
};
// The scale is in memory.
struct ScaleInMemory {
  static __device__ __forceinline__ float of(const Plan& plan) { return *reinterpret_cast<const float*>(plan.scale); }
};
// The launch passes the scale in place of its address.
struct ScaleOfLaunch {
  static __device__ __forceinline__ float of(const Plan& plan) {
    return __uint_as_float(static_cast<u32>(reinterpret_cast<u64>(plan.scale)));
  }
};

__device__ __forceinline__ void decode_line(float (&values)[side], const Line& line) {
  to_pack<From, side>(line).decode(values);
}

// The line's elements, scaled and rounded to nearest even.
__device__ __forceinline__ Stored converted(const float (&values)[side], float scale) {
  Value<To> results[side];
#pragma unroll
  for (u32 k = 0; k < side; ++k) {
    const float scaled = values[k] * scale;
    if constexpr (is_floating<Value<To>>) {
      results[k] = scaled;
    } else {
      results[k] = convert<Value<To>>(rintf(scaled));
    }
  }
  Pack<To, side> pack;
  pack.encode(results);
  return to_raw<To, side>(pack);
}

// ---- blocks ----

// The position of a thread's block.
struct Position {
  const u8* source;
  u8* target[targets];
  u32 rows;  // that exist
  u32 columns;
};

__device__ __forceinline__ Position position_of(const Plan& plan) {
  u32 rest = blockIdx.x;
  const u32 warp = threadIdx.x / 32;
  const u32 lane = threadIdx.x % 32;
  const u32 across = plan.warps_across;
  const u32 down = blockDim.x / 32 / across;
  u64 column = take(plan.column_tiles, rest);
  u64 row = take(plan.row_tiles, rest);
  column = ((column * across + warp % across) * 8 + lane % 8) * side;
  row = ((row * down + warp / across) * 4 + lane / 8) * side;
  Position at;
  at.rows = elements_from(row, plan.rows);
  at.columns = elements_from(column, plan.columns);
  at.source = plan.source + static_cast<i64>(row) * plan.row + static_cast<i64>(column) * plan.column;
#pragma unroll
  for (u32 k = 0; k < targets; ++k) {
    at.target[k] =
        plan.target[k].first + static_cast<i64>(row) * plan.target[k].row + static_cast<i64>(column) * plan.target[k].column;
  }
#pragma unroll 1
  for (u32 d = 0; d < plan.digits; ++d) {
    const i64 index = take(plan.digit[d].count, rest);
    at.source += index * plan.digit[d].source;
#pragma unroll
    for (u32 k = 0; k < targets; ++k) at.target[k] += index * plan.digit[d].target[k];
  }
  return at;
}

// Stores the first `lines` lines of a block, of `count` elements.
template <u32 k>
__device__ __forceinline__ void store_block(u8* to, i64 line_step, i64 step, const Converted& block, u32 lines, u32 count) {
#pragma unroll
  for (u32 i = 0; i < side; ++i) {
    if (!Edges::cuts || i < lines) Target<k>::Access::store(to + i * line_step, step, __builtin_bit_cast(Stored, block.row[i]), count);
  }
}

template <u32 k>
__device__ __forceinline__ void store_target(const Plan& plan, const Position& at, const Converted& block) {
  const params::CastTarget& target = plan.target[k];
  if constexpr (Target<k>::is_turned) {
    store_block<k>(at.target[k], target.column, target.row, transpose(block), at.columns, at.rows);
  } else {
    store_block<k>(at.target[k], target.row, target.column, block, at.rows, at.columns);
  }
}

//@ if has_amax
using Reduced = Greatest<float>;

// Combines the greatest magnitudes of all threads of the grid. The last CTA stores the result. Threads store their blocks while memory
// counts their CTA: counting waits for earlier stores.
template <class StoreBlock>
__device__ __forceinline__ void store_amax(const Plan& plan, float most, u8* scratch, const StoreBlock& store_own_block) {
  extern __shared__ __align__(16) u8 meeting[];
  const Place place = place_of(plan.team);
  const auto meet = [] { __syncthreads(); };
  Reduced::State state[1] = {most};
  combine_threads<Reduced>(state, plan.team, place, meeting, meet);
  if (!combine_parts<Reduced>(state, plan.team, place, true, 0, blockIdx.x, scratch, meeting, meet, store_own_block)) return;
  if (place.thread == 0) *reinterpret_cast<float*>(plan.amax) = state[0];
}

__device__ __forceinline__ void cast_tile(const Plan& plan, u8* scratch) {
//@ else
__device__ __forceinline__ void cast_tile(const Plan& plan) {
//@ end
  const Position at = position_of(plan);
//@ if has_amax
  float most = 0;
//@ end
  const bool exists = at.rows > 0 && at.columns > 0;
  Converted block{};
  if (exists) {
    const float scale = Scale::of(plan);
    Line line[side] = {};
#pragma unroll
    for (u32 i = 0; i < side; ++i) {
      if (!Edges::cuts || i < at.rows) Load::load(line[i], at.source + i * plan.row, plan.column, at.columns);
    }
#pragma unroll
    for (u32 i = 0; i < side; ++i) {
      float values[side];
      decode_line(values, line[i]);
//@ if has_amax
#pragma unroll
      for (u32 k = 0; k < side; ++k) most = Reduced::combine(most, fabsf(values[k]));
//@ end
      block.row[i] = __builtin_bit_cast(Vector<to_bytes * side>, converted(values, scale));
    }
  }
  const auto store_own_block = [&] {
    if (!exists) return;
    store_target<0>(plan, at, block);
    if constexpr (targets > 1) store_target<targets - 1>(plan, at, block);
  };
//@ if has_amax
  store_amax(plan, most, scratch, store_own_block);
//@ else
  store_own_block();
//@ end
}

}  // namespace tmajit
