// One tile, loaded into shared memory and stored again by the copy engine: unchanged in one kernel, changed by
// threads in the other.
#include "tmajit/barrier.cuh"
#include "tmajit/bulk_group.cuh"
#include "tmajit/bulk_tensor.cuh"
#include "tmajit/fence.cuh"

using namespace tmajit;

// A tile of 128 × 64 f16. The copy engine does all the work, so a CTA of one thread is enough.
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
  ptx::wait_group_read<0>();  // the engine must have read shared memory before the CTA ends
}

// Adds to each element its index in its tile of 4 × 4 floats. Each CTA of 16 threads has one tile.
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

  ptx::fence_proxy_async_shared();  // each thread makes its write visible to the copy engine;
  __syncthreads();                  // one thread may issue the store only after all have done so
  if (leads) {
    ptx::tensor_store(destination, at, ptx::shared_address(tile));
    ptx::commit_group();
    ptx::wait_group_read<0>();
  }
}
