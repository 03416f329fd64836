// Copies a tensor of one to five dimensions by the copy engine, global → shared → global, one slab of the
// outermost dimension at a time, through two buffers.
#include "tmajit/bulk_group.cuh"
#include "tmajit/bulk_tensor.cuh"
#include "tmajit/fence.cuh"
#include "tmajit/mbarrier.cuh"
#include "tmajit/shared_memory.cuh"

using namespace tmajit;
namespace mbarrier = ptx::mbarrier;

// The copy engine does all the work, so a CTA of one thread is enough.
template <u32 rank>
__device__ void move(const TensorMap& destination, const TensorMap& source, u32 slabs, u32 slab_extent,
                     u32 slab_bytes) {
  __shared__ u64 storage[2];  // an mbarrier for each buffer
  const u32 barriers = ptx::shared_address(storage);
  const u32 buffers = ptx::shared_address(aligned_shared_memory());
  const u32 pitch = (slab_bytes + 127) / 128 * 128;  // tensor copies take multiples of 128

  mbarrier::init(barriers, 1);
  mbarrier::init(barriers + 8, 1);
  ptx::fence_mbarrier_init();  // the copy engine must see the barriers before it completes on them

  for (u32 slab = 0; slab < slabs; ++slab) {
    const u32 barrier = barriers + slab % 2 * 8;
    const u32 buffer = buffers + slab % 2 * pitch;
    const u32 parity = slab / 2 % 2;  // each use of a barrier is its next phase

    Coordinates<rank> at{};  // innermost dimension first
    at.at[rank - 1] = static_cast<i32>(slab * slab_extent);

    // All stores but the newest have read their buffers, so the store of two slabs ago has read this buffer.
    ptx::wait_group_read<1>();
    mbarrier::arrive_expect_tx(barrier, slab_bytes);  // includes out-of-bounds elements, which are filled
    ptx::tensor_load(buffer, source, at, barrier);
    while (!mbarrier::try_wait(barrier, parity)) {
    }

    // This store runs while the next slab is loaded into the other buffer.
    ptx::tensor_store(destination, at, buffer);
    ptx::commit_group();
  }

  ptx::wait_group<0>();  // waits for the writes, not only for the reads of shared memory
  mbarrier::invalidate(barriers);
  mbarrier::invalidate(barriers + 8);
}

extern "C" __global__ void move_1d(const __grid_constant__ TensorMap destination,
                                   const __grid_constant__ TensorMap source, u32 slabs, u32 slab_extent,
                                   u32 slab_bytes) {
  move<1>(destination, source, slabs, slab_extent, slab_bytes);
}

extern "C" __global__ void move_2d(const __grid_constant__ TensorMap destination,
                                   const __grid_constant__ TensorMap source, u32 slabs, u32 slab_extent,
                                   u32 slab_bytes) {
  move<2>(destination, source, slabs, slab_extent, slab_bytes);
}

extern "C" __global__ void move_3d(const __grid_constant__ TensorMap destination,
                                   const __grid_constant__ TensorMap source, u32 slabs, u32 slab_extent,
                                   u32 slab_bytes) {
  move<3>(destination, source, slabs, slab_extent, slab_bytes);
}

extern "C" __global__ void move_4d(const __grid_constant__ TensorMap destination,
                                   const __grid_constant__ TensorMap source, u32 slabs, u32 slab_extent,
                                   u32 slab_bytes) {
  move<4>(destination, source, slabs, slab_extent, slab_bytes);
}

extern "C" __global__ void move_5d(const __grid_constant__ TensorMap destination,
                                   const __grid_constant__ TensorMap source, u32 slabs, u32 slab_extent,
                                   u32 slab_bytes) {
  move<5>(destination, source, slabs, slab_extent, slab_bytes);
}
