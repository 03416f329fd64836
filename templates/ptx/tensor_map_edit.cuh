// Tensor maps that a kernel changes.  PTX ISA, "tensormap.replace", "tensormap.cp_fenceproxy" and "fence.proxy.tensormap".
//@ # PTX 8.3; tensormap.replace needs sm_90a, the fences sm_90. Only maps for tiles may be changed. A thread copies the
//@ # map's 128 bytes to shared memory, replaces the fields that differ and publishes it to global memory, 128-byte
//@ # aligned, with its whole warp. After each change, a thread acquires the map before it copies by it. A map
//@ # must not change while a copy by it is in flight.
#pragma once
#include "tmajit/types.cuh"

namespace tmajit {

// The numbers that PTX gives element types. The driver's numbers differ.
enum class MapElement : u32 { u8, u16, u32, s32, u64, s64, f16, f32, f32_ftz, f64, bf16, tf32, tf32_ftz };
enum class MapInterleave : u32 { none, b16, b32 };
enum class MapFill : u32 { zero, nan };

}  // namespace tmajit

namespace tmajit::ptx {

// The address of the tensor, a multiple of 16 (of 32 with interleave 32B). `map` lies in shared memory.
__device__ __forceinline__ void replace_address(u32 map, const void* address) {
  asm volatile("tensormap.replace.tile.global_address.shared::cta.b1024.b64 [%0], %1;"
               ::"r"(map), "l"(__cvta_generic_to_global(address)) : "memory");
}

// The number of dimensions, 1 to 5. The field holds one less.
__device__ __forceinline__ void replace_rank(u32 map, u32 rank) {
  asm volatile("tensormap.replace.tile.rank.shared::cta.b1024.b32 [%0], %1;" ::"r"(map), "r"(rank - 1) : "memory");
}

//@ each field of box_dim global_dim element_stride
// A field of dimension `d`, the innermost being 0: box_dim and global_dim in elements, element_stride from 1 to 8.
template <u32 d> __device__ __forceinline__ void replace_$field(u32 map, u32 value) {
  static_assert(d < 5, "a tensor map has dimensions 0 to 4");
  asm volatile("tensormap.replace.tile.$field.shared::cta.b1024.b32 [%0], %1, %2;" ::"r"(map), "n"(d), "r"(value) : "memory");
}

//@ end
// Bytes from one index of dimension `d` + 1 to the next; elements of dimension 0 are contiguous.
//@ # Code made by CUDA before 12.5 took the stride divided by 16.
template <u32 d> __device__ __forceinline__ void replace_global_stride(u32 map, u64 bytes) {
  static_assert(d < 4, "a tensor map has strides 0 to 3: that of its innermost dimension is one element");
  asm volatile("tensormap.replace.tile.global_stride.shared::cta.b1024.b64 [%0], %1, %2;" ::"r"(map), "n"(d), "l"(bytes) : "memory");
}

// The elements' type.
template <MapElement type> __device__ __forceinline__ void replace_elemtype(u32 map) {
  asm volatile("tensormap.replace.tile.elemtype.shared::cta.b1024.b32 [%0], %1;" ::"r"(map), "n"(static_cast<u32>(type)) : "memory");
}

template <MapInterleave layout> __device__ __forceinline__ void replace_interleave_layout(u32 map) {
  asm volatile("tensormap.replace.tile.interleave_layout.shared::cta.b1024.b32 [%0], %1;" ::"r"(map), "n"(static_cast<u32>(layout)) : "memory");
}

template <MapSwizzle mode> __device__ __forceinline__ void replace_swizzle_mode(u32 map) {
  asm volatile("tensormap.replace.tile.swizzle_mode.shared::cta.b1024.b32 [%0], %1;" ::"r"(map), "n"(static_cast<u32>(mode)) : "memory");
}

// The fill value of elements out of bounds.
template <MapFill fill> __device__ __forceinline__ void replace_fill_mode(u32 map) {
  asm volatile("tensormap.replace.tile.fill_mode.shared::cta.b1024.b32 [%0], %1;" ::"r"(map), "n"(static_cast<u32>(fill)) : "memory");
}

//@ each scope of cta cluster gpu sys
// tensormap.cp_fenceproxy: copies the map from shared to global memory, for threads of the $scope that acquire it there. All
// lanes of a warp call together.
__device__ __forceinline__ void publish_tensor_map_to_$scope(TensorMap* destination, u32 map) {
  asm volatile("tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.$scope.sync.aligned [%0], [%1], 128;"
               ::"l"(__cvta_generic_to_global(destination)), "r"(map) : "memory");
}

// fence.proxy.tensormap: releases this thread's ordinary stores to maps to the $scope.
__device__ __forceinline__ void release_tensor_maps_to_$scope() {
  asm volatile("fence.proxy.tensormap::generic.release.$scope;" ::: "memory");
}

// fence.proxy.tensormap: this thread's later copies see the map as the $scope has released it.
__device__ __forceinline__ void acquire_tensor_map_of_$scope(const TensorMap* map) {
  asm volatile("fence.proxy.tensormap::generic.acquire.$scope [%0], 128;" ::"l"(map) : "memory");
}

//@ end
}  // namespace tmajit::ptx
