#include "cudart/program.hpp"

#include <array>
#include <cstdint>

#include <catch2/catch_test_macros.hpp>
#include <cuda.h>

using namespace program;

namespace {

std::uint64_t attribute(cudaMemPool_t pool, cudaMemPoolAttr which) {
  std::uint64_t value = 99;
  REQUIRE(cudaMemPoolGetAttribute(pool, which, &value) == cudaSuccess);
  return value;
}

cudaMemPoolProps properties() {
  cudaMemPoolProps result{};
  result.allocType = cudaMemAllocationTypePinned;
  result.location.type = cudaMemLocationTypeDevice;
  return result;
}

}  // namespace

TEST_CASE("a pool counts the memory that the program takes from it", "[cudart]") {
  cudaMemPool_t pool = nullptr;
  REQUIRE(cudaDeviceGetDefaultMemPool(&pool, 0) == cudaSuccess);
  CHECK(cudaDeviceGetDefaultMemPool(&pool, 1) == cudaErrorInvalidDevice);
  cudaMemPool_t current = nullptr;
  CHECK(cudaDeviceGetMemPool(&current, 0) == cudaSuccess);
  CHECK(current == pool);
  CHECK(attribute(pool, cudaMemPoolAttrUsedMemCurrent) == 0);
  void* first = nullptr;
  void* second = nullptr;
  REQUIRE(cudaMallocAsync(&first, 4096, nullptr) == cudaSuccess);
  REQUIRE(cudaMallocFromPoolAsync(&second, 512, pool, nullptr) == cudaSuccess);
  CHECK(attribute(pool, cudaMemPoolAttrUsedMemCurrent) == 4608);
  CHECK(attribute(pool, cudaMemPoolAttrReservedMemCurrent) == 4608);
  CHECK(cudaFreeAsync(first, nullptr) == cudaSuccess);
  CHECK(cudaFree(second) == cudaSuccess);
  CHECK(attribute(pool, cudaMemPoolAttrUsedMemCurrent) == 0);
  CHECK(attribute(pool, cudaMemPoolAttrUsedMemHigh) == 4608);
  std::uint64_t value = 1;
  CHECK(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrUsedMemHigh, &value) == cudaErrorInvalidValue);
  CHECK(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrUsedMemCurrent, &value) == cudaErrorInvalidValue);
  value = 0;
  CHECK(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrUsedMemHigh, &value) == cudaSuccess);
  CHECK(attribute(pool, cudaMemPoolAttrUsedMemHigh) == 0);
}

TEST_CASE("freed memory of a pool stays reserved until a wait, down to the release threshold", "[cudart]") {
  cudaMemPool_t pool = nullptr;
  const cudaMemPoolProps wanted = properties();
  REQUIRE(cudaMemPoolCreate(&pool, &wanted) == cudaSuccess);
  std::uint64_t threshold = 1024;
  CHECK(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &threshold) == cudaSuccess);
  CHECK(attribute(pool, cudaMemPoolAttrReleaseThreshold) == 1024);
  void* memory = nullptr;
  REQUIRE(cudaMallocFromPoolAsync(&memory, 8192, pool, nullptr) == cudaSuccess);
  CHECK(cudaFreeAsync(memory, nullptr) == cudaSuccess);
  CHECK(attribute(pool, cudaMemPoolAttrReservedMemCurrent) == 8192);
  CHECK(cudaMemPoolTrimTo(pool, 4096) == cudaSuccess);
  CHECK(attribute(pool, cudaMemPoolAttrReservedMemCurrent) == 4096);
  CHECK(cudaStreamSynchronize(nullptr) == cudaSuccess);
  CHECK(attribute(pool, cudaMemPoolAttrReservedMemCurrent) == 1024);
  CHECK(attribute(pool, cudaMemPoolAttrReservedMemHigh) == 8192);
  CHECK(cudaMemPoolDestroy(pool) == cudaSuccess);
}

TEST_CASE("cudaMallocAsync allocates from a pool that the program has made the current one", "[cudart]") {
  cudaMemPool_t default_pool = nullptr;
  cudaMemPool_t own = nullptr;
  cudaMemPool_t current = nullptr;
  REQUIRE(cudaDeviceGetDefaultMemPool(&default_pool, 0) == cudaSuccess);
  cudaMemPoolProps wanted = properties();
  wanted.maxSize = 1000;
  REQUIRE(cudaMemPoolCreate(&own, &wanted) == cudaSuccess);
  CHECK(cudaDeviceSetMemPool(0, own) == cudaSuccess);
  CHECK(cudaDeviceGetMemPool(&current, 0) == cudaSuccess);
  CHECK(current == own);
  void* memory = nullptr;
  void* more = nullptr;
  REQUIRE(cudaMallocAsync(&memory, 600, nullptr) == cudaSuccess);
  CHECK(cudaMallocAsync(&more, 600, nullptr) == cudaErrorMemoryAllocation);
  CHECK(attribute(own, cudaMemPoolAttrUsedMemCurrent) == 600);
  CHECK(attribute(default_pool, cudaMemPoolAttrUsedMemCurrent) == 0);
  CHECK(cudaMemPoolDestroy(default_pool) == cudaErrorInvalidValue);
  CHECK(cudaMemPoolDestroy(own) == cudaSuccess);
  CHECK(cudaMemPoolDestroy(own) == cudaErrorInvalidValue);
  CHECK(cudaDeviceGetMemPool(&current, 0) == cudaSuccess);
  CHECK(current == default_pool);
  // The memory outlives its pool's handle.
  CHECK(cudaMemset(memory, 1, 600) == cudaSuccess);
  CHECK(cudaFreeAsync(memory, nullptr) == cudaSuccess);
}

TEST_CASE("pools that the device cannot have are refused", "[cudart]") {
  cudaMemPool_t pool = nullptr;
  cudaMemPoolProps wanted = properties();
  wanted.location.id = 1;
  CHECK(cudaMemPoolCreate(&pool, &wanted) == cudaErrorInvalidValue);
  wanted = properties();
  wanted.allocType = cudaMemAllocationTypeInvalid;
  CHECK(cudaMemPoolCreate(&pool, &wanted) == cudaErrorInvalidValue);
  wanted = properties();
  wanted.handleTypes = cudaMemHandleTypePosixFileDescriptor;
  CHECK(cudaMemPoolCreate(&pool, &wanted) == cudaErrorNotSupported);
  CHECK(cudaMemPoolCreate(&pool, nullptr) == cudaErrorInvalidValue);
  int follows = 0;
  REQUIRE(cudaDeviceGetDefaultMemPool(&pool, 0) == cudaSuccess);
  CHECK(cudaMemPoolGetAttribute(pool, cudaMemPoolReuseFollowEventDependencies, &follows) == cudaSuccess);
  CHECK(follows == 1);
  std::array<cudaMemAccessDesc, 1> access{};
  access[0].location = properties().location;
  access[0].flags = cudaMemAccessFlagsProtReadWrite;
  CHECK(cudaMemPoolSetAccess(pool, access.data(), 1) == cudaSuccess);
  access[0].flags = cudaMemAccessFlagsProtNone;
  CHECK(cudaMemPoolSetAccess(pool, access.data(), 1) == cudaErrorInvalidDevice);
  cudaMemAccessFlags flags{};
  CHECK(cudaMemPoolGetAccess(&flags, pool, &access[0].location) == cudaSuccess);
  CHECK(flags == cudaMemAccessFlagsProtReadWrite);
}

TEST_CASE("the driver and the runtime have the same pools", "[cudart]") {
  CUmemoryPool pool = nullptr;
  CUmemoryPool own = nullptr;
  cudaMemPool_t same = nullptr;
  REQUIRE(cuDeviceGetDefaultMemPool(&pool, 0) == CUDA_SUCCESS);
  REQUIRE(cudaDeviceGetDefaultMemPool(&same, 0) == cudaSuccess);
  CHECK(pool == same);
  CUmemPoolProps wanted{};
  wanted.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
  wanted.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  REQUIRE(cuMemPoolCreate(&own, &wanted) == CUDA_SUCCESS);
  CHECK(cuDeviceSetMemPool(0, own) == CUDA_SUCCESS);
  CHECK(cuDeviceGetMemPool(&pool, 0) == CUDA_SUCCESS);
  CHECK(pool == own);
  CUdeviceptr memory = 0;
  REQUIRE(cuMemAllocFromPoolAsync(&memory, 256, own, nullptr) == CUDA_SUCCESS);
  cuuint64_t used = 0;
  CHECK(cuMemPoolGetAttribute(own, CU_MEMPOOL_ATTR_USED_MEM_CURRENT, &used) == CUDA_SUCCESS);
  CHECK(used == 256);
  CHECK(cuMemFreeAsync(memory, nullptr) == CUDA_SUCCESS);
  used = 0;
  CHECK(cuMemPoolSetAttribute(own, CU_MEMPOOL_ATTR_USED_MEM_HIGH, &used) == CUDA_SUCCESS);
  CHECK(cuMemPoolTrimTo(own, 0) == CUDA_SUCCESS);
  CUmemAccessDesc access{{CU_MEM_LOCATION_TYPE_DEVICE, 0}, CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
  CHECK(cuMemPoolSetAccess(own, &access, 1) == CUDA_SUCCESS);
  CUmemAccess_flags flags{};
  CHECK(cuMemPoolGetAccess(&flags, own, &access.location) == CUDA_SUCCESS);
  CHECK(flags == CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
  CHECK(cuMemPoolDestroy(own) == CUDA_SUCCESS);
  CHECK(cuMemAllocFromPoolAsync(&memory, 256, own, nullptr) == CUDA_ERROR_INVALID_VALUE);
}
