// The only device and its properties. Limits are those of Hopper (CUDA C++ Programming Guide, "Technical
// Specifications"); limits of textures are 0, since this device has no textures.
#include "cudart/properties.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstring>
#include <limits>
#include <map>
#include <mutex>
#include <string>
#include <type_traits>
#include <utility>

#include <cuda.h>

TMAJIT_BEGIN
namespace cudart {
namespace {

constexpr int shared_bytes_per_multiprocessor = 228 * 1024;
constexpr int registers = 65'536;
// Nominal values: the simulated device has no clocks and no memory bus.
constexpr int clock_khz = 1'000'000;
constexpr int memory_clock_khz = 1'000'000;
constexpr int bus_bits = 5'120;
/// Attributes up to this number that are not listed below are 0; higher numbers are unknown.
constexpr int last_attribute = 200;

constexpr std::array<std::pair<cudaDeviceAttr, int>, 47> constants{{
    {cudaDevAttrMaxThreadsPerBlock, 1024},
    {cudaDevAttrMaxBlockDimX, 1024},
    {cudaDevAttrMaxBlockDimY, 1024},
    {cudaDevAttrMaxBlockDimZ, 64},
    {cudaDevAttrMaxGridDimX, std::numeric_limits<int>::max()},
    {cudaDevAttrMaxGridDimY, 65'535},
    {cudaDevAttrMaxGridDimZ, 65'535},
    {cudaDevAttrMaxSharedMemoryPerBlock, 48 * 1024},
    {cudaDevAttrTotalConstantMemory, 64 * 1024},
    {cudaDevAttrWarpSize, 32},
    {cudaDevAttrMaxPitch, std::numeric_limits<int>::max()},
    {cudaDevAttrMaxRegistersPerBlock, registers},
    {cudaDevAttrClockRate, clock_khz},
    {cudaDevAttrTextureAlignment, 512},
    {cudaDevAttrTexturePitchAlignment, 32},
    {cudaDevAttrSurfaceAlignment, 512},
    {cudaDevAttrGpuOverlap, 1},
    {cudaDevAttrCanMapHostMemory, 1},
    {cudaDevAttrComputeMode, cudaComputeModeDefault},
    {cudaDevAttrConcurrentKernels, 1},
    {cudaDevAttrMemoryClockRate, memory_clock_khz},
    {cudaDevAttrGlobalMemoryBusWidth, bus_bits},
    {cudaDevAttrMaxThreadsPerMultiProcessor, 2048},
    {cudaDevAttrAsyncEngineCount, 1},
    {cudaDevAttrUnifiedAddressing, 1},
    {cudaDevAttrStreamPrioritiesSupported, 1},
    {cudaDevAttrGlobalL1CacheSupported, 1},
    {cudaDevAttrLocalL1CacheSupported, 1},
    {cudaDevAttrMaxSharedMemoryPerMultiprocessor, shared_bytes_per_multiprocessor},
    {cudaDevAttrMaxRegistersPerMultiprocessor, registers},
    {cudaDevAttrManagedMemory, 1},
    {cudaDevAttrSingleToDoublePrecisionPerfRatio, 2},
    {cudaDevAttrConcurrentManagedAccess, 1},
    {cudaDevAttrComputePreemptionSupported, 1},
    {cudaDevAttrCanUseHostPointerForRegisteredMem, 1},
    {cudaDevAttrCooperativeLaunch, 1},
    {cudaDevAttrHostRegisterSupported, 1},
    {cudaDevAttrDirectManagedMemAccessFromHost, 1},
    {cudaDevAttrMaxBlocksPerMultiprocessor, 32},
    {cudaDevAttrReservedSharedMemoryPerBlock, 1024},
    {cudaDevAttrMemoryPoolsSupported, 1},
    {cudaDevAttrClusterLaunch, 1},
    {cudaDevAttrMemSyncDomainCount, 4},
    {cudaDevAttrNumaId, -1},
    {cudaDevAttrHostNumaId, -1},
    // The runtime has no names for these attributes.
    {static_cast<cudaDeviceAttr>(CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED), 1},
    {static_cast<cudaDeviceAttr>(CU_DEVICE_ATTRIBUTE_TENSOR_MAP_ACCESS_SUPPORTED), 1},
}};

std::mutex limits_mutex;
std::map<cudaLimit, std::size_t>& limits() {
  static auto& all = *new std::map<cudaLimit, std::size_t>{{cudaLimitStackSize, 1024},
                                                           {cudaLimitPrintfFifoSize, 1 << 20},
                                                           {cudaLimitMallocHeapSize, 8 << 20},
                                                           {cudaLimitMaxL2FetchGranularity, 128},
                                                           {cudaLimitPersistingL2CacheSize, 0}};
  return all;
}

}  // namespace

int device_attribute(int number) {
  const auto& info = device().info();
  switch (number) {
    case cudaDevAttrMultiProcessorCount: return static_cast<int>(info.sm_count);
    case cudaDevAttrComputeCapabilityMajor: return info.compute_major;
    case cudaDevAttrComputeCapabilityMinor: return info.compute_minor;
    case cudaDevAttrMaxSharedMemoryPerBlockOptin: return static_cast<int>(info.max_shared_bytes);
    case cudaDevAttrL2CacheSize: return static_cast<int>(info.l2_bytes);
    default: break;
  }
  for (const auto& [attribute, value] : constants) {
    if (attribute == number) return value;
  }
  if (number < 1 || number > last_attribute)
    throw Failure(cudaErrorInvalidValue, "there is no attribute " + std::to_string(number));
  return 0;
}

}  // namespace cudart
TMAJIT_END

using namespace tmajit::cudart;

extern "C" {

cudaError_t cudaGetDeviceCount(int* count) {
  return guarded(__func__, [&] { require_non_null(count, "the result") = 1; });
}
cudaError_t cudaGetDevice(int* ordinal) {
  return guarded(__func__, [&] { require_non_null(ordinal, "the result") = 0; });
}
cudaError_t cudaSetDevice(int ordinal) {
  return guarded(__func__, [&] { require_device(ordinal); });
}
cudaError_t cudaInitDevice(int ordinal, unsigned, unsigned) {
  return cudaSetDevice(ordinal);
}
cudaError_t cudaChooseDevice(int* ordinal, const cudaDeviceProp*) {
  return cudaGetDevice(ordinal);
}
cudaError_t cudaGetDeviceFlags(unsigned* flags) {
  return guarded(__func__, [&] { require_non_null(flags, "the result") = cudaDeviceScheduleAuto; });
}
cudaError_t cudaDeviceGetPCIBusId(char* text, int length, int ordinal) {
  return guarded(__func__, [&] {
    require_device(ordinal);
    std::snprintf(&require_non_null(text, "the result"), static_cast<std::size_t>(std::max(length, 0)),
                  "0000:00:00.0");
  });
}
cudaError_t cudaDeviceCanAccessPeer(int* answer, int ordinal, int peer) {
  return guarded(__func__, [&] {
    require_device(ordinal);
    require_device(peer);
    require_non_null(answer, "the result") = 0;
  });
}
// The version is newer than any real driver's. Programs that see an older driver change bits in its tensor
// maps, which would damage this device's maps, whose format is its own.
cudaError_t cudaDriverGetVersion(int* version) {
  return guarded(__func__, [&] { require_non_null(version, "the result") = driver_version; });
}
cudaError_t cudaRuntimeGetVersion(int* version) {
  return guarded(__func__, [&] { require_non_null(version, "the result") = CUDART_VERSION; });
}
cudaError_t cudaDeviceSetLimit(cudaLimit limit, std::size_t value) {
  return guarded(__func__, [&] {
    const std::lock_guard lock(limits_mutex);
    const auto found = limits().find(limit);
    if (found == limits().end())
      throw Failure(cudaErrorUnsupportedLimit, "limit " + std::to_string(limit) + " is not supported");
    found->second = value;
    if (limit == cudaLimitMallocHeapSize) set_heap_bytes(value);
  });
}
cudaError_t cudaDeviceGetLimit(std::size_t* value, cudaLimit limit) {
  return guarded(__func__, [&] {
    const std::lock_guard lock(limits_mutex);
    const auto found = limits().find(limit);
    if (found == limits().end())
      throw Failure(cudaErrorUnsupportedLimit, "limit " + std::to_string(limit) + " is not supported");
    require_non_null(value, "the result") = found->second;
  });
}

cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int ordinal) {
  return guarded(__func__, [&] {
    require_device(ordinal);
    require_non_null(value, "the result") = device_attribute(attribute);
  });
}

cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int ordinal) {
  return guarded(__func__, [&] {
    require_device(ordinal);
    auto& p = require_non_null(properties, "the result");
    const auto& info = device().info();
    p = {};
    std::snprintf(p.name, sizeof p.name, "%s", info.name.c_str());
    std::memcpy(p.uuid.bytes, device_uuid, sizeof p.uuid.bytes);
    p.totalGlobalMem = info.memory_bytes;
    const auto set = [](auto& field, cudaDeviceAttr attribute) {
      field = static_cast<std::remove_reference_t<decltype(field)>>(device_attribute(attribute));
    };
    set(p.sharedMemPerBlock, cudaDevAttrMaxSharedMemoryPerBlock);
    set(p.regsPerBlock, cudaDevAttrMaxRegistersPerBlock);
    set(p.warpSize, cudaDevAttrWarpSize);
    set(p.memPitch, cudaDevAttrMaxPitch);
    set(p.maxThreadsPerBlock, cudaDevAttrMaxThreadsPerBlock);
    for (int d = 0; d < 3; ++d) {
      set(p.maxThreadsDim[d], static_cast<cudaDeviceAttr>(cudaDevAttrMaxBlockDimX + d));
      set(p.maxGridSize[d], static_cast<cudaDeviceAttr>(cudaDevAttrMaxGridDimX + d));
    }
    set(p.totalConstMem, cudaDevAttrTotalConstantMemory);
    set(p.major, cudaDevAttrComputeCapabilityMajor);
    set(p.minor, cudaDevAttrComputeCapabilityMinor);
    set(p.textureAlignment, cudaDevAttrTextureAlignment);
    set(p.texturePitchAlignment, cudaDevAttrTexturePitchAlignment);
    set(p.surfaceAlignment, cudaDevAttrSurfaceAlignment);
    set(p.multiProcessorCount, cudaDevAttrMultiProcessorCount);
    set(p.canMapHostMemory, cudaDevAttrCanMapHostMemory);
    set(p.concurrentKernels, cudaDevAttrConcurrentKernels);
    set(p.asyncEngineCount, cudaDevAttrAsyncEngineCount);
    set(p.unifiedAddressing, cudaDevAttrUnifiedAddressing);
    set(p.memoryBusWidth, cudaDevAttrGlobalMemoryBusWidth);
    set(p.l2CacheSize, cudaDevAttrL2CacheSize);
    set(p.maxThreadsPerMultiProcessor, cudaDevAttrMaxThreadsPerMultiProcessor);
    set(p.streamPrioritiesSupported, cudaDevAttrStreamPrioritiesSupported);
    set(p.globalL1CacheSupported, cudaDevAttrGlobalL1CacheSupported);
    set(p.localL1CacheSupported, cudaDevAttrLocalL1CacheSupported);
    set(p.sharedMemPerMultiprocessor, cudaDevAttrMaxSharedMemoryPerMultiprocessor);
    set(p.regsPerMultiprocessor, cudaDevAttrMaxRegistersPerMultiprocessor);
    set(p.managedMemory, cudaDevAttrManagedMemory);
    set(p.concurrentManagedAccess, cudaDevAttrConcurrentManagedAccess);
    set(p.computePreemptionSupported, cudaDevAttrComputePreemptionSupported);
    set(p.canUseHostPointerForRegisteredMem, cudaDevAttrCanUseHostPointerForRegisteredMem);
    set(p.cooperativeLaunch, cudaDevAttrCooperativeLaunch);
    set(p.sharedMemPerBlockOptin, cudaDevAttrMaxSharedMemoryPerBlockOptin);
    set(p.directManagedMemAccessFromHost, cudaDevAttrDirectManagedMemAccessFromHost);
    set(p.maxBlocksPerMultiProcessor, cudaDevAttrMaxBlocksPerMultiprocessor);
    set(p.reservedSharedMemPerBlock, cudaDevAttrReservedSharedMemoryPerBlock);
    set(p.hostRegisterSupported, cudaDevAttrHostRegisterSupported);
    set(p.memoryPoolsSupported, cudaDevAttrMemoryPoolsSupported);
    set(p.clusterLaunch, cudaDevAttrClusterLaunch);
#if CUDART_VERSION < 13000
    set(p.clockRate, cudaDevAttrClockRate);
    set(p.memoryClockRate, cudaDevAttrMemoryClockRate);
    set(p.deviceOverlap, cudaDevAttrGpuOverlap);
#endif
  });
}

}  // extern "C"
