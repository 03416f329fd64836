// Tensor maps that a warp makes from a pattern, one for each tensor. They form a ring, so that copies by the
// newest maps may still be in flight.
#pragma once
#include "tmajit/fence.cuh"
#include "tmajit/shared.cuh"
#include "tmajit/tensor_map_edit.cuh"

namespace tmajit {

template <u32 depth> class MapRing {
 public:
  // Takes room for one map in shared memory and for `depth` maps in global memory, at multiples of 128 bytes.
  __device__ __forceinline__ MapRing(u8* image, TensorMap* maps) : image_(image), maps_(maps) {}

  // The newest map.
  __device__ __forceinline__ const TensorMap& newest() const { return maps_[newest_]; }

  // Makes the next map: `pattern` for a tensor at `address`, whose innermost dimension has `columns` elements. All lanes
  // of a warp call together; thread 0 may then copy by newest(). It reuses the memory of the map that was made `depth`
  // calls before: copies by that map must be complete.
  template <u32 rank>
  __device__ __forceinline__ void make(const TensorMap& pattern, u64 address, const u64 (&step)[rank],
                                       const u32 (&extent)[rank], u32 columns) {
    newest_ = newest_ + 1 == depth ? 0 : newest_ + 1;
    const u32 lane = threadIdx.x % 32;
    __syncwarp();  // all lanes have read the previous map
    reinterpret_cast<u32*>(image_)[lane] = reinterpret_cast<const u32*>(&pattern)[lane];
    ptx::fence_proxy_async_shared();  // orders these stores before later copies by the copy engine
    __syncwarp();
    if (lane == 0) {
      const u32 image = ptx::shared_address(image_);
      ptx::replace_address(image, reinterpret_cast<const void*>(address));
      ptx::replace_global_dim<0>(image, columns);
      replace_outer<1>(image, step, extent);
    }
    __syncwarp();
    TensorMap* const map = maps_ + newest_;
    ptx::publish_tensor_map_to_gpu(map, ptx::shared_address(image_));
    if (threadIdx.x == 0) ptx::acquire_tensor_map_of_gpu(map);
  }

 private:
  template <u32 d, u32 rank>
  static __device__ __forceinline__ void replace_outer(u32 image, const u64 (&step)[rank], const u32 (&extent)[rank]) {
    if constexpr (d < rank) {
      ptx::replace_global_dim<d>(image, extent[rank - 1 - d]);
      ptx::replace_global_stride<d - 1>(image, step[rank - 1 - d]);
      replace_outer<d + 1>(image, step, extent);
    }
  }

  u8* image_;
  TensorMap* maps_;
  u32 newest_ = depth - 1;
};

}  // namespace tmajit
