// The rows of a rowwise kernel, where their vectors begin and end, and how a thread loads and stores a vector of an operand.
//@ # Facts of the kernel: vector, operands, Index, Edges (with anchor and anchor_bytes if staggered), Rows, RowShape, Source<i>,
//@ # Target<j>.
#pragma once
#include "tmajit/row_plan.cuh"
#include "tmajit/thread_vectors.cuh"

namespace tmajit {

using Plan = params::RowPlan<operands>;

// ---- where vectors begin and end ----

// Each vector is in the row, or beyond it.
struct WholeVectors {
  static constexpr bool cuts = false;
  static __device__ __forceinline__ i32 before(u8* const (&)[operands], const i64 (&)[operands]) { return 0; }
  static __device__ __forceinline__ Range range(i32 first, i32 length) { return {0, first < length ? vector : 0}; }
};
// A row may end within its last vector.
struct CutVectors {
  static constexpr bool cuts = true;
  static __device__ __forceinline__ i32 before(u8* const (&)[operands], const i64 (&)[operands]) { return 0; }
  static __device__ __forceinline__ Range range(i32 first, i32 length) {
    const i32 rest = length - first;
    return {0, rest >= static_cast<i32>(vector) ? vector : rest < 0 ? 0 : static_cast<u32>(rest)};
  }
};
// Vectors begin at multiples of their size in memory, so the first may begin before the row.
struct StaggeredVectors {
  static constexpr bool cuts = true;
  static __device__ __forceinline__ i32 before(u8* const (&first)[operands], const i64 (&at)[operands]) {
    const u64 address = reinterpret_cast<u64>(first[anchor]) + static_cast<u64>(at[anchor]);
    return static_cast<i32>(static_cast<u32>(address) / anchor_bytes % vector);
  }
  static __device__ __forceinline__ Range range(i32 first, i32 length) {
    const Range range = CutVectors::range(first, length);
    return {first < 0 ? static_cast<u32>(-first) : 0, range.end};
  }
};

// ---- rows ----

// The position of a row.
struct Row {
  i64 at[operands];  // bytes from the first row
  i32 before;        // elements between the last multiple of a vector's size and the row's first element
  i32 length;        // elements; 0 if the row does not exist
};

// Sets the offsets of the row with this number; they are zero before.
struct OneDimensionOfRows {
  static __device__ __forceinline__ void move(const Plan& plan, i64 (&at)[operands], Index number) {
#pragma unroll
    for (u32 k = 0; k < operands; ++k) at[k] = static_cast<i64>(number) * plan.digit[0].step[k];
  }
};
struct ManyDimensionsOfRows {
  static __device__ __forceinline__ void move(const Plan& plan, i64 (&at)[operands], Index number) {
#pragma unroll 1
    for (u32 d = 0; d < plan.row_digits; ++d) {
      const Index index = d + 1 == plan.row_digits ? number : take_index(plan.digit[d].extent, plan.digit[d].count, number);
#pragma unroll
      for (u32 k = 0; k < operands; ++k) at[k] += static_cast<i64>(index) * plan.digit[d].step[k];
    }
  }
};

__device__ __forceinline__ Row row_of(const Plan& plan, Index number) {
  Row row{};
  row.length = number < plan.rows ? static_cast<i32>(plan.length) : 0;
  Rows::move(plan, row.at, number < plan.rows ? number : 0);
  row.before = Edges::before(plan.first, row.at);
  return row;
}

// ---- how elements of an operand are accessed ----

// The distance of element n from the first element of its row, in bytes. All elements of a vector are neighbours in the innermost
// dimension of the row.
struct OneDimension {
  template <u32 k>
  static __device__ __forceinline__ i64 offset(const Plan& plan, i32 n) { return n * plan.step[k]; }
  // The same where elements are neighbours in memory.
  template <u32 k, u32 bytes>
  static __device__ __forceinline__ i64 offset_of_vector(const Plan&, i32 n) { return static_cast<i64>(n) * bytes; }
  // The index of element n in the user's row, which may run the other way.
  static __device__ __forceinline__ i32 index(const Plan& plan, i32 n) { return plan.first_place + n * plan.place_step; }
};
struct ManyDimensions {
  template <u32 k>
  static __device__ __forceinline__ i64 offset(const Plan& plan, i32 n) {
    u32 rest = static_cast<u32>(n);
    i64 at = 0;
#pragma unroll 1
    for (u32 d = plan.row_digits; d < plan.digits; ++d) {
      const u32 index = d + 1 == plan.digits ? rest : take(plan.digit[d].count, rest);
      at += static_cast<i64>(index) * plan.digit[d].step[k];
    }
    return at;
  }
  template <u32 k, u32>
  static __device__ __forceinline__ i64 offset_of_vector(const Plan& plan, i32 n) { return offset<k>(plan, n); }
  static __device__ __forceinline__ i32 index(const Plan& plan, i32 n) {
    u32 rest = static_cast<u32>(n);
    i32 place = plan.first_place;
#pragma unroll 1
    for (u32 d = plan.row_digits; d < plan.digits; ++d) {
      place += static_cast<i32>(d + 1 == plan.digits ? rest : take(plan.digit[d].count, rest)) * plan.digit[d].place;
    }
    return place;
  }
};

// Whether a vector may be loaded whole, with elements of other rows: it is in the operand's memory.
template <u32 k>
__device__ __forceinline__ bool is_reached(const Plan& plan, const u8* at) {
  const i64 offset = at - static_cast<const u8*>(plan.first[k]);
  return static_cast<u64>(offset - plan.reach[k].low) <= plan.reach[k].span;
}

// Element by element, whatever the distance between neighbours.
struct ByElement {
  template <u32 k, u32 bytes, u32 count>
  static __device__ __forceinline__ void load(Raw<bytes, count>& out, const Plan& plan, const u8* from, i32 first, Range range) {
    using Element = typename Bits<bytes>::Type;
    Element loaded[vector] = {};
    const u8* const at = from + RowShape::offset<k>(plan, first);
#pragma unroll
    for (u32 n = 0; n < vector; ++n) {
      if (n < range.begin || n >= range.end) continue;
      loaded[n] = *reinterpret_cast<const Element*>(at + static_cast<i64>(n) * plan.step[k]);
    }
    out = {};
#pragma unroll
    for (u32 n = 0; n < vector; ++n) out.set(n, loaded[n]);
  }
  template <u32 k, u32 bytes, u32 count>
  static __device__ __forceinline__ void store(u8* to, const Plan& plan, const Raw<bytes, count>& value, i32 first, Range range) {
    u8* const at = to + RowShape::offset<k>(plan, first);
#pragma unroll
    for (u32 n = 0; n < vector; ++n) {
      if (n < range.begin || n >= range.end) continue;
      *reinterpret_cast<typename Bits<bytes>::Type*>(at + static_cast<i64>(n) * plan.step[k]) = value.get(n);
    }
  }
};
// The same element throughout the row.
struct OneElement {
  template <u32 k, u32 bytes, u32 count>
  static __device__ __forceinline__ void load(Raw<bytes, count>& out, const Plan&, const u8* from, i32, Range range) {
    typename Bits<bytes>::Type loaded = 0;
    if (range.begin < range.end) loaded = *reinterpret_cast<const typename Bits<bytes>::Type*>(from);
    out = {};
#pragma unroll
    for (u32 n = 0; n < vector; ++n) out.set(n, loaded);
  }
};
// load_run() and store_run() access the existing elements of a vector, which are neighbours in memory, one by one.
template <u32 bytes, u32 count>
__device__ __forceinline__ void load_run(Raw<bytes, count>& out, const u8* from, Range range) {
  using Element = typename Bits<bytes>::Type;
  Element loaded[vector] = {};
  const u32 mask = range.present();
#pragma unroll
  for (u32 n = 0; n < vector; ++n) {
    if ((mask >> n & 1) != 0) loaded[n] = reinterpret_cast<const Element*>(from)[n];
  }
  out = {};
#pragma unroll
  for (u32 n = 0; n < vector; ++n) out.set(n, loaded[n]);
}
template <u32 bytes, u32 count>
__device__ __forceinline__ void store_run(u8* to, const Raw<bytes, count>& value, Range range) {
  const u32 mask = range.present();
#pragma unroll
  for (u32 n = 0; n < vector; ++n) {
    if ((mask >> n & 1) != 0) reinterpret_cast<typename Bits<bytes>::Type*>(to)[n] = value.get(n);
  }
}

// One by one, elements that are neighbours in memory.
struct ByNeighbour {
  template <u32 k, u32 bytes, u32 count>
  static __device__ __forceinline__ void load(Raw<bytes, count>& out, const Plan&, const u8* from, i32 first, Range range) {
    load_run(out, from + static_cast<i64>(first) * bytes, range);
  }
  template <u32 k, u32 bytes, u32 count>
  static __device__ __forceinline__ void store(u8* to, const Plan&, const Raw<bytes, count>& value, i32 first, Range range) {
    store_run(to + static_cast<i64>(first) * bytes, value, range);
  }
};
// Vectors at multiples of their size. Those that contain an end of a row are loaded whole, with elements of other rows, unless
// they reach beyond the operand's memory. Only elements of the row are stored.
struct ByVector {
  template <u32 k, u32 bytes, u32 count>
  static __device__ __forceinline__ void load(Raw<bytes, count>& out, const Plan& plan, const u8* from, i32 first, Range range) {
    const u8* const at = from + RowShape::offset_of_vector<k, bytes>(plan, first);
    if (!Edges::cuts || is_reached<k>(plan, at)) return load_words<least(bytes * vector, 16)>(out.word, at);
    load_run(out, at, range);
  }
  template <u32 k, u32 bytes, u32 count>
  static __device__ __forceinline__ void store(u8* to, const Plan& plan, const Raw<bytes, count>& value, i32 first, Range range) {
    u8* const at = to + RowShape::offset_of_vector<k, bytes>(plan, first);
    if (!Edges::cuts || range.whole()) return store_raw<least(bytes * vector, 16)>(at, value);
    store_run(at, value, range);
  }
};
// The same for operands of which other threads may be writing the elements of other rows: no such element is loaded.
struct ByExactVector {
  template <u32 k, u32 bytes, u32 count>
  static __device__ __forceinline__ void load(Raw<bytes, count>& out, const Plan&, const u8* from, i32 first, Range range) {
    const u8* const at = from + static_cast<i64>(first) * bytes;
    if (!Edges::cuts || range.whole()) return load_words<least(bytes * vector, 16)>(out.word, at);
    load_run(out, at, range);
  }
};
// Whole vectors that begin anywhere, by words. The words of shorter elements reach beyond the vector: near the ends of a row,
// elements are loaded one by one.
struct ByWords {
  template <u32 k, u32 bytes, u32 count>
  static __device__ __forceinline__ void load(Raw<bytes, count>& out, const Plan& plan, const u8* from, i32 first, Range range) {
    constexpr i32 margin = bytes < 4 ? 4 / bytes : 0;
    const u8* const at = from + static_cast<i64>(first) * bytes;
    if (!range.whole() || first < margin || first + static_cast<i32>(vector) + margin > static_cast<i32>(plan.length)) {
      load_run(out, at, range);
    } else if constexpr (bytes < 4) {
      load_words_anywhere(out.word, at);
    } else {
      load_words<bytes>(out.word, at);
    }
  }
  template <u32 k, u32 bytes, u32 count>
  static __device__ __forceinline__ void store(u8* to, const Plan&, const Raw<bytes, count>& value, i32 first, Range range) {
    store_run(to + static_cast<i64>(first) * bytes, value, range);
  }
};

template <u32 i>
__device__ __forceinline__ void load_input(Input<i>& input, const Plan& plan, const Row& row, i32 first, Range range) {
  Source<i>::Access::template load<i + 1>(input.bits, plan, plan.first[i + 1] + row.at[i + 1], first, range);
}

// Late sources are the same for all rows, such as weights, and only results read them: they are loaded for the results, so that no
// registers hold them while the row is reduced.
template <bool late, u32... i>
__device__ __forceinline__ void load_inputs(Inputs<i...>& inputs, const Plan& plan, const Row& row, i32 first, Range range) {
  ((Source<i>::is_late == late ? load_input<i>(inputs, plan, row, first, range) : void()), ...);
}

}  // namespace tmajit
