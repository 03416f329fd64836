// The driver's memory pools. The runtime uses the same handles, attributes and access flags.
#include "cudart/driver.hpp"
#include "cudart/memory.hpp"

#include <span>
#include <vector>

using namespace tmajit::cudart;

namespace {

cudaMemLocation location_of(const CUmemLocation& location) {
  cudaMemLocation result{};
  result.type = static_cast<cudaMemLocationType>(location.type);
  result.id = location.id;
  return result;
}

}  // namespace

extern "C" {

CUresult cuDeviceGetDefaultMemPool(CUmemoryPool* pool, CUdevice ordinal) {
  return as_result(cudaDeviceGetDefaultMemPool(pool, ordinal));
}
CUresult cuDeviceGetMemPool(CUmemoryPool* pool, CUdevice ordinal) {
  return as_result(cudaDeviceGetMemPool(pool, ordinal));
}
CUresult cuDeviceSetMemPool(CUdevice ordinal, CUmemoryPool pool) {
  return as_result(cudaDeviceSetMemPool(ordinal, pool));
}
CUresult cuMemPoolCreate(CUmemoryPool* pool, const CUmemPoolProps* properties) {
  if (properties == nullptr) return as_result(cudaMemPoolCreate(pool, nullptr));
  cudaMemPoolProps converted{};
  converted.allocType = static_cast<cudaMemAllocationType>(properties->allocType);
  converted.handleTypes = static_cast<cudaMemAllocationHandleType>(properties->handleTypes);
  converted.location = location_of(properties->location);
  converted.maxSize = properties->maxSize;
  return as_result(cudaMemPoolCreate(pool, &converted));
}
CUresult cuMemPoolDestroy(CUmemoryPool pool) {
  return as_result(cudaMemPoolDestroy(pool));
}
CUresult cuMemPoolTrimTo(CUmemoryPool pool, std::size_t bytes) {
  return as_result(cudaMemPoolTrimTo(pool, bytes));
}
CUresult cuMemPoolSetAttribute(CUmemoryPool pool, CUmemPool_attribute attribute, void* value) {
  return as_result(cudaMemPoolSetAttribute(pool, static_cast<cudaMemPoolAttr>(attribute), value));
}
CUresult cuMemPoolGetAttribute(CUmemoryPool pool, CUmemPool_attribute attribute, void* value) {
  return as_result(cudaMemPoolGetAttribute(pool, static_cast<cudaMemPoolAttr>(attribute), value));
}
CUresult cuMemPoolSetAccess(CUmemoryPool pool, const CUmemAccessDesc* descriptions, std::size_t count) {
  if (descriptions == nullptr) return as_result(cudaMemPoolSetAccess(pool, nullptr, count));
  std::vector<cudaMemAccessDesc> converted;
  for (const auto& each : std::span(descriptions, count))
    converted.push_back({location_of(each.location), static_cast<cudaMemAccessFlags>(each.flags)});
  return as_result(cudaMemPoolSetAccess(pool, converted.data(), converted.size()));
}
CUresult cuMemPoolGetAccess(CUmemAccess_flags* flags, CUmemoryPool pool, CUmemLocation* location) {
  if (location == nullptr) return as_result(cudaMemPoolGetAccess(nullptr, pool, nullptr));
  cudaMemLocation converted = location_of(*location);
  cudaMemAccessFlags found = cudaMemAccessFlagsProtNone;
  const cudaError_t code = cudaMemPoolGetAccess(flags == nullptr ? nullptr : &found, pool, &converted);
  if (code == cudaSuccess && flags != nullptr) *flags = static_cast<CUmemAccess_flags>(found);
  return as_result(code);
}
CUresult cuMemAllocFromPoolAsync(CUdeviceptr* result, std::size_t bytes, CUmemoryPool pool, CUstream stream) {
  void* pointer = nullptr;
  const CUresult code =
      as_result(cudaMallocFromPoolAsync(result == nullptr ? nullptr : &pointer, bytes, pool, stream));
  if (code == CUDA_SUCCESS && result != nullptr) *result = address_of(pointer);
  return code;
}

}  // extern "C"
