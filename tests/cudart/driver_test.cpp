#include "cudart/program.hpp"

#include <array>
#include <cstring>
#include <string>

#include <catch2/catch_test_macros.hpp>
#include <cuda.h>

TEST_CASE("the driver loads PTX and launches its kernels", "[cudart]") {
  CUdevice device = -1;
  CUcontext context = nullptr;
  CUmodule module = nullptr;
  CUfunction scale = nullptr;
  REQUIRE(cuInit(0) == CUDA_SUCCESS);
  REQUIRE(cuDeviceGet(&device, 0) == CUDA_SUCCESS);
  REQUIRE(cuDevicePrimaryCtxRetain(&context, device) == CUDA_SUCCESS);
  REQUIRE(cuCtxPushCurrent(context) == CUDA_SUCCESS);
  REQUIRE(cuModuleLoadData(&module, program::ptx().c_str()) == CUDA_SUCCESS);
  REQUIRE(cuModuleGetFunction(&scale, module, "scale") == CUDA_SUCCESS);
  CHECK(cuModuleGetFunction(&scale, module, "absent") == CUDA_ERROR_NOT_FOUND);

  CUdeviceptr values = 0;
  std::uint32_t factor = 4;
  REQUIRE(cuMemAlloc(&values, 16) == CUDA_SUCCESS);
  REQUIRE(cuMemsetD32(values, 5, 4) == CUDA_SUCCESS);
  std::array<void*, 2> parameters{&values, &factor};
  CHECK(cuLaunchKernel(scale, 1, 1, 1, 2, 1, 1, 0, nullptr, parameters.data(), nullptr) == CUDA_SUCCESS);
  struct {
    CUdeviceptr values;
    std::uint32_t factor;
  } packed{values + 8, 6};
  std::size_t bytes = sizeof packed;
  std::array<void*, 5> extra{CU_LAUNCH_PARAM_BUFFER_POINTER, &packed, CU_LAUNCH_PARAM_BUFFER_SIZE, &bytes,
                             CU_LAUNCH_PARAM_END};
  CUlaunchConfig config{};
  config.gridDimX = config.gridDimY = config.gridDimZ = 1;
  config.blockDimX = 2;
  config.blockDimY = config.blockDimZ = 1;
  CHECK(cuLaunchKernelEx(&config, scale, nullptr, extra.data()) == CUDA_SUCCESS);
  // The driver has no error for an invalid configuration, so it returns "invalid value".
  CHECK(cuLaunchKernel(scale, 1, 1, 1, 2000, 1, 1, 0, nullptr, parameters.data(), nullptr) ==
        CUDA_ERROR_INVALID_VALUE);
  std::array<std::uint32_t, 4> result{};
  CHECK(cuMemcpyDtoH(result.data(), values, 16) == CUDA_SUCCESS);
  CHECK(result == std::array<std::uint32_t, 4>{120, 120, 130, 130});

  CUdeviceptr launches = 0;
  CHECK(cuModuleGetGlobal(&launches, &bytes, module, "launches") == CUDA_SUCCESS);
  CHECK(bytes == 4);
  std::uint32_t initial = 0;
  CHECK(cuMemcpyDtoH(&initial, launches, 4) == CUDA_SUCCESS);
  CHECK(initial == 10);
  CHECK(cuModuleGetGlobal(&launches, &bytes, module, "bias") == CUDA_ERROR_NOT_SUPPORTED);
  CHECK(cuModuleGetGlobal(&launches, &bytes, module, "absent") == CUDA_ERROR_NOT_FOUND);
  int value = 0;
  CHECK(cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, scale) == CUDA_SUCCESS);
  CHECK(value == 256);
  CHECK(cuMemFree(values) == CUDA_SUCCESS);
  CHECK(cuMemFree(values) == CUDA_ERROR_INVALID_VALUE);
  CHECK(cuModuleUnload(module) == CUDA_SUCCESS);
  CHECK(cuModuleUnload(module) == CUDA_ERROR_INVALID_HANDLE);
  CHECK(cuCtxPopCurrent(&context) == CUDA_SUCCESS);
  CHECK(cuCtxPopCurrent(&context) == CUDA_ERROR_INVALID_CONTEXT);
}

TEST_CASE("images other than PTX are refused", "[cudart]") {
  CUmodule module = nullptr;
  CHECK(cuModuleLoadData(&module, "\177ELF") == CUDA_ERROR_NO_BINARY_FOR_GPU);
  CHECK(cuModuleLoadData(&module, "no PTX") == CUDA_ERROR_INVALID_VALUE);
  CHECK(cuModuleLoadData(&module, nullptr) == CUDA_ERROR_INVALID_VALUE);
  CHECK(cuModuleLoad(&module, "/there/is/no/such.ptx") == CUDA_ERROR_FILE_NOT_FOUND);
}

TEST_CASE("a kernel that declares a module variable in its body is not supported", "[cudart]") {
  const std::string ptx = R"(
.version 8.0
.target sm_90a
.address_size 64
.visible .entry plain() { ret; }
.visible .entry counts()
{
  .global .align 4 .u32 own;
  .reg .b32 %r<2>;
  ld.global.u32 %r1, [own];
  st.global.u32 [own], %r1;
  ret;
})";
  CUmodule module = nullptr;
  CUfunction plain = nullptr;
  CUfunction counts = nullptr;
  REQUIRE(cuModuleLoadData(&module, ptx.c_str()) == CUDA_SUCCESS);
  REQUIRE(cuModuleGetFunction(&plain, module, "plain") == CUDA_SUCCESS);
  REQUIRE(cuModuleGetFunction(&counts, module, "counts") == CUDA_SUCCESS);
  CHECK(cuLaunchKernel(plain, 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, nullptr) == CUDA_SUCCESS);
  CHECK(cuLaunchKernel(counts, 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, nullptr) == CUDA_ERROR_NOT_SUPPORTED);
}

TEST_CASE("arguments in one buffer have the alignment that the kernel declares", "[cudart]") {
  const std::string ptx = R"(
.version 8.0
.target sm_90a
.address_size 64
.visible .entry store(.param .u32 first, .param .align 4 .b8 second[8], .param .u64 out)
{
  .reg .b32 %r<4>;
  .reg .b64 %rd<2>;
  ld.param.u32 %r1, [first];
  ld.param.u32 %r2, [second];
  ld.param.u32 %r3, [second+4];
  ld.param.u64 %rd1, [out];
  st.global.u32 [%rd1], %r1;
  st.global.u32 [%rd1+4], %r2;
  st.global.u32 [%rd1+8], %r3;
  ret;
})";
  CUmodule module = nullptr;
  CUfunction store = nullptr;
  CUdeviceptr out = 0;
  REQUIRE(cuModuleLoadData(&module, ptx.c_str()) == CUDA_SUCCESS);
  REQUIRE(cuModuleGetFunction(&store, module, "store") == CUDA_SUCCESS);
  REQUIRE(cuMemAlloc(&out, 12) == CUDA_SUCCESS);
  struct {
    std::uint32_t first;
    std::array<std::uint32_t, 2> second;
    CUdeviceptr out;
  } arguments{1, {2, 3}, out};
  std::size_t bytes = sizeof arguments;
  std::array<void*, 5> extra{CU_LAUNCH_PARAM_BUFFER_POINTER, &arguments, CU_LAUNCH_PARAM_BUFFER_SIZE, &bytes,
                             CU_LAUNCH_PARAM_END};
  CHECK(cuLaunchKernel(store, 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, extra.data()) == CUDA_SUCCESS);
  std::array<std::uint32_t, 3> result{};
  CHECK(cuMemcpyDtoH(result.data(), out, 12) == CUDA_SUCCESS);
  CHECK(result == std::array<std::uint32_t, 3>{1, 2, 3});
  CHECK(cuMemFree(out) == CUDA_SUCCESS);
  CHECK(cuModuleUnload(module) == CUDA_SUCCESS);
}

TEST_CASE("the driver API reports attributes, pointers and errors", "[cudart]") {
  int value = 0;
  CHECK(cuDeviceGetAttribute(&value, CU_DEVICE_ATTRIBUTE_TENSOR_MAP_ACCESS_SUPPORTED, 0) == CUDA_SUCCESS);
  CHECK(value == 1);
  CHECK(cuDeviceGetAttribute(&value, CU_DEVICE_ATTRIBUTE_WARP_SIZE, 3) == CUDA_ERROR_INVALID_DEVICE);
  CHECK(cuInit(1) == CUDA_ERROR_INVALID_VALUE);
  const char* text = nullptr;
  CHECK(cuGetErrorName(CUDA_ERROR_NOT_FOUND, &text) == CUDA_SUCCESS);
  CHECK(std::string(text) == "CUDA_ERROR_NOT_FOUND");
  CHECK(cuGetErrorString(CUDA_ERROR_NOT_FOUND, &text) == CUDA_SUCCESS);
  CHECK(cuGetErrorName(static_cast<CUresult>(1'000), &text) == CUDA_ERROR_INVALID_VALUE);
  CUdeviceptr memory = 0;
  CUdeviceptr begin = 0;
  std::size_t bytes = 0;
  REQUIRE(cuMemAlloc(&memory, 100) == CUDA_SUCCESS);
  CHECK(cuMemGetAddressRange(&begin, &bytes, memory + 50) == CUDA_SUCCESS);
  CHECK(begin == memory);
  CHECK(bytes == 100);
  unsigned type = 0;
  CHECK(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, memory) == CUDA_SUCCESS);
  CHECK(type == CU_MEMORYTYPE_DEVICE);
  CHECK(cuMemAlloc(&begin, 0) == CUDA_ERROR_INVALID_VALUE);
  CHECK(cuMemFree(memory) == CUDA_SUCCESS);
}

TEST_CASE("tensor maps are encoded, by their symbol and by the driver's entry point", "[cudart]") {
  void* encode = nullptr;
  cudaDriverEntryPointQueryResult status{};
  CHECK(cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &encode, 12'000, 0, &status) ==
        cudaSuccess);
  CHECK(status == cudaDriverEntryPointSuccess);
  CHECK(encode == reinterpret_cast<void*>(&cuTensorMapEncodeTiled));
  CHECK(cudaGetDriverEntryPointByVersion("cuMemAlloc", &encode, 12'000, 0, nullptr) == cudaSuccess);
  CHECK(encode == reinterpret_cast<void*>(&cuMemAlloc));
  CHECK(cudaGetDriverEntryPointByVersion("cuNoSuch", &encode, 12'000, 0, &status) == cudaSuccess);
  CHECK(status == cudaDriverEntryPointSymbolNotFound);
  CHECK(cudaGetDriverEntryPointByVersion("cuMulticastCreate", &encode, 12'000, 0, nullptr) ==
        cudaErrorSymbolNotFound);

  CUdeviceptr memory = 0;
  REQUIRE(cuMemAlloc(&memory, 64ULL * 64 * 4) == CUDA_SUCCESS);
  alignas(64) CUtensorMap map{};
  alignas(64) CUtensorMap other{};
  const std::array<cuuint64_t, 2> extents{64, 64};
  const std::array<cuuint64_t, 1> strides{256};
  std::array<cuuint32_t, 2> box{32, 8};
  const std::array<cuuint32_t, 2> steps{1, 1};
  const auto tiled = [&](CUtensorMap& result, CUdeviceptr address) {
    return cuTensorMapEncodeTiled(
        &result, CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 2, reinterpret_cast<void*>(address), extents.data(),
        strides.data(), box.data(), steps.data(), CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B,
        CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  };
  CHECK(tiled(map, memory) == CUDA_SUCCESS);
  CHECK(tiled(other, memory + 256) == CUDA_SUCCESS);
  CHECK(cuTensorMapReplaceAddress(&map, reinterpret_cast<void*>(memory + 256)) == CUDA_SUCCESS);
  CHECK(std::memcmp(&map, &other, sizeof map) == 0);
  CHECK(tiled(map, memory + 1) == CUDA_ERROR_INVALID_VALUE);
  box[0] = 64;
  CHECK(tiled(map, memory) == CUDA_ERROR_INVALID_VALUE);
  std::memset(&map, 0, sizeof map);
  CHECK(cuTensorMapReplaceAddress(&map, reinterpret_cast<void*>(memory)) == CUDA_ERROR_INVALID_VALUE);
}

TEST_CASE("a device is no peer of itself", "[cudart]") {
  int value = 0;
  CHECK(cudaDeviceEnablePeerAccess(0, 0) == cudaErrorPeerAccessUnsupported);
  CHECK(cudaDeviceEnablePeerAccess(1, 0) == cudaErrorInvalidDevice);
  CHECK(cudaDeviceDisablePeerAccess(0) == cudaErrorPeerAccessNotEnabled);
  CHECK(cudaDeviceDisablePeerAccess(1) == cudaErrorInvalidDevice);
  CHECK(cudaDeviceGetP2PAttribute(&value, cudaDevP2PAttrAccessSupported, 0, 0) == cudaErrorInvalidDevice);
  CHECK(cuDeviceGetP2PAttribute(&value, CU_DEVICE_P2P_ATTRIBUTE_ACCESS_SUPPORTED, 0, 1) ==
        CUDA_ERROR_INVALID_DEVICE);
  CUcontext context = nullptr;
  REQUIRE(cuCtxGetCurrent(&context) == CUDA_SUCCESS);
  // Measured on an H100 with driver 13.0. CUDA's manual says CUDA_ERROR_INVALID_CONTEXT.
  CHECK(cuCtxEnablePeerAccess(context, 0) == CUDA_ERROR_PEER_ACCESS_UNSUPPORTED);
  CHECK(cuCtxEnablePeerAccess(nullptr, 0) == CUDA_ERROR_INVALID_CONTEXT);
  CHECK(cuCtxDisablePeerAccess(context) == CUDA_ERROR_PEER_ACCESS_NOT_ENABLED);
  CHECK(cuCtxDisablePeerAccess(nullptr) == CUDA_ERROR_INVALID_CONTEXT);
}

TEST_CASE("the driver finds the block size with the most threads per multiprocessor", "[cudart]") {
  CUmodule module = nullptr;
  CUfunction scale = nullptr;
  REQUIRE(cuModuleLoadData(&module, program::ptx().c_str()) == CUDA_SUCCESS);
  REQUIRE(cuModuleGetFunction(&scale, module, "scale") == CUDA_SUCCESS);
  int multiprocessors = 0;
  REQUIRE(cuDeviceGetAttribute(&multiprocessors, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, 0) ==
          CUDA_SUCCESS);
  int grid = 0;
  int block = 0;
  CHECK(cuOccupancyMaxPotentialBlockSize(&grid, &block, scale, nullptr, 0, 0) == CUDA_SUCCESS);
  CHECK(block == 256);  // .maxntid
  CHECK(grid == 2048 / 256 * multiprocessors);
  CHECK(cuOccupancyMaxPotentialBlockSize(&grid, &block, scale, nullptr, 0, 100) == CUDA_SUCCESS);
  CHECK(block == 64);  // 32 blocks of 64 threads; blocks of 100 threads would be only 16
  CHECK(grid == 32 * multiprocessors);
  // A multiprocessor has shared memory for a single block of more than 64 threads, and for none of more than
  // 224.
  const CUoccupancyB2DSize shared_bytes = [](int threads) {
    return static_cast<std::size_t>(threads) * 1024;
  };
  CHECK(cuOccupancyMaxPotentialBlockSizeWithFlags(&grid, &block, scale, shared_bytes, 0, 0, 0) ==
        CUDA_SUCCESS);
  CHECK(block * grid / multiprocessors == 224);
  CHECK(cuOccupancyMaxPotentialBlockSize(&grid, &block, scale, nullptr, 1 << 20, 0) ==
        CUDA_ERROR_INVALID_VALUE);
  CHECK(cuOccupancyMaxPotentialBlockSize(nullptr, &block, scale, nullptr, 0, 0) == CUDA_ERROR_INVALID_VALUE);
  int ctas = 0;
  CHECK(cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(&ctas, scale, 256, 0, 0) == CUDA_SUCCESS);
  CHECK(ctas == 8);
  CHECK(cuModuleUnload(module) == CUDA_SUCCESS);
}

TEST_CASE("the driver links one PTX into a module", "[cudart]") {
  std::array<char, 8> log{'u', 'n', 's', 'e', 't'};
  std::array<CUjit_option, 2> options{CU_JIT_INFO_LOG_BUFFER, CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES};
  std::array<void*, 2> values{log.data(), reinterpret_cast<void*>(std::uintptr_t{log.size()})};
  CUlinkState link = nullptr;
  REQUIRE(cuLinkCreate(2, options.data(), values.data(), &link) == CUDA_SUCCESS);
  CHECK(std::string(log.data()).empty());
  std::string ptx = program::ptx();
  CHECK(cuLinkAddData(link, CU_JIT_INPUT_CUBIN, ptx.data(), ptx.size(), "ptx", 0, nullptr, nullptr) ==
        CUDA_ERROR_NOT_SUPPORTED);
  CHECK(cuLinkAddFile(link, CU_JIT_INPUT_PTX, "absent.ptx", 0, nullptr, nullptr) ==
        CUDA_ERROR_FILE_NOT_FOUND);
  REQUIRE(cuLinkAddData(link, CU_JIT_INPUT_PTX, ptx.data(), ptx.size(), "ptx", 0, nullptr, nullptr) ==
          CUDA_SUCCESS);
  CHECK(cuLinkAddData(link, CU_JIT_INPUT_PTX, ptx.data(), ptx.size(), "ptx", 0, nullptr, nullptr) ==
        CUDA_ERROR_NOT_SUPPORTED);
  void* image = nullptr;
  std::size_t bytes = 0;
  CUmodule module = nullptr;
  CUfunction scale = nullptr;
  REQUIRE(cuLinkComplete(link, &image, &bytes) == CUDA_SUCCESS);
  CHECK(bytes == ptx.size() + 1);
  REQUIRE(cuModuleLoadData(&module, image) == CUDA_SUCCESS);
  CHECK(cuLinkDestroy(link) == CUDA_SUCCESS);
  CHECK(cuLinkDestroy(link) == CUDA_ERROR_INVALID_HANDLE);
  CHECK(cuModuleGetFunction(&scale, module, "scale") == CUDA_SUCCESS);
  CHECK(cuModuleUnload(module) == CUDA_SUCCESS);
}

TEST_CASE("functions of the driver refuse null results, and name all errors that they return") {
  CHECK(cuMemAllocPitch(nullptr, nullptr, 4, 4, 4) == CUDA_ERROR_INVALID_VALUE);
  CHECK(cuMemAllocAsync(nullptr, 4, nullptr) == CUDA_ERROR_INVALID_VALUE);
  CHECK(cuGetErrorName(CUDA_SUCCESS, nullptr) == CUDA_ERROR_INVALID_VALUE);
  CHECK(cuGetErrorString(CUDA_SUCCESS, nullptr) == CUDA_ERROR_INVALID_VALUE);
  CUlinkState link = nullptr;
  void* value = nullptr;
  CUjit_option option = CU_JIT_MAX_REGISTERS;
  CHECK(cuLinkCreate(1, nullptr, &value, &link) == CUDA_ERROR_INVALID_VALUE);
  CHECK(cuLinkCreate(1, &option, nullptr, &link) == CUDA_ERROR_INVALID_VALUE);
  for (const CUresult error :
       {CUDA_ERROR_PEER_ACCESS_UNSUPPORTED, CUDA_ERROR_PEER_ACCESS_NOT_ENABLED, CUDA_ERROR_ASSERT}) {
    const char* name = nullptr;
    CHECK(cuGetErrorName(error, &name) == CUDA_SUCCESS);
    CHECK(name != nullptr);
  }
}
