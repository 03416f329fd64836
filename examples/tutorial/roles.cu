// Adds one to each element of a matrix as ring.cu does, by two kinds of warps: one warp only issues loads, eight
// compute. The host program defines the constant `unsigned stages` before this text: the number of stages, at
// least two.
#include "tmajit/bulk_group.cuh"
#include "tmajit/bulk_tensor.cuh"
#include "tmajit/elect.cuh"
#include "tmajit/fence.cuh"
#include "tmajit/pipeline.cuh"
#include "tmajit/shared_memory.cuh"
#include "tmajit/sync.cuh"

using namespace tmajit;

constexpr u32 rows = 32, columns = 64;
constexpr u32 elements = rows * columns;
constexpr u32 tile_bytes = elements * 4;
constexpr u32 consumers = 256;  // threads; the producer's warp follows them

static_assert(stages >= 2, "a consumer releases a stage one tile later");

// `across` is the number of tiles in a row of tiles, `tiles` that of the whole matrix.
extern "C" __global__ void __launch_bounds__(consumers + 32)
    add_one(const __grid_constant__ TensorMap destination, const __grid_constant__ TensorMap source,
            u32 across, u32 tiles) {
  __shared__ u64 barriers[Pipeline<stages>::bytes / sizeof(u64)];
  u8* const memory = aligned_shared_memory();
  const auto pipeline = Pipeline<stages>(ptx::shared_address(barriers)).init(1, 1, threadIdx.x == 0);
  __syncthreads();
  const auto at = [&](u32 tile) {
    return Coordinates<2>{static_cast<i32>(tile % across * columns), static_cast<i32>(tile / across * rows)};
  };

  if (threadIdx.x >= consumers) {
    if (!ptx::elect()) return;
    auto producer = pipeline.producer();
    for (u32 tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
      const auto stage = producer.acquire(tile_bytes);
      ptx::tensor_load(ptx::shared_address(memory) + stage.index * tile_bytes, source, at(tile),
                       stage.barrier);
    }
    return;
  }

  auto consumer = pipeline.consumer();
  for (u32 tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
    const auto stage = consumer.wait();
    float* const x = reinterpret_cast<float*>(memory + stage.index * tile_bytes);
    for (u32 i = threadIdx.x; i < elements; i += consumers) x[i] += 1;

    ptx::fence_proxy_async_shared();
    ptx::sync_threads<1, consumers>();  // not __syncthreads(): the producer does not arrive
    if (threadIdx.x == 0) {
      ptx::tensor_store(destination, at(tile), ptx::shared_address(x));
      ptx::commit_group();
      ptx::wait_group_read<1>();  // the engine has read the previous stage
      if (tile != blockIdx.x) consumer.release();
    }
  }
  if (threadIdx.x == 0) ptx::wait_group_read<0>();
}
