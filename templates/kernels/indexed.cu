// indexed: moves vectors between a tensor and elements of another tensor that index tensors select.
//
//   index tensors --> registers --offsets of the selected vectors--> loads of `turns` vectors --> stores or additions
//
// The vectors of the moved tensor are numbered in row-major order. A thread divides the number of each of its vectors into the
// coordinates. It loads all its elements of the index tensors before its first vector, so that many loads are in flight.
//@ # Facts of the kernel: threads, turns, Number, Use and those of indices.cuh. A kernel that moves bits also has vector_bytes, Missing
//@ # if it gathers, and Destination for ValueBits or Adds. A kernel that computes also has vector, Destination, Source<i>, AllSources
//@ # and evaluate().
//@ if computes
#include "tmajit/gathered_vectors.cuh"
//@ end
#include "tmajit/global.cuh"
#include "tmajit/global_add.cuh"
#include "tmajit/indices.cuh"
#include "tmajit/values.cuh"
#include "tmajit/vector16.cuh"

namespace tmajit {

//@ if computes
using Plan = params::ComputedPlan<digits, indices>;
using Piece = Raw<sizeof(Source<0>::Element), pack_count>;  // a vector of the source
//@ else
using Plan = params::IndexedPlan<digits, indices>;
using Piece = typename Bits<vector_bytes>::Type;
//@ end

// The vectors that a gather stores where an index selects no element: zeros, or a value.
struct ZeroBits {
  static __device__ __forceinline__ Piece piece(const Plan&) { return Piece{}; }
};
struct ValueBits {
  static __device__ __forceinline__ Piece piece(const Plan& plan) {
    u64 bits = padding_bits(plan.value);
#pragma unroll
    for (u32 width = 8 * sizeof(Destination::Element); width < 64; width *= 2) bits |= bits << width;
    if constexpr (vector_bytes == 16) {
      const u32 low = static_cast<u32>(bits);
      const u32 high = static_cast<u32>(bits >> 32);
      return {{low, high, low, high}};
    } else {
      return static_cast<Piece>(bits);
    }
  }
};

// Takes selected elements of the source.
struct Gathers {
  static __device__ __forceinline__ Piece load(const Plan& plan, const Place& place, i64 selected, bool exists) {
    Piece piece = Missing::piece(plan);
    if (exists) piece = *reinterpret_cast<const Piece*>(plan.source + place.source + selected);
    return piece;
  }
  static __device__ __forceinline__ void store(const Plan& plan, const Place& place, i64, bool, const Piece& piece) {
    *reinterpret_cast<Piece*>(plan.destination + place.destination) = piece;
  }
};
//@ if computes

using Stored = Raw<sizeof(Destination::Element), pack_count>;

// The expression of each element of a vector.
template <u32 tensor, u32... numbers>
__device__ __forceinline__ Stored computed(const Plan& plan, const Piece& piece, Indices<tensor, numbers...>) {
  using Element = typename Source<tensor>::Element;
  Value<Element> values[pack_count];
  to_pack<Element, pack_count>(piece).decode(values);
  Value<Destination::Element> results[pack_count] = {};
#pragma unroll
  for (u32 k = 0; k < vector; ++k) results[k] = result_of(evaluate(values[k], value_of_number<typename Source<numbers>::Element>(plan.number[numbers - 1])...));
  Pack<Destination::Element, pack_count> pack;
  pack.encode(results);
  return to_raw<Destination::Element, pack_count>(pack);
}

// The vector that is stored where an index selects no element: the value without the expression.
__device__ __forceinline__ Stored missing(const Plan& plan) {
  Stored elements{};
#pragma unroll
  for (u32 k = 0; k < pack_count; ++k) elements.set(k, padding_bits(plan.value));
  return elements;
}

// Takes selected elements of the source, and stores the expression of each.
struct Computes {
  static __device__ __forceinline__ Piece load(const Plan& plan, const Place& place, i64 selected, bool exists) {
    Piece piece{};
    if (exists) piece = load_elements<Source<0>::Element>(plan.source + place.source + selected);
    return piece;
  }
  static __device__ __forceinline__ void store(const Plan& plan, const Place& place, i64, bool exists, const Piece& piece) {
    Stored elements = missing(plan);
    if (exists) elements = computed(plan, piece, AllSources{});
    store_elements(plan.destination + place.destination, elements);
  }
};
//@ end

// Stores the source at selected elements. Several threads may store to one element.
struct Scatters {
  static __device__ __forceinline__ Piece load(const Plan& plan, const Place& place, i64, bool) {
    return *reinterpret_cast<const Piece*>(plan.source + place.source);
  }
  static __device__ __forceinline__ void store(const Plan& plan, const Place& place, i64 selected, bool exists, const Piece& piece) {
    if (exists) ptx::store_piece_relaxed(plan.destination + place.destination + selected, piece);
  }
};
// Adds the source to selected elements.
struct Adds {
  static __device__ __forceinline__ Piece load(const Plan& plan, const Place& place, i64, bool) {
    return *reinterpret_cast<const Piece*>(plan.source + place.source);
  }
  static __device__ __forceinline__ void store(const Plan& plan, const Place& place, i64 selected, bool exists, const Piece& piece) {
    if (exists) GlobalAddition<Destination::Element>::add(plan.destination + place.destination + selected, piece);
  }
};

// Moves the thread's vectors: `count` numbers from `first` on, `threads` apart.
template <u32 count>
__device__ __forceinline__ void move_vectors(const Plan& plan, Number first) {
  const Number last = static_cast<Number>(plan.vectors - 1);
  Place place[count];
  IndexElement given[count][indices];
#pragma unroll
  for (u32 turn = 0; turn < count; ++turn) {
    const Number number = first + turn * threads;
    // A thread without a vector loads the indices and the elements of the last one.
    place[turn] = vector_place(plan, number < last ? number : last);
#pragma unroll
    for (u32 k = 0; k < indices; ++k) {
      given[turn][k] = *reinterpret_cast<const IndexElement*>(plan.index[k].first + place[turn].index[k]);
    }
  }
  i64 selected[count] = {};
  bool exists[count];
  Piece piece[count];
#pragma unroll
  for (u32 turn = 0; turn < count; ++turn) {
    exists[turn] = true;
#pragma unroll
    for (u32 k = 0; k < indices; ++k) {
      selected[turn] += Axes::offset(plan, k, selected_index(plan.index[k], given[turn][k], exists[turn]));
    }
    piece[turn] = Use::load(plan, place[turn], selected[turn], exists[turn]);
  }
#pragma unroll
  for (u32 turn = 0; turn < count; ++turn) {
    if (first + turn * threads <= last) Use::store(plan, place[turn], selected[turn], exists[turn], piece[turn]);
  }
}

__device__ __forceinline__ void move_indexed(const Plan& plan) {
  const Number first = static_cast<Number>(blockIdx.x) * (plan.turns * threads) + threadIdx.x;
  if (plan.turns == 1) {
    move_vectors<1>(plan, first);
  } else {
    move_vectors<turns>(plan, first);
  }
}

}  // namespace tmajit
