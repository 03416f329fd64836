#include "cudart/program.hpp"

#include <array>
#include <cstring>
#include <string>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_all.hpp>

using Catch::Matchers::ContainsSubstring;
using namespace program;

namespace {

/// The value of the device variable whose host shadow is `shadow`.
std::uint32_t symbol_value(const char& shadow) {
  std::uint32_t value = 0;
  REQUIRE(cudaMemcpyFromSymbol(&value, &shadow, 4, 0, cudaMemcpyDeviceToHost) == cudaSuccess);
  return value;
}

}  // namespace

TEST_CASE("the runtime functions that nvcc's host code calls for <<<>>> run the kernel", "[cudart]") {
  auto* const values = device_values({1, 2, 3, 4});
  std::uint32_t factor = 5;
  auto* address = values;
  CHECK(launch(stub(&scale), 2, 2, {&address, &factor}) == cudaSuccess);
  CHECK(cudaDeviceSynchronize() == cudaSuccess);
  CHECK(host_values(values, 4) == std::vector<std::uint32_t>{105, 110, 115, 120});
}

TEST_CASE("kernels of a program share device variables, which the host can read and write", "[cudart]") {
  CHECK(symbol_value(launches) == 10);
  count();
  count();
  CHECK(symbol_value(launches) == 12);
  void* address = nullptr;
  CHECK(cudaGetSymbolAddress(&address, &launches) == cudaSuccess);
  std::uint32_t seen = 0;
  CHECK(cudaMemcpy(&seen, address, 4, cudaMemcpyDeviceToHost) == cudaSuccess);
  CHECK(seen == 12);
  std::size_t bytes = 0;
  CHECK(cudaGetSymbolSize(&bytes, &bias) == cudaSuccess);
  CHECK(bytes == 4);

  auto* const values = device_values(std::vector<std::uint32_t>(32, 1));
  const std::uint32_t seven = 7;
  scale(values, 1);  // the first launch sees the initial value
  CHECK(cudaMemcpyToSymbol(&bias, &seven, 4, 0, cudaMemcpyHostToDevice) == cudaSuccess);
  scale(values, 1);
  CHECK(host_values(values, 1)[0] == 1 + 100 + 7);
  CHECK(symbol_value(bias) == 7);
  const std::uint32_t initial = 100;
  CHECK(cudaMemcpyToSymbol(&bias, &initial, 4, 0, cudaMemcpyHostToDevice) == cudaSuccess);
}

TEST_CASE("symbols without an address and copies beyond a symbol's end are refused", "[cudart]") {
  std::uint32_t value = 0;
  void* address = nullptr;
  CHECK(cudaGetSymbolAddress(&address, &bias) == cudaErrorNotSupported);
  CHECK(cudaGetSymbolAddress(&address, &value) == cudaErrorInvalidSymbol);
  CHECK(cudaGetSymbolAddress(&address, &not_in_ptx_) == cudaErrorInvalidSymbol);
  CHECK(cudaMemcpyToSymbol(&launches, &value, 4, 1, cudaMemcpyHostToDevice) == cudaErrorInvalidValue);
  CHECK(cudaMemcpyFromSymbol(&value, &launches, 5, 0, cudaMemcpyDeviceToHost) == cudaErrorInvalidValue);
}

TEST_CASE("a failed device assertion is returned by the next synchronisation", "[cudart]") {
  asserts();
  CHECK(cudaDeviceSynchronize() == cudaErrorAssert);
  CHECK(cudaGetLastError() == cudaErrorAssert);
  CHECK_THAT(reports().back(), ContainsSubstring("assertion `n>0' failed"));
  CHECK(cudaDeviceSynchronize() == cudaSuccess);
}

TEST_CASE("an invalid launch returns an error, and the next valid launch works", "[cudart]") {
  auto* values = device_values({1, 2, 3, 4});
  std::uint32_t factor = 1;
  const std::vector<void*> arguments{&values, &factor};
  CHECK(launch(stub(&not_in_ptx), 1, 1, {}) == cudaErrorInvalidDeviceFunction);
  CHECK(launch(&factor, 1, 1, {}) == cudaErrorInvalidDeviceFunction);
  CHECK(cudaPeekAtLastError() == cudaErrorInvalidDeviceFunction);
  CHECK(cudaGetLastError() == cudaErrorInvalidDeviceFunction);
  CHECK(cudaGetLastError() == cudaSuccess);
  CHECK(launch(stub(&scale), 0, 1, arguments) == cudaErrorInvalidConfiguration);
  CHECK(launch(stub(&scale), 1, 257, arguments) == cudaErrorInvalidConfiguration);
  CHECK(launch(stub(&scale), 1, 1, arguments, nullptr, 49'153) == cudaErrorInvalidConfiguration);
  CHECK(cudaLaunchKernel(stub(&scale), 1, 1, nullptr, 0, nullptr) == cudaErrorInvalidValue);
  CHECK(cudaLaunchCooperativeKernel(stub(&scale), 1'000'000, 1, const_cast<void**>(arguments.data()), 0,
                                    nullptr) == cudaErrorCooperativeLaunchTooLarge);
  CHECK(cudaLaunchKernelExC(nullptr, stub(&scale), const_cast<void**>(arguments.data())) ==
        cudaErrorInvalidValue);
  cudaLaunchAttribute attribute{};
  attribute.id = cudaLaunchAttributeProgrammaticEvent;
  cudaLaunchConfig_t config{};
  config.gridDim = config.blockDim = dim3(1);
  config.attrs = &attribute;
  config.numAttrs = 1;
  CHECK(cudaLaunchKernelExC(&config, stub(&scale), const_cast<void**>(arguments.data())) ==
        cudaErrorNotSupported);
  attribute.id = cudaLaunchAttributeClusterDimension;
  attribute.val.clusterDim = {2, 1, 1};
  config.gridDim = dim3(2);
  config.blockDim = dim3(2);
  CHECK(cudaLaunchKernelExC(&config, stub(&scale), const_cast<void**>(arguments.data())) == cudaSuccess);
  CHECK(host_values(values, 4) == std::vector<std::uint32_t>{101, 102, 103, 104});
}

TEST_CASE("a report names the kernel's source line, and later launches still run", "[cudart]") {
  auto* const values = device_values({1});
  const std::size_t before = reports().size();
  past(values);
  count();
  CHECK(cudaDeviceSynchronize() == cudaSuccess);
  const auto lines = reports();
  REQUIRE(lines.size() == before + 1);
  CHECK_THAT(lines.back(), ContainsSubstring("\"rule\":\"global.out-of-bounds\""));
  CHECK_THAT(lines.back(), ContainsSubstring("\"kernel\":\"past\""));
  CHECK_THAT(lines.back(), ContainsSubstring("\"source_file\":\"program.cu\""));
  CHECK_THAT(lines.back(), ContainsSubstring("\"source_line\":8"));
}

TEST_CASE("equal faulty launches give equal reports in the same order", "[cudart]") {
  auto* values = device_values({1});
  const std::size_t before = reports().size();
  for (int i = 0; i < 2; ++i) CHECK(launch(stub(&past), 64, 64, {&values}) == cudaSuccess);
  const auto lines = reports();
  const std::size_t each = (lines.size() - before) / 2;
  REQUIRE(each > 0);
  REQUIRE(lines.size() == before + 2 * each);
  for (std::size_t i = 0; i < each; ++i) CHECK(lines[before + i] == lines[before + each + i]);
}

TEST_CASE("attributes of a kernel are read from its PTX", "[cudart]") {
  cudaFuncAttributes attributes{};
  CHECK(cudaFuncGetAttributes(&attributes, stub(&scale)) == cudaSuccess);
  CHECK(attributes.maxThreadsPerBlock == 256);
  CHECK(attributes.constSizeBytes == 4);
  CHECK(attributes.maxDynamicSharedSizeBytes == 48 * 1024);
  const auto most = cudaFuncAttributeMaxDynamicSharedMemorySize;
  CHECK(cudaFuncSetAttribute(stub(&scale), most, 227 * 1024 + 1) == cudaErrorInvalidValue);
  CHECK(cudaFuncSetAttribute(stub(&scale), most, -1) == cudaErrorInvalidValue);
  CHECK(cudaFuncSetAttribute(stub(&scale), cudaFuncAttributeMax, 1) == cudaErrorNotSupported);
  CHECK(cudaFuncSetAttribute(stub(&scale), most, 100'000) == cudaSuccess);
  CHECK(cudaFuncGetAttributes(&attributes, stub(&scale)) == cudaSuccess);
  CHECK(attributes.maxDynamicSharedSizeBytes == 100'000);

  int blocks = -1;
  CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, stub(&scale), 256, 100'000) == cudaSuccess);
  CHECK(blocks == 2);
  CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, stub(&scale), 512, 0) == cudaSuccess);
  CHECK(blocks == 0);
  CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, stub(&scale), 0, 0) == cudaErrorInvalidValue);
  CHECK(cudaFuncGetAttributes(nullptr, stub(&scale)) == cudaErrorInvalidValue);
  cudaKernel_t kernel = nullptr;
  CHECK(cudaGetKernel(&kernel, stub(&scale)) == cudaSuccess);
  const char* name = nullptr;
  CHECK(cudaFuncGetName(&name, kernel) == cudaSuccess);
  CHECK(std::string(name) == "scale");
}

TEST_CASE("device attributes and the device properties struct agree", "[cudart]") {
  cudaDeviceProp properties{};
  REQUIRE(cudaGetDeviceProperties(&properties, 0) == cudaSuccess);
  CHECK(properties.major == 9);
  CHECK(properties.minor == 0);
  CHECK(properties.sharedMemPerBlockOptin == 227ULL * 1024);
  CHECK(properties.maxThreadsDim[2] == 64);
  CHECK(properties.clusterLaunch == 1);
  CHECK(cudaGetDeviceProperties(&properties, 1) == cudaErrorInvalidDevice);
  int value = -1;
  for (int number = 1; number <= 147; ++number) {
    CAPTURE(number);
    CHECK(cudaDeviceGetAttribute(&value, static_cast<cudaDeviceAttr>(number), 0) == cudaSuccess);
  }
  CHECK(cudaDeviceGetAttribute(&value, cudaDevAttrComputeMode, 0) == cudaSuccess);
  CHECK(value == cudaComputeModeDefault);
  CHECK(cudaDeviceGetAttribute(&value, static_cast<cudaDeviceAttr>(0), 0) == cudaErrorInvalidValue);
  CHECK(cudaSetDevice(1) == cudaErrorInvalidDevice);
  std::size_t bytes = 0;
  CHECK(cudaDeviceSetLimit(cudaLimitStackSize, 4096) == cudaSuccess);
  CHECK(cudaDeviceGetLimit(&bytes, cudaLimitStackSize) == cudaSuccess);
  CHECK(bytes == 4096);
  CHECK(cudaDeviceGetLimit(&bytes, static_cast<cudaLimit>(7)) == cudaErrorUnsupportedLimit);
}

TEST_CASE("errors have names and descriptions", "[cudart]") {
  CHECK(std::string(cudaGetErrorName(cudaErrorInvalidValue)) == "cudaErrorInvalidValue");
  CHECK(std::string(cudaGetErrorString(cudaErrorInvalidValue)) == "invalid value");
  CHECK(std::string(cudaGetErrorString(cudaSuccess)) == "no error");
  CHECK(std::string(cudaGetErrorName(static_cast<cudaError_t>(12'345))) == "cudaErrorUnrecognized");
}

TEST_CASE("an unsupported runtime function returns cudaErrorNotSupported", "[cudart]") {
  cudaTextureObject_t texture = 0;
  CHECK(cudaCreateTextureObject(&texture, nullptr, nullptr, nullptr) == cudaErrorNotSupported);
  CHECK(cudaGetLastError() == cudaErrorNotSupported);
}
