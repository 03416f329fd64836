#include "cudart/program.hpp"

#include <array>
#include <cstdint>

#include <catch2/catch_test_macros.hpp>
#include <cuda.h>

using namespace program;

namespace {

/// Memory is created, reserved and mapped in multiples of this number of bytes.
constexpr std::size_t unit = 2 << 20;

CUmemAllocationProp physical_properties() {
  CUmemAllocationProp result{};
  result.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  result.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  return result;
}

CUmemGenericAllocationHandle memory_of(std::size_t bytes) {
  CUmemGenericAllocationHandle handle = 0;
  const CUmemAllocationProp wanted = physical_properties();
  REQUIRE(cuMemCreate(&handle, bytes, &wanted, 0) == CUDA_SUCCESS);
  return handle;
}

CUdeviceptr reserved(std::size_t bytes) {
  CUdeviceptr address = 0;
  REQUIRE(cuMemAddressReserve(&address, bytes, 0, 0, 0) == CUDA_SUCCESS);
  return address;
}

CUresult set_access(CUdeviceptr address, std::size_t bytes, CUmemAccess_flags flags) {
  const CUmemAccessDesc access{physical_properties().location, flags};
  return cuMemSetAccess(address, bytes, &access, 1);
}

std::uint32_t word_at(CUdeviceptr address) {
  std::uint32_t word = 0;
  REQUIRE(cuMemcpyDtoH(&word, address, sizeof word) == CUDA_SUCCESS);
  return word;
}

}  // namespace

TEST_CASE("kernels and copies cross from one mapping to the next", "[cudart]") {
  const std::size_t before = reports().size();
  const CUdeviceptr range = reserved(2 * unit);
  for (std::size_t i = 0; i < 2; ++i) {
    const CUmemGenericAllocationHandle handle = memory_of(unit);
    CHECK(cuMemMap(range + i * unit, unit, 0, handle, 0) == CUDA_SUCCESS);
    CHECK(cuMemRelease(handle) == CUDA_SUCCESS);  // the mapping keeps the memory
    CHECK(cuMemRelease(handle) == CUDA_ERROR_INVALID_VALUE);
  }
  CHECK(cuMemsetD8(range, 1, 4) == CUDA_ERROR_INVALID_VALUE);  // without access
  REQUIRE(set_access(range, 2 * unit, CU_MEM_ACCESS_FLAGS_PROT_READWRITE) == CUDA_SUCCESS);
  CHECK(cuMemsetD32(range + unit - 64, 1, 32) == CUDA_SUCCESS);
  auto* values = reinterpret_cast<std::uint32_t*>(static_cast<std::uintptr_t>(range + unit - 64));
  scale(values, 3);
  CHECK(host_values(values, 32) == std::vector<std::uint32_t>(32, 103));
  CHECK(reports().size() == before);
  cudaPointerAttributes attributes{};
  CHECK(cudaPointerGetAttributes(&attributes, values) == cudaSuccess);
  CHECK(attributes.type == cudaMemoryTypeDevice);
  CUdeviceptr begin = 0;
  std::size_t bytes = 0;
  CHECK(cuMemGetAddressRange(&begin, &bytes, range + unit + 5) == CUDA_SUCCESS);
  CHECK(begin == range + unit);
  CHECK(bytes == unit);
  CHECK(cuMemFree(range) == CUDA_ERROR_INVALID_VALUE);
  CHECK(cuMemAddressFree(range, 2 * unit) == CUDA_ERROR_INVALID_VALUE);  // memory is mapped
  CHECK(cuMemUnmap(range, 2 * unit) == CUDA_SUCCESS);
  CHECK(cuMemsetD8(range, 1, 4) == CUDA_ERROR_INVALID_VALUE);
  CHECK(cuMemUnmap(range, unit) == CUDA_SUCCESS);
  CHECK(cuMemAddressFree(range, unit) == CUDA_ERROR_INVALID_VALUE);
  CHECK(cuMemAddressFree(range, 2 * unit) == CUDA_SUCCESS);
  CHECK(cuMemAddressFree(range, 2 * unit) == CUDA_ERROR_INVALID_VALUE);
}

TEST_CASE("memory that is mapped twice is the same memory at both addresses", "[cudart]") {
  const CUdeviceptr range = reserved(3 * unit);
  const CUmemGenericAllocationHandle handle = memory_of(unit);
  CHECK(cuMemMap(range, unit, 0, handle, 0) == CUDA_SUCCESS);
  CHECK(cuMemMap(range + 2 * unit, unit, 0, handle, 0) == CUDA_SUCCESS);
  REQUIRE(set_access(range, unit, CU_MEM_ACCESS_FLAGS_PROT_READWRITE) == CUDA_SUCCESS);
  REQUIRE(set_access(range + 2 * unit, unit, CU_MEM_ACCESS_FLAGS_PROT_READWRITE) == CUDA_SUCCESS);
  CHECK(cuMemsetD32(range, 7, 1) == CUDA_SUCCESS);
  CHECK(word_at(range + 2 * unit) == 7);
  CUmemGenericAllocationHandle same = 0;
  CHECK(cuMemRelease(handle) == CUDA_SUCCESS);
  CHECK(cuMemRetainAllocationHandle(&same, reinterpret_cast<void*>(static_cast<std::uintptr_t>(range))) ==
        CUDA_SUCCESS);
  CHECK(same == handle);
  CUmemAllocationProp found{};
  CHECK(cuMemGetAllocationPropertiesFromHandle(&found, handle) == CUDA_SUCCESS);
  CHECK(found.location.type == CU_MEM_LOCATION_TYPE_DEVICE);
  CHECK(cuMemRelease(same) == CUDA_SUCCESS);
  CHECK(cuMemUnmap(range, 3 * unit) == CUDA_SUCCESS);
  CHECK(cuMemAddressFree(range, 3 * unit) == CUDA_SUCCESS);
}

TEST_CASE("a kernel's access beyond the mapped part of a range is reported", "[cudart]") {
  const CUdeviceptr range = reserved(2 * unit);
  const CUmemGenericAllocationHandle handle = memory_of(unit);
  REQUIRE(cuMemMap(range, unit, 0, handle, 0) == CUDA_SUCCESS);
  REQUIRE(set_access(range, unit, CU_MEM_ACCESS_FLAGS_PROT_READWRITE) == CUDA_SUCCESS);
  const std::size_t before = reports().size();
  past(reinterpret_cast<std::uint32_t*>(
      static_cast<std::uintptr_t>(range)));  // stores 1 MiB after the range's begin, which is mapped
  CHECK(cudaDeviceSynchronize() == cudaSuccess);
  CHECK(reports().size() == before);
  past(reinterpret_cast<std::uint32_t*>(static_cast<std::uintptr_t>(range + unit - 1024)));
  CHECK(cudaDeviceSynchronize() == cudaSuccess);
  REQUIRE(reports().size() == before + 1);
  CHECK(reports().back().find("global.out-of-bounds") != std::string::npos);
  CHECK(cuMemUnmap(range, unit) == CUDA_SUCCESS);
  CHECK(cuMemAddressFree(range, 2 * unit) == CUDA_SUCCESS);
  CHECK(cuMemRelease(handle) == CUDA_SUCCESS);
}

TEST_CASE("calls that the driver refuses return its errors", "[cudart]") {
  CUdeviceptr address = 0;
  std::size_t bytes = 0;
  CUmemAllocationProp wanted = physical_properties();
  CHECK(cuMemGetAllocationGranularity(&bytes, &wanted, CU_MEM_ALLOC_GRANULARITY_MINIMUM) == CUDA_SUCCESS);
  CHECK(bytes == unit);
  CHECK(cuMemAddressReserve(&address, 100, 0, 0, 0) == CUDA_ERROR_INVALID_VALUE);
  CHECK(cuMemAddressReserve(&address, 0, 0, 0, 0) == CUDA_ERROR_INVALID_VALUE);
  CUmemGenericAllocationHandle handle = 0;
  CHECK(cuMemCreate(&handle, 100, &wanted, 0) == CUDA_ERROR_INVALID_VALUE);
  CHECK(cuMemCreate(&handle, 0, &wanted, 0) == CUDA_ERROR_INVALID_VALUE);
  wanted.location.id = 1;
  CHECK(cuMemCreate(&handle, unit, &wanted, 0) == CUDA_ERROR_INVALID_DEVICE);
  wanted = physical_properties();
  wanted.requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
  CHECK(cuMemCreate(&handle, unit, &wanted, 0) == CUDA_ERROR_NOT_SUPPORTED);

  std::size_t free_before = 0;
  std::size_t free_bytes = 0;
  REQUIRE(cuMemGetInfo(&free_before, &bytes) == CUDA_SUCCESS);
  wanted = physical_properties();
  CHECK(cuMemCreate(&handle, bytes + unit, &wanted, 0) == CUDA_ERROR_OUT_OF_MEMORY);
  handle = memory_of(unit);
  CHECK(cuMemGetInfo(&free_bytes, &bytes) == CUDA_SUCCESS);
  CHECK(free_bytes == free_before - unit);
  const CUdeviceptr range = reserved(2 * unit);
  CHECK(cuMemMap(range, 2 * unit, 0, handle, 0) == CUDA_ERROR_NOT_SUPPORTED);
  CHECK(cuMemMap(range, unit, unit, handle, 0) == CUDA_ERROR_NOT_SUPPORTED);
  CHECK(cuMemMap(range + 8, unit, 0, handle, 0) == CUDA_ERROR_INVALID_VALUE);
  CHECK(cuMemMap(range + 2 * unit, unit, 0, handle, 0) == CUDA_ERROR_INVALID_VALUE);
  CHECK(cuMemMap(range, unit, 0, handle, 0) == CUDA_SUCCESS);
  CHECK(cuMemMap(range, unit, 0, handle, 0) == CUDA_ERROR_INVALID_VALUE);
  CHECK(set_access(range, 2 * unit, CU_MEM_ACCESS_FLAGS_PROT_READWRITE) == CUDA_ERROR_INVALID_VALUE);
  CHECK(set_access(range, unit / 2, CU_MEM_ACCESS_FLAGS_PROT_READWRITE) == CUDA_ERROR_INVALID_VALUE);
  CHECK(set_access(range, unit, CU_MEM_ACCESS_FLAGS_PROT_READWRITE) == CUDA_SUCCESS);
  unsigned long long flags = 0;
  CHECK(cuMemGetAccess(&flags, &wanted.location, range) == CUDA_SUCCESS);
  CHECK(flags == CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
  CHECK(set_access(range, unit, CU_MEM_ACCESS_FLAGS_PROT_NONE) == CUDA_SUCCESS);
  CHECK(cuMemsetD8(range, 1, 4) == CUDA_ERROR_INVALID_VALUE);
  CHECK(cuMemUnmap(range, unit / 2) == CUDA_ERROR_INVALID_VALUE);
  CHECK(cuMemUnmap(range, unit) == CUDA_SUCCESS);
  CHECK(cuMemRelease(handle) == CUDA_SUCCESS);
  CHECK(cuMemGetInfo(&free_bytes, &bytes) == CUDA_SUCCESS);
  CHECK(free_bytes == free_before);
  CHECK(cuMemAddressFree(range, 2 * unit) == CUDA_SUCCESS);
}

TEST_CASE("physical memory without an address counts as used for every kind of allocation", "[cudart]") {
  std::size_t free = 0;
  std::size_t total = 0;
  REQUIRE(cudaMemGetInfo(&free, &total) == cudaSuccess);
  const std::size_t all_free_bytes = free / unit * unit;
  const CUmemGenericAllocationHandle handle = memory_of(all_free_bytes);
  CUmemGenericAllocationHandle second = 0;
  const CUmemAllocationProp wanted = physical_properties();
  CHECK(cuMemCreate(&second, unit, &wanted, 0) == CUDA_ERROR_OUT_OF_MEMORY);
  void* memory = nullptr;
  CHECK(cudaMalloc(&memory, unit) == cudaErrorMemoryAllocation);
  CHECK(cudaMallocAsync(&memory, unit, nullptr) == cudaErrorMemoryAllocation);
  CHECK(cuMemRelease(handle) == CUDA_SUCCESS);
  REQUIRE(cudaMalloc(&memory, unit) == cudaSuccess);
  CHECK(cudaFree(memory) == cudaSuccess);
}
