// Adds one to each element of a matrix, in tiles of 32 × 64 floats. A CTA processes one tile after the other in
// a ring of stages: while its threads work on one tile, the engine loads the next ones and stores the previous
// one. The host program defines the constant `unsigned stages` before this text: the number of stages.
#include "tmajit/bulk_group.cuh"
#include "tmajit/bulk_tensor.cuh"
#include "tmajit/fence.cuh"
#include "tmajit/pipeline.cuh"
#include "tmajit/shared_memory.cuh"

using namespace tmajit;

constexpr u32 rows = 32, columns = 64;
constexpr u32 elements = rows * columns;
constexpr u32 tile_bytes = elements * 4;

// `across` is the number of tiles in a row of tiles, `tiles` that of the whole matrix.
extern "C" __global__ void __launch_bounds__(256)
    add_one(const __grid_constant__ TensorMap destination, const __grid_constant__ TensorMap source,
            u32 across, u32 tiles) {
  __shared__ u64 barriers[Pipeline<stages>::bytes / sizeof(u64)];
  u8* const memory = aligned_shared_memory();
  const bool leads = threadIdx.x == 0;
  const auto pipeline = Pipeline<stages>(ptx::shared_address(barriers)).init(1, 1, leads);
  __syncthreads();

  auto producer = pipeline.producer();
  auto consumer = pipeline.consumer();
  const auto at = [&](u32 tile) {
    return Coordinates<2>{static_cast<i32>(tile % across * columns), static_cast<i32>(tile / across * rows)};
  };
  const auto load = [&](u32 tile) {
    if (tile >= tiles) return;
    const auto stage = producer.acquire(tile_bytes);  // waits until it is free, and expects this many bytes
    ptx::tensor_load(ptx::shared_address(memory) + stage.index * tile_bytes, source, at(tile), stage.barrier);
  };

  if (leads) {
    for (u32 i = 0; i < stages; ++i) load(blockIdx.x + i * gridDim.x);
  }
  for (u32 tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
    const auto stage = consumer.wait();
    float* const x = reinterpret_cast<float*>(memory + stage.index * tile_bytes);
    for (u32 i = threadIdx.x; i < elements; i += blockDim.x) x[i] += 1;

    ptx::fence_proxy_async_shared();
    __syncthreads();
    if (leads) {
      ptx::tensor_store(destination, at(tile), ptx::shared_address(x));
      ptx::commit_group();
      ptx::wait_group_read<0>();  // the engine has read the stage,
      consumer.release();         // so it may be filled again
      load(tile + stages * gridDim.x);
    }
  }
}
