#include "cudart/program.hpp"

#include <algorithm>
#include <cstring>
#include <numeric>

#include <catch2/catch_test_macros.hpp>

using namespace program;

TEST_CASE("kernels reach pinned, managed and registered memory of the host", "[cudart]") {
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

TEST_CASE("free memory is the total less what is allocated", "[cudart]") {
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
  std::vector<unsigned char> host(2 * 3 * 2, 1);
  cudaMemcpy3DParms copy{};
  copy.srcPtr = {host.data(), 2, 2, 3};
  copy.dstPtr = box;
  copy.dstPos = {1, 1, 1};
  copy.extent = {2, 3, 2};
  copy.kind = cudaMemcpyHostToDevice;
  CHECK(cudaMemcpy3D(&copy) == cudaSuccess);
  std::vector<unsigned char> all(5 * 4 * 3);
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
