// What map and bulk share: the compute warps' work on one tile, vector by vector.
//@ # Facts of the kernel: rank, tile, warps, Coordinate, Input<i>, AllInputs, Output and the user's expression as
//@ # evaluate().
#pragma once
#include "tmajit/element.cuh"
#include "tmajit/placement.cuh"

namespace tmajit {

constexpr u32 compute_threads = 32 * warps;
constexpr u32 vector = 16 / widest_element;  // elements that a thread handles at a time
// Vectors whose loads a thread starts together. Each writes the expression out once more for each of its elements, so
// that more of them would mostly take time to compile.
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

//@ if bulk
// Computes the `vectors` first vectors of a tile, from the input stage to the output stage.
//@ else
// Computes a tile, from the input stage to the output stage.
//@ end
//@ if reads_g
// The tile's first element has the coordinates `origin`.
//@ end
//@ if bulk
// Where `direct` is given, results go straight to global memory.
//@ end
template <u32... i>
//@ if reads_g
__device__ __forceinline__ void compute_tile(Indices<i...>, u8* shared, u32 stage, u32 output_stage,
//@ if bulk
                                             const Coordinate (&origin)[rank], u32 vectors, Output::Element* direct) {
//@ else
                                             const Coordinate (&origin)[rank]) {
//@ end
//@ else
//@ if bulk
__device__ __forceinline__ void compute_tile(Indices<i...>, u8* shared, u32 stage, u32 output_stage, u32 vectors,
                                             Output::Element* direct) {
//@ else
__device__ __forceinline__ void compute_tile(Indices<i...>, u8* shared, u32 stage, u32 output_stage) {
//@ end
//@ end
//@ if !bulk
  constexpr u32 vectors = tile_elements / vector;
//@ end
  constexpr u32 vectors_per_row = tile().at[rank - 1] / vector;
  constexpr Placement placement = Output::placement();

//@ if bulk
#pragma unroll unrolled
  for (u32 v = threadIdx.x; v < vectors; v += compute_threads) {
//@ else
#pragma unroll unrolled
  for (u32 start = 0; start < vectors; start += compute_threads) {
    const u32 v = start + threadIdx.x;
    if (vectors % compute_threads != 0 && v >= vectors) break;
//@ end
    const u32 row = v / vectors_per_row;
    const u32 column = v % vectors_per_row * vector;
    AllInputValues<i...> in;
    (read<i>(in, shared, stage, row, column), ...);
//@ if locates
    u32 t[rank];
    t[rank - 1] = column;
    u32 outer = row;
#pragma unroll
    for (u32 d = rank - 1; d-- > 0;) {
      t[d] = outer % tile().at[d];
      outer /= tile().at[d];
    }
//@ end
//@ if reads_g
    Coordinate g[rank];
#pragma unroll
    for (u32 d = 0; d < rank; ++d) g[d] = origin[d] + t[d];
//@ end
    Value<Output::Element> out[vector];
#pragma unroll
    for (u32 k = 0; k < vector; ++k) {
//@ if integer_result
      out[k] = convert<Value<Output::Element>>(evaluate(
//@ else
      out[k] = static_cast<Value<Output::Element>>(evaluate(
//@ end
//@ if reads_g
          g,
//@ end
//@ if reads_t
          t,
//@ end
//@ if reads_tile_index
          v * vector + k,
//@ end
          static_cast<InputValues<i>&>(in).at[k]...));
//@ if reads_t
      ++t[rank - 1];
//@ end
//@ if reads_g
      ++g[rank - 1];
//@ end
    }
    Pack<Output::Element, vector> packed;
    packed.encode(out);
//@ if bulk
    if (direct == nullptr) {
      u8* target = shared + placement.stage(output_stage) + placement.at(row, column * sizeof(Output::Element));
      *reinterpret_cast<Pack<Output::Element, vector>*>(target) = packed;
    } else {
      const auto* elements = reinterpret_cast<const Output::Element*>(&packed);
#pragma unroll
      for (u32 k = 0; k < vector; ++k) direct[v * vector + k] = elements[k];
    }
//@ else
    u8* target = shared + placement.stage(output_stage) + placement.at(row, column * sizeof(Output::Element));
    *reinterpret_cast<Pack<Output::Element, vector>*>(target) = packed;
//@ end
  }
}

}  // namespace tmajit
