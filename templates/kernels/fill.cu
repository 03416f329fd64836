// fill: writes an expression of each element's coordinates; there is nothing to read.
//
//   evaluate() --> registers --`turns` chunks of a thread--> destination
//
// A CTA fills one tile, a box over all dimensions. Each row's chunks begin at boundaries of the destination's memory.
#include "tmajit/chunk_sides.cuh"

namespace tmajit {

__device__ __forceinline__ Result computed(const params::ViewsHead<rank>& views, const Tile<rank>& tile, const Chunk& own) {
  Value<Destination::Element> out[chunk];
#pragma unroll
  for (u32 k = 0; k < chunk; ++k) {
//@ if reads_g
    Coordinate g[coordinates];
    locate_element(g, views, tile, own, k);
    out[k] = result_of(evaluate(g));
//@ else
    out[k] = result_of(evaluate());
//@ end
  }
  Pack<Destination::Element, chunk> pack;
  pack.encode(out);
  return to_raw<Destination::Element, chunk>(pack);
}

__device__ __forceinline__ void fill_tile(const params::ViewsHead<rank>& views, u64 sides) {
  const Tile<rank> tile(views, tile_box<rank, chunk>(sides));
  u8* destination = tile.in(views.destination);
#pragma unroll
  for (u32 turn = 0; turn < turns; ++turn) {
    const Chunk own = locate(views, sides, tile, destination, turn * blockDim.x + threadIdx.x);
    if (own.first < own.last) Stores::store(views.destination, own, computed(views, tile, own));
  }
}

}  // namespace tmajit
