// The part that map and bulk share: the compute warps' work on one tile, vector by vector.
//@ # Facts of the kernel: rank, tile, warps, Coordinate, Input<i>, AllInputs, Output, Where, Numbers, evaluate_at(); of
//@ # LaunchNumbers also numbers_passed, Number<k>, AllNumbers.
#pragma once
#include "tmajit/element.cuh"
//@ if numbers
#include "tmajit/numbers.cuh"
//@ end
#include "tmajit/placement.cuh"
//@ if numbers
#include "tmajit/values.cuh"
//@ end

namespace tmajit {

constexpr u32 compute_threads = 32 * warps;
constexpr u32 vector = 16 / widest_element;  // elements that a thread handles at a time
// Vectors whose loads a thread issues together. Each one repeats the expression for each of its elements: more vectors
// would mostly add compile time.
constexpr u32 unrolled = vector < 8 ? 8 / vector : 1;

template <u32 i> struct InputValues { Value<typename Input<i>::Element> at[vector]; };
template <u32... i> struct AllInputValues : InputValues<i>... {};

// Reads `vector` elements of input i at (row, column) of the tile in `stage`.
template <u32 i>
__device__ __forceinline__ void read(InputValues<i>& values, const u8* shared, u32 stage, u32 row, u32 column) {
  using Element = typename Input<i>::Element;
  constexpr Placement placement = Input<i>::placement();
  const u8* source = shared + placement.stage(stage) + placement.at(row, column * sizeof(Element));
  const Pack<Element, vector> pack = *reinterpret_cast<const Pack<Element, vector>*>(source);
  pack.decode(values.at);
}

// The position of an element, for an expression that does not read positions.
struct Nowhere {
  template <class Tile> __device__ __forceinline__ explicit Nowhere(const Tile&) {}
  __device__ __forceinline__ Nowhere at(u32, u32, u32) const { return *this; }
  __device__ __forceinline__ void next() {}
};

// The position of an element, for an expression that reads positions.
struct Somewhere {
  Coordinate g[rank];  // in the tensor
  u32 t[rank];         // in the tile
  u32 tile_index;      // number of the element in the tile

  // The first element of a tile.
  __device__ __forceinline__ explicit Somewhere(const Coordinate (&origin)[rank]) {
#pragma unroll
    for (u32 d = 0; d < rank; ++d) g[d] = origin[d];
  }
  template <class Walk>
  __device__ __forceinline__ explicit Somewhere(const Walk& tile_at) {
#pragma unroll
    for (u32 d = 0; d < rank; ++d) g[d] = tile_at.at[d] * tile().at[d];
  }
  // The first element of vector v.
  __device__ __forceinline__ Somewhere at(u32 v, u32 row, u32 column) const {
    Somewhere place = *this;
    place.tile_index = v * vector;
    place.t[rank - 1] = column;
#pragma unroll
    for (u32 d = rank - 1; d-- > 0;) {
      place.t[d] = row % tile().at[d];
      row /= tile().at[d];
    }
#pragma unroll
    for (u32 d = 0; d < rank; ++d) place.g[d] += place.t[d];
    return place;
  }
  __device__ __forceinline__ void next() {
    ++g[rank - 1];
    ++t[rank - 1];
    ++tile_index;
  }
};

template <class T>
__device__ __forceinline__ Value<Output::Element> output_of(T value) {
//@ if integer_result
  return convert<Value<Output::Element>>(value);
//@ else
  return static_cast<Value<Output::Element>>(value);
//@ end
}

// The expression reads no numbers of the launch.
struct NoNumbers {
  template <class... X>
  __device__ __forceinline__ auto value_at(const Where& place, const X&... x) const { return evaluate_at(place, x...); }
};
//@ if numbers
// The numbers of the launch follow the inputs in the expression.
struct LaunchNumbers {
  params::Numbers<numbers_passed> passed;

  template <class... X>
  __device__ __forceinline__ auto value_at(const Where& place, const X&... x) const {
    return value_with(AllNumbers{}, place, x...);
  }
  template <u32... k, class... X>
  __device__ __forceinline__ auto value_with(Indices<k...>, const Where& place, const X&... x) const {
    return evaluate_at(place, x..., value_of_number<typename Number<k>::Element>(passed.bits[k])...);
  }
};
//@ end

// Computes vector v of the tile in `stage`, which begins at `first`, and calls put(vector, its offset in a stage of the output).
template <u32... i, class Put>
__device__ __forceinline__ void compute_vector(Indices<i...>, const Numbers& numbers, const u8* shared, u32 stage, u32 v,
                                               const Where& first, const Put& put) {
  constexpr u32 vectors_per_row = tile().at[rank - 1] / vector;
  const u32 row = v / vectors_per_row;
  const u32 column = v % vectors_per_row * vector;
  AllInputValues<i...> in;
  (read<i>(in, shared, stage, row, column), ...);
  Where place = first.at(v, row, column);
  Value<Output::Element> out[vector];
#pragma unroll
  for (u32 k = 0; k < vector; ++k, place.next()) {
    out[k] = output_of(numbers.value_at(place, static_cast<InputValues<i>&>(in).at[k]...));
  }
  Pack<Output::Element, vector> packed;
  packed.encode(out);
  put(packed, Output::placement().at(row, column * sizeof(Output::Element)));
}

}  // namespace tmajit
