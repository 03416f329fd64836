#include "cudart/program.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <numeric>

#include <catch2/catch_test_macros.hpp>
#include <cuda.h>
#include <sys/mman.h>
#include <unistd.h>

using namespace program;

TEST_CASE("kernels can access pinned, managed and registered memory of the host", "[cudart]") {
  std::vector<std::uint32_t> registered(64, 1);
  void* pinned = nullptr;
  void* managed = nullptr;
  REQUIRE(cudaMallocHost(&pinned, 256) == cudaSuccess);
  REQUIRE(cudaMallocManaged(&managed, 256) == cudaSuccess);
  REQUIRE(cudaHostRegister(registered.data(), 256, cudaHostRegisterMapped) == cudaSuccess);
  for (void* const memory : {pinned, managed, static_cast<void*>(registered.data())}) {
    void* mapped = nullptr;
    CHECK(cudaHostGetDevicePointer(&mapped, memory, 0) == cudaSuccess);
    CHECK(mapped == memory);
    auto* const values = static_cast<std::uint32_t*>(memory);
    std::fill_n(values, 64, 3U);
    scale(values, 2);
    CHECK(cudaDeviceSynchronize() == cudaSuccess);
    CHECK(values[31] == 3 * 2 + 100);
    CHECK(values[32] == 3);
  }
  CHECK(cudaFreeHost(pinned) == cudaSuccess);
  CHECK(cudaFree(managed) == cudaSuccess);
  CHECK(cudaHostUnregister(registered.data()) == cudaSuccess);
  CHECK(cudaHostUnregister(registered.data()) == cudaErrorHostMemoryNotRegistered);
}

TEST_CASE("pointer attributes give the kind of memory", "[cudart]") {
  int on_stack = 0;
  void* memory = nullptr;
  cudaPointerAttributes attributes{};
  CHECK(cudaPointerGetAttributes(&attributes, &on_stack) == cudaSuccess);
  CHECK(attributes.type == cudaMemoryTypeUnregistered);
  REQUIRE(cudaMalloc(&memory, 100) == cudaSuccess);
  CHECK(cudaPointerGetAttributes(&attributes, static_cast<char*>(memory) + 99) == cudaSuccess);
  CHECK(attributes.type == cudaMemoryTypeDevice);
  CHECK(attributes.devicePointer == static_cast<char*>(memory) + 99);
  CHECK(attributes.hostPointer == nullptr);
  CHECK(cudaFree(memory) == cudaSuccess);
  unsigned flags = 99;
  REQUIRE(cudaHostAlloc(&memory, 100, cudaHostAllocPortable) == cudaSuccess);
  CHECK(cudaPointerGetAttributes(&attributes, memory) == cudaSuccess);
  CHECK(attributes.type == cudaMemoryTypeHost);
  CHECK(cudaHostGetFlags(&flags, memory) == cudaSuccess);
  CHECK(flags == cudaHostAllocPortable);
  CHECK(cudaFreeHost(memory) == cudaSuccess);
  REQUIRE(cudaMallocManaged(&memory, 100) == cudaSuccess);
  CHECK(cudaPointerGetAttributes(&attributes, memory) == cudaSuccess);
  CHECK(attributes.type == cudaMemoryTypeManaged);
  CHECK(cudaPointerGetAttributes(nullptr, memory) == cudaErrorInvalidValue);
  CHECK(cudaFree(memory) == cudaSuccess);
}

TEST_CASE("calls with invalid pointers, sizes, pitches or devices return an error", "[cudart]") {
  void* memory = nullptr;
  char here = 0;
  CHECK(cudaMalloc(nullptr, 1) == cudaErrorInvalidValue);
  CHECK(cudaMalloc(&memory, std::size_t{1} << 60) == cudaErrorMemoryAllocation);
  CHECK(cudaFree(nullptr) == cudaSuccess);
  CHECK(cudaFree(&here) == cudaErrorInvalidValue);
  CHECK(cudaFreeHost(&here) == cudaErrorInvalidValue);
  CHECK(cudaHostGetDevicePointer(&memory, &here, 0) == cudaErrorInvalidValue);
  CHECK(cudaHostRegister(nullptr, 1, 0) == cudaErrorInvalidValue);
  REQUIRE(cudaMalloc(&memory, 16) == cudaSuccess);
  CHECK(cudaFreeHost(memory) == cudaErrorInvalidValue);
  CHECK(cudaFree(static_cast<char*>(memory) + 1) == cudaErrorInvalidValue);
  CHECK(cudaHostRegister(memory, 16, 0) == cudaErrorHostMemoryAlreadyRegistered);
  CHECK(cudaMemcpy(&here, static_cast<char*>(memory) + 16, 1, cudaMemcpyDeviceToHost) ==
        cudaErrorInvalidValue);
  CHECK(cudaMemcpy(&here, nullptr, 1, cudaMemcpyDeviceToHost) == cudaErrorInvalidValue);
  CHECK(cudaMemcpy(&here, memory, 1, static_cast<cudaMemcpyKind>(7)) == cudaErrorInvalidMemcpyDirection);
  CHECK(cudaMemset(memory, 0, 17) == cudaErrorInvalidValue);
  CHECK(cudaMemcpy2D(&here, 4, memory, 4, 5, 2, cudaMemcpyDeviceToHost) == cudaErrorInvalidPitchValue);
  CHECK(cudaMemset2D(memory, 4, 0, 5, 2) == cudaErrorInvalidPitchValue);
  CHECK(cudaMemcpyPeer(memory, 1, memory, 0, 1) == cudaErrorInvalidDevice);
  CHECK(cudaFree(memory) == cudaSuccess);
  CHECK(cudaMemcpy(&here, memory, 1, cudaMemcpyDeviceToHost) == cudaErrorInvalidValue);
  CHECK(cudaFree(memory) == cudaErrorInvalidValue);
  CHECK(cudaMemcpy3D(nullptr) == cudaErrorInvalidValue);
}

TEST_CASE("free memory is the total memory less the allocated memory", "[cudart]") {
  std::size_t free = 0;
  std::size_t total = 0;
  void* memory = nullptr;
  REQUIRE(cudaMemGetInfo(&free, &total) == cudaSuccess);
  const std::size_t before = free;
  REQUIRE(cudaMalloc(&memory, 1000) == cudaSuccess);
  REQUIRE(cudaMemGetInfo(&free, &total) == cudaSuccess);
  CHECK(free == before - 1000);
  CHECK(cudaFree(memory) == cudaSuccess);
  REQUIRE(cudaMemGetInfo(&free, &total) == cudaSuccess);
  CHECK(free == before);
  CHECK(cudaMemGetInfo(&free, nullptr) == cudaErrorInvalidValue);
}

TEST_CASE("3-D boxes are copied and filled row by row with their pitches", "[cudart]") {
  cudaPitchedPtr box{};
  const cudaExtent extent{5, 4, 3};
  REQUIRE(cudaMalloc3D(&box, extent) == cudaSuccess);
  CHECK(box.pitch % 512 == 0);
  CHECK(cudaMemset3D(box, 7, extent) == cudaSuccess);
  std::vector<unsigned char> host(2ULL * 3 * 2, 1);
  cudaMemcpy3DParms copy{};
  copy.srcPtr = {host.data(), 2, 2, 3};
  copy.dstPtr = box;
  copy.dstPos = {1, 1, 1};
  copy.extent = {2, 3, 2};
  copy.kind = cudaMemcpyHostToDevice;
  CHECK(cudaMemcpy3D(&copy) == cudaSuccess);
  std::vector<unsigned char> all(5ULL * 4 * 3);
  cudaMemcpy3DParms back{};
  back.srcPtr = box;
  back.dstPtr = {all.data(), 5, 5, 4};
  back.extent = extent;
  back.kind = cudaMemcpyDeviceToHost;
  CHECK(cudaMemcpy3D(&back) == cudaSuccess);
  for (std::size_t z = 0; z < 3; ++z) {
    for (std::size_t y = 0; y < 4; ++y) {
      for (std::size_t x = 0; x < 5; ++x) {
        const bool inside = z >= 1 && y >= 1 && x >= 1 && x < 3;
        CHECK(all[(z * 4 + y) * 5 + x] == (inside ? 1 : 7));
      }
    }
  }
  back.srcArray = reinterpret_cast<cudaArray_t>(&box);
  CHECK(cudaMemcpy3D(&back) == cudaErrorNotSupported);
  CHECK(cudaFree(box.ptr) == cudaSuccess);
}

TEST_CASE("a function with a null result allocates nothing", "[cudart]") {
  std::size_t free = 0;
  std::size_t after = 0;
  std::size_t total = 0;
  std::size_t pitch = 0;
  REQUIRE(cudaMemGetInfo(&free, &total) == cudaSuccess);
  CHECK(cudaMalloc(nullptr, 64) == cudaErrorInvalidValue);
  CHECK(cudaMallocAsync(nullptr, 64, nullptr) == cudaErrorInvalidValue);
  CHECK(cudaMallocPitch(nullptr, &pitch, 64, 1) == cudaErrorInvalidValue);
  CHECK(cudaMalloc3D(nullptr, {64, 1, 1}) == cudaErrorInvalidValue);
  CHECK(cuMemAlloc(nullptr, 64) == CUDA_ERROR_INVALID_VALUE);
  CUmemAllocationProp properties{};
  properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  properties.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  CHECK(cuMemCreate(nullptr, 2 << 20, &properties, 0) == CUDA_ERROR_INVALID_VALUE);
  REQUIRE(cudaMemGetInfo(&after, &total) == cudaSuccess);
  CHECK(after == free);
  // A new allocation of host memory follows the previous one, after a page that stays unmapped.
  const auto allocated = [] {
    void* memory = nullptr;
    REQUIRE(cudaMallocHost(&memory, 64) == cudaSuccess);
    CHECK(cudaFreeHost(memory) == cudaSuccess);
    return reinterpret_cast<std::uintptr_t>(memory);
  };
  const std::uintptr_t first = allocated();
  const std::uintptr_t second = allocated();
  CHECK(cudaMallocHost(nullptr, 64) == cudaErrorInvalidValue);
  CHECK(cudaHostAlloc(nullptr, 64, 0) == cudaErrorInvalidValue);
  CHECK(cudaMallocManaged(nullptr, 64, cudaMemAttachGlobal) == cudaErrorInvalidValue);
  CHECK(cuMemAllocManaged(nullptr, 64, 0) == CUDA_ERROR_INVALID_VALUE);
  CHECK(allocated() - second == second - first);
}

TEST_CASE("an allocation of host memory that the device cannot map leaves no pages", "[cudart]") {
  void* memory = nullptr;
  REQUIRE(cudaMallocHost(&memory, 64) == cudaSuccess);
  // At the address of the next allocation, the program registers memory and unmaps it. CUDA cannot allocate
  // there.
  const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  std::byte* const next = static_cast<std::byte*>(memory) + 2 * page;
  REQUIRE(::mmap(next, page, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0) == next);
  REQUIRE(cudaHostRegister(next, page, 0) == cudaSuccess);
  REQUIRE(::munmap(next, page) == 0);
  void* other = nullptr;
  CHECK(cudaMallocHost(&other, 64) == cudaErrorInvalidValue);
  CHECK(::msync(next, page, MS_ASYNC) != 0);  // nothing is mapped there
  CHECK(cudaHostUnregister(next) == cudaSuccess);
  CHECK(cudaFreeHost(memory) == cudaSuccess);
}
