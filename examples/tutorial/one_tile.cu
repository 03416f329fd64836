// One tile, brought into shared memory by the copy engine and taken back by it: as it is, and changed on the
// way.
#include "tmajit/barrier.cuh"
#include "tmajit/bulk_group.cuh"
#include "tmajit/bulk_tensor.cuh"
#include "tmajit/fence.cuh"

using namespace tmajit;

// A tile of 128 × 64 f16. All of it is the copy engine's work, so one thread is enough to ask for it.
extern "C" __global__ void copy_tile(const __grid_constant__ TensorMap destination,
                                     const __grid_constant__ TensorMap source) {
  __shared__ alignas(128) u16 tile[128 * 64];
  __shared__ u64 word;

  const auto arrived = Barrier<>(word).init(1, true);
  arrived.expect(sizeof tile);
  ptx::tensor_load(ptx::shared_address(tile), source, Coordinates<2>{0, 0}, arrived.address());
  arrived.wait(0);

  ptx::tensor_store(destination, Coordinates<2>{0, 0}, ptx::shared_address(tile));
  ptx::commit_group();
  ptx::wait_group_read<0>();  // shared memory must outlive the engine's reading of it
}

// Tiles of 4 × 4 floats, one a CTA of 16 threads: each element plus its index in its tile.
extern "C" __global__ void add_index(const __grid_constant__ TensorMap destination,
                                     const __grid_constant__ TensorMap source) {
  __shared__ alignas(128) float tile[4 * 4];
  __shared__ u64 word;
  const bool leads = threadIdx.x == 0;
  const Coordinates<2> at{static_cast<i32>(4 * blockIdx.x), static_cast<i32>(4 * blockIdx.y)};

  const auto arrived = Barrier<>(word).init(1, leads);
  __syncthreads();  // the barrier is initialised before any thread waits on it
  if (leads) {
    arrived.expect(sizeof tile);
    ptx::tensor_load(ptx::shared_address(tile), source, at, arrived.address());
  }
  arrived.wait(0);

  tile[threadIdx.x] += threadIdx.x;

  ptx::fence_proxy_async_shared();  // each thread hands what it wrote to the copy engine,
  __syncthreads();                  // and only when all have may one of them ask for the store
  if (leads) {
    ptx::tensor_store(destination, at, ptx::shared_address(tile));
    ptx::commit_group();
    ptx::wait_group_read<0>();
  }
}
