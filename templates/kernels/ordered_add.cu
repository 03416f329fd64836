// ordered_add: adds vectors to elements that index tensors select, in an order that never changes.
//
//   index tensors --positions of a line, in order--> matches --one after the other--> load, add, store
//
// A line consists of all vectors that can be added to the same elements. One thread adds all vectors of a line, in the order of
// the index, whose selected elements are in its CTA's part of the first indexed dimension. So no two threads add to one element.
//@ # Facts of the kernel: vector_bytes, Number, Order, Destination and those of indices.cuh.
#include "tmajit/indices.cuh"
#include "tmajit/values.cuh"

namespace tmajit {

using Plan = params::OrderedPlan<digits, indices>;
using Element = Destination::Element;

// The offsets of a number that the digits [first, last) count.
__device__ __forceinline__ Place place_of(const Plan& plan, u32 first, u32 last, Number number) {
  Place place{};
#pragma unroll 1
  for (u32 d = last; d > first; --d) {
    const Number at = d - 1 > first ? take_index(plan.digit[d - 1], number) : number;
    advance(place, plan.digit[d - 1], static_cast<i64>(at));
  }
  return place;
}

// The vectors of a thread: the offsets of its line, and the indices of the first indexed dimension that it adds to.
struct Line {
  Place place;
  bool exists;
  i64 begin;
  i64 end;
};

// The offset in the destination that the indices of a position select; `exists` becomes false if there is none in the part.
__device__ __forceinline__ i64 selected_offset(const Plan& plan, const Line& line, const Place& position, bool& exists) {
  i64 offset = 0;
#pragma unroll
  for (u32 k = 0; k < indices; ++k) {
    IndexElement given = 0;
    if (exists) given = *reinterpret_cast<const IndexElement*>(plan.index[k].first + line.place.index[k] + position.index[k]);
    const i64 index = selected_index(plan.index[k], given, exists);
    if (k == 0) exists = exists && index >= line.begin && index < line.end;
    offset += Axes::offset(plan, k, index);
  }
  return offset;
}

// The elements of a vector. A pack of f16 or bf16 has at least two; the second one is not stored.
constexpr u32 elements = vector_bytes / sizeof(Element);
using Elements = Pack<Element, (vector_bytes < 4 ? 2 : elements)>;

__device__ __forceinline__ Elements load_elements(const u8* from) {
  if constexpr (vector_bytes < 4) {
    Elements loaded{};
    loaded.words[0] = *reinterpret_cast<const u16*>(from);
    return loaded;
  } else {
    return *reinterpret_cast<const Elements*>(from);
  }
}

// Adds a vector of the source to the selected one.
__device__ __forceinline__ void add_vector(const Plan& plan, const Line& line, i64 source, i64 selected) {
  u8* const to = plan.destination + line.place.destination + selected;
  constexpr u32 count = vector_bytes < 4 ? 2 : elements;
  Value<Element> sums[count];
  Value<Element> added[count];
  load_elements(to).decode(sums);
  load_elements(plan.source + line.place.source + source).decode(added);
#pragma unroll
  for (u32 i = 0; i < count; ++i) sums[i] += added[i];
  Elements stored;
  stored.encode(sums);
  if constexpr (vector_bytes < 4) {
    *reinterpret_cast<u16*>(to) = static_cast<u16>(stored.words[0]);
  } else {
    *reinterpret_cast<Elements*>(to) = stored;
  }
}

__device__ __forceinline__ i64 broadcast_from(u32 lane, i64 value) {
  const u32 low = __shfl_sync(~0U, static_cast<u32>(value), lane);
  const u32 high = __shfl_sync(~0U, static_cast<u32>(static_cast<u64>(value) >> 32), lane);
  return static_cast<i64>(static_cast<u64>(high) << 32 | low);
}

// All lines have the same indices: the lanes of a warp load those of 32 positions, and then add match after match.
struct SharedIndices {
  static __device__ __forceinline__ void add(const Plan& plan, const Line& line) {
    for (Number first = 0; first < plan.positions; first += 32) {
      const Number position = first + threadIdx.x % 32;
      bool matches = position < plan.positions;
      const Place place = place_of(plan, plan.line_digits, rank, matches ? position : 0);
      const i64 selected = selected_offset(plan, line, place, matches);
      for (u32 left = __ballot_sync(~0U, matches); left != 0; left &= left - 1) {
        const u32 lane = __ffs(left) - 1;
        const i64 source = broadcast_from(lane, place.source);
        const i64 destination = broadcast_from(lane, selected);
        if (line.exists) add_vector(plan, line, source, destination);
      }
    }
  }
};

// Each line has indices of its own.
struct OwnIndices {
  static __device__ __forceinline__ void add(const Plan& plan, const Line& line) {
    if (!line.exists) return;
    for (Number position = 0; position < plan.positions; ++position) {
      bool matches = true;
      const Place place = place_of(plan, plan.line_digits, rank, position);
      const i64 selected = selected_offset(plan, line, place, matches);
      if (matches) add_vector(plan, line, place.source, selected);
    }
  }
};

__device__ __forceinline__ void add_in_order(const Plan& plan) {
  u32 block = blockIdx.x;
  const u32 part = take(plan.parts, block);
  const Number number = static_cast<Number>(block) * blockDim.x + threadIdx.x;
  Line line;
  line.exists = number < plan.lines;
  line.place = place_of(plan, 0, plan.line_digits, line.exists ? number : 0);
  line.begin = part * plan.part;
  line.end = line.begin + plan.part;
  Order::add(plan, line);
}

}  // namespace tmajit
