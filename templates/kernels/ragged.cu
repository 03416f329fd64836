// ragged: moves every tile of a batch of tensors, each of which has an address, extents and strides of its own.
//
// One warp for each CTA moves consecutive tiles of the batch. At each new tensor it edits a copy of the launch's tensor map in
// shared memory and publishes it to scratch memory, one map for loads and one for stores. Tiles go through a ring of stages:
// tiles of later tensors are loaded while earlier ones are stored.
//
//   source of a tensor --copy engine--> ring of `stages` --mbarrier of the stage--> copy engine --> its destination
//
// Threads store the end of a row that ends within 16 bytes (row_tail.cuh). Tensors that no tensor map can describe they move
// element by element.
#include "tmajit/bulk_group.cuh"
#include "tmajit/bulk_tensor.cuh"
#include "tmajit/fence.cuh"
#include "tmajit/map_ring.cuh"
#include "tmajit/placement.cuh"
#include "tmajit/ragged_walk.cuh"
#include "tmajit/ring.cuh"
//@ if row_tail
#include "tmajit/row_tail.cuh"
//@ end
#include "tmajit/shared_memory.cuh"

namespace tmajit {

// Groups of stores that may still read their stage while the warp continues.
constexpr u32 stores_in_flight = stages > 2 ? stages / 2 : stages - 1;

// The row ends of a tensor's destination.
__device__ __forceinline__ params::RowTail<rank> tail_of(const params::RaggedTensor<rank>& tensor) {
  constexpr u32 chunk = 16 / sizeof(Element);
  params::RowTail<rank> tail;
  tail.address = tensor.destination;
#pragma unroll
  for (u32 d = 0; d < rank; ++d) {
    tail.strides[d] = tensor.destination_step[d];
    tail.extent[d] = tensor.extent[d];
  }
  tail.begin = tensor.extent[rank - 1] / chunk * chunk;
  return tail;
}

// Moves a tile element by element. A thread has several loads in flight.
__device__ __forceinline__ void move_elements(const params::RaggedTensor<rank>& tensor, const RaggedTile<rank>& tile_at) {
  constexpr u32 at_once = 4;
  u32 count[rank];
  u64 from = tensor.source, to = tensor.destination;
  u32 elements = 1;
#pragma unroll
  for (u32 d = 0; d < rank; ++d) {
    const u32 begin = tile_at.at[d] * tile().at[d];
    const u32 left = tensor.extent[d] - begin;
    count[d] = left < tile().at[d] ? left : tile().at[d];
    elements *= count[d];
    from += begin * tensor.source_step[d];
    to += begin * tensor.destination_step[d];
  }
  for (u32 first = threadIdx.x; first < elements; first += 32 * at_once) {
    Element value[at_once];
    u64 place[at_once];
#pragma unroll
    for (u32 i = 0; i < at_once; ++i) {
      u32 left = first + 32 * i;
      if (left >= elements) break;
      u64 source = from;
      place[i] = to;
#pragma unroll
      for (u32 d = rank; d-- > 0;) {
        const u32 at = d == 0 ? left : left % count[d];
        left /= count[d];
        source += at * tensor.source_step[d];
        place[i] += at * tensor.destination_step[d];
      }
      value[i] = *reinterpret_cast<const Element*>(source);
    }
#pragma unroll
    for (u32 i = 0; i < at_once; ++i) {
      if (first + 32 * i < elements) *reinterpret_cast<Element*>(place[i]) = value[i];
    }
  }
}

__device__ __forceinline__ void copy_batch(const params::RaggedBatch& batch, const TensorMap& pattern, u8* scratch) {
  u8* const shared = aligned_shared_memory();
  const u32 base = ptx::shared_address(shared);
  const RingBarriers full{base + barriers};
  const bool leader = threadIdx.x == 0;
  if (leader) {
    full.init<stages>(1);
    ptx::fence_mbarrier_init();
  }
  __syncwarp();

  // At most `stages` loads and as many groups of stores are in flight, so the map of the tensor `stages` tensors before is
  // no longer in use.
  TensorMap* const maps = reinterpret_cast<TensorMap*>(scratch) + blockIdx.x * 2 * stages;
  MapRing<stages> sources(shared + map_image, maps);
  MapRing<stages> destinations(shared + map_image + sizeof(TensorMap), maps + stages);
  RaggedWalk<rank> incoming(batch);
  RaggedWalk<rank> outgoing = incoming;
  const auto load = [&](u32 stage) {
    const params::RaggedTensor<rank>& tensor = incoming.tensor();
//@ if elements
    if (tensor.by_engine == 0) {
      if (leader) ptx::mbarrier::arrive(full[stage]);
      incoming.next();
      return;
    }
//@ end
    if (incoming.begins_tensor()) sources.make<rank>(pattern, tensor.source, tensor.source_step, tensor.extent, tensor.extent[rank - 1]);
    if (leader) {
      const Coordinates<rank> at = incoming.tile().origin(tile());
      ptx::mbarrier::arrive_expect_tx(full[stage], input().load_bytes);
#pragma unroll 4
      for (u32 part = 0; part < parts; ++part) {
        Coordinates<rank> at_part = at;
        at_part.at[0] += part * part_columns;
        ptx::tensor_load(base + input().stage(stage) + part * part_bytes, sources.newest(), at_part, full[stage]);
      }
    }
    incoming.next();
  };
  for (u32 stage = 0; stage < stages && incoming; ++stage) load(stage);

  RingPosition<stages> arriving;
  RingPosition<stages> freed;
  u32 stored = 0;
  for (; outgoing; outgoing.next()) {
    const params::RaggedTensor<rank>& tensor = outgoing.tensor();
    const RaggedTile<rank> tile_at = outgoing.tile();
    ptx::mbarrier::wait(full[arriving.stage], arriving.parity);
//@ if elements
    if (tensor.by_engine == 0) {
      move_elements(tensor, tile_at);
    } else {
//@ end
    if (outgoing.begins_tensor()) {
      // Waits for all stores through the map that will be overwritten.
      if (leader) ptx::wait_group<stages - 1>();
      __syncwarp();
      constexpr u32 chunk = 16 / sizeof(Element);
      const u32 whole = tensor.extent[rank - 1] / chunk * chunk;  // if 0, the map is not used, but must not be empty
      destinations.make<rank>(pattern, tensor.destination, tensor.destination_step, tensor.extent, whole < chunk ? chunk : whole);
    }
    const u32 column = tile_at.at[rank - 1] * tile().at[rank - 1];
//@ if row_tail
    const params::RowTail<rank> tail = tail_of(tensor);
    if (threads_store(tail, column, tile().at[rank - 1])) {
      store_tail<Element>(tail, tile_at, tile(), shared + input().stage(arriving.stage), input(), threadIdx.x, 32);
      // The reads must be over before the stage is loaded again.
      ptx::fence_proxy_async_shared();
      __syncwarp();
    }
    const u32 columns = tail.begin;
//@ else
    const u32 columns = tensor.extent[rank - 1];
//@ end
    if (leader) {
      const Coordinates<rank> at = tile_at.origin(tile());
#pragma unroll 4
      for (u32 part = 0; part < parts; ++part) {
        Coordinates<rank> at_part = at;
        at_part.at[0] += part * part_columns;
        if (column + part * part_columns < columns) {
          ptx::tensor_store(destinations.newest(), at_part, base + input().stage(arriving.stage) + part * part_bytes);
        }
      }
    }
//@ if elements
    }
//@ end
    arriving.next();
    if (leader) ptx::commit_group();
    if (++stored > stores_in_flight && incoming) {
      // The stage that was stored `stores_in_flight` tiles ago is free once that store has read it.
      if (leader) ptx::wait_group_read<stores_in_flight>();
      __syncwarp();
      load(freed.stage);
      freed.next();
    }
    __syncwarp();
  }
  if (leader) ptx::wait_group_read<0>();  // shared memory is given up; the writes complete with the grid
}

}  // namespace tmajit
