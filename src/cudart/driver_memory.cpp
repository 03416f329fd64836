// The driver's functions that allocate, query, copy and fill memory.
#include "cudart/driver.hpp"
#include "cudart/graphs.hpp"
#include "cudart/memory.hpp"

using namespace tmajit::cudart;

namespace {

CUresult do_copy(const char* function, void* destination, const void* source, std::size_t bytes,
                 CUstream stream) {
  return driver_guarded(function, [&] {
    enqueue(stream, cudaGraphNodeTypeMemcpy,
            [=](cudaStream_t launch_stream) { copy(destination, source, bytes, launch_stream); });
  });
}
/// Fills `height` rows of `width` elements.
CUresult do_fill(const char* function, CUdeviceptr destination, std::size_t pitch, std::uint32_t value,
                 std::uint32_t element_bytes, std::size_t width, std::size_t height, CUstream stream) {
  return driver_guarded(function, [&] {
    enqueue(stream, cudaGraphNodeTypeMemset, [=](cudaStream_t launch_stream) {
      fill(pointer_at(destination), Rows{pitch, 0}, value, element_bytes,
           Extent{width * element_bytes, height}, launch_stream);
    });
  });
}

/// The first byte of the source or the destination of a 2D copy.
std::byte* first_byte(CUmemorytype type, void* host, CUdeviceptr address, CUarray array, std::size_t pitch,
                      std::size_t x, std::size_t y) {
  if (array != nullptr && type == CU_MEMORYTYPE_ARRAY)
    throw Failure(cudaErrorNotSupported, "the simulated device has no CUDA arrays");
  void* const base = type == CU_MEMORYTYPE_HOST ? host : pointer_at(address);
  return static_cast<std::byte*>(base) + y * pitch + x;
}
CUresult do_copy(const char* function, const CUDA_MEMCPY2D* parameters, CUstream stream) {
  return driver_guarded(function, [&] {
    const CUDA_MEMCPY2D& p = require_non_null(parameters, "the parameters");
    std::byte* const destination =
        first_byte(p.dstMemoryType, p.dstHost, p.dstDevice, p.dstArray, p.dstPitch, p.dstXInBytes, p.dstY);
    std::byte* const source = first_byte(p.srcMemoryType, const_cast<void*>(p.srcHost), p.srcDevice,
                                         p.srcArray, p.srcPitch, p.srcXInBytes, p.srcY);
    const Rows destination_rows{p.dstPitch, 0};
    const Rows source_rows{p.srcPitch, 0};
    const Extent extent{p.WidthInBytes, p.Height};
    enqueue(stream, cudaGraphNodeTypeMemcpy, [=](cudaStream_t launch_stream) {
      copy(destination, destination_rows, source, source_rows, extent, launch_stream);
    });
  });
}

}  // namespace

extern "C" {

CUresult cuMemAlloc(CUdeviceptr* result, std::size_t bytes) {
  return driver_guarded(__func__, [&] {
    if (bytes == 0) throw Failure(cudaErrorInvalidValue, "an allocation of no bytes");
    store(result, [&] { return address_of(allocate(bytes, MemoryKind::device)); });
  });
}
CUresult cuMemAllocPitch(CUdeviceptr* result, std::size_t* pitch, std::size_t width, std::size_t height,
                         unsigned) {
  if (result == nullptr) return CUDA_ERROR_INVALID_VALUE;
  void* pointer = nullptr;
  const CUresult code = as_result(cudaMallocPitch(&pointer, pitch, width, height));
  if (code == CUDA_SUCCESS) *result = address_of(pointer);
  return code;
}
CUresult cuMemAllocAsync(CUdeviceptr* result, std::size_t bytes, CUstream stream) {
  if (result == nullptr) return CUDA_ERROR_INVALID_VALUE;
  void* pointer = nullptr;
  const CUresult code = as_result(cudaMallocAsync(&pointer, bytes, stream));
  if (code == CUDA_SUCCESS) *result = address_of(pointer);
  return code;
}
CUresult cuMemAllocManaged(CUdeviceptr* result, std::size_t bytes, unsigned flags) {
  return driver_guarded(__func__, [&] {
    store(result, [&] { return address_of(allocate(bytes, MemoryKind::managed, flags)); });
  });
}
CUresult cuMemFree(CUdeviceptr address) {
  return driver_guarded(__func__, [&] { release(pointer_at(address)); });
}
CUresult cuMemFreeAsync(CUdeviceptr address, CUstream stream) {
  return as_result(cudaFreeAsync(pointer_at(address), stream));
}
CUresult cuMemAllocHost(void** result, std::size_t bytes) {
  return as_result(cudaMallocHost(result, bytes));
}
CUresult cuMemHostAlloc(void** result, std::size_t bytes, unsigned flags) {
  return as_result(cudaHostAlloc(result, bytes, flags));
}
CUresult cuMemFreeHost(void* pointer) {
  return as_result(cudaFreeHost(pointer));
}
CUresult cuMemHostRegister(void* pointer, std::size_t bytes, unsigned flags) {
  return as_result(cudaHostRegister(pointer, bytes, flags));
}
CUresult cuMemHostUnregister(void* pointer) {
  return as_result(cudaHostUnregister(pointer));
}
CUresult cuMemHostGetDevicePointer(CUdeviceptr* result, void* pointer, unsigned) {
  return driver_guarded(__func__, [&] {
    (void)host_allocation_at(pointer);
    require_non_null(result, "the result") = address_of(pointer);
  });
}
CUresult cuMemHostGetFlags(unsigned* flags, void* pointer) {
  return as_result(cudaHostGetFlags(flags, pointer));
}
CUresult cuMemGetInfo(std::size_t* free, std::size_t* total) {
  return as_result(cudaMemGetInfo(free, total));
}
CUresult cuMemGetAddressRange(CUdeviceptr* begin, std::size_t* bytes, CUdeviceptr address) {
  return driver_guarded(__func__, [&] {
    const auto allocation = allocation_at(pointer_at(address));
    if (!allocation) throw Failure(cudaErrorSymbolNotFound, "the address is in no allocation");
    if (begin != nullptr) *begin = allocation->begin;
    if (bytes != nullptr) *bytes = allocation->bytes;
  });
}
CUresult cuPointerGetAttribute(void* result, CUpointer_attribute attribute, CUdeviceptr address) {
  return driver_guarded(__func__, [&] {
    require_non_null(static_cast<char*>(result), "the result");
    const auto allocation = allocation_at(pointer_at(address));
    if (!allocation && !is_device_address(pointer_at(address)))
      throw Failure(cudaErrorInvalidValue, "the address is in no memory that CUDA knows");
    const bool is_device_memory = !allocation || is_device(allocation->kind);
    switch (attribute) {
      case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
        *static_cast<CUmemorytype*>(result) = is_device_memory || allocation->kind == MemoryKind::managed
                                                  ? CU_MEMORYTYPE_DEVICE
                                                  : CU_MEMORYTYPE_HOST;
        break;
      case CU_POINTER_ATTRIBUTE_IS_MANAGED:
        *static_cast<int*>(result) = allocation && allocation->kind == MemoryKind::managed ? 1 : 0;
        break;
      case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL: *static_cast<int*>(result) = 0; break;
      case CU_POINTER_ATTRIBUTE_DEVICE_POINTER: *static_cast<CUdeviceptr*>(result) = address; break;
      case CU_POINTER_ATTRIBUTE_HOST_POINTER:
        if (is_device_memory) throw Failure(cudaErrorInvalidValue, "the host cannot reach the address");
        *static_cast<void**>(result) = pointer_at(address);
        break;
      default:
        throw Failure(cudaErrorNotSupported,
                      "attribute " + std::to_string(attribute) + " of a pointer is not supported");
    }
  });
}

CUresult cuMemcpy(CUdeviceptr destination, CUdeviceptr source, std::size_t bytes) {
  return do_copy(__func__, pointer_at(destination), pointer_at(source), bytes, nullptr);
}
CUresult cuMemcpyAsync(CUdeviceptr destination, CUdeviceptr source, std::size_t bytes, CUstream stream) {
  return do_copy(__func__, pointer_at(destination), pointer_at(source), bytes, stream);
}
CUresult cuMemcpyHtoD(CUdeviceptr destination, const void* source, std::size_t bytes) {
  return do_copy(__func__, pointer_at(destination), source, bytes, nullptr);
}
CUresult cuMemcpyHtoDAsync(CUdeviceptr destination, const void* source, std::size_t bytes, CUstream stream) {
  return do_copy(__func__, pointer_at(destination), source, bytes, stream);
}
CUresult cuMemcpyDtoH(void* destination, CUdeviceptr source, std::size_t bytes) {
  return do_copy(__func__, destination, pointer_at(source), bytes, nullptr);
}
CUresult cuMemcpyDtoHAsync(void* destination, CUdeviceptr source, std::size_t bytes, CUstream stream) {
  return do_copy(__func__, destination, pointer_at(source), bytes, stream);
}
CUresult cuMemcpyDtoD(CUdeviceptr destination, CUdeviceptr source, std::size_t bytes) {
  return do_copy(__func__, pointer_at(destination), pointer_at(source), bytes, nullptr);
}
CUresult cuMemcpyDtoDAsync(CUdeviceptr destination, CUdeviceptr source, std::size_t bytes, CUstream stream) {
  return do_copy(__func__, pointer_at(destination), pointer_at(source), bytes, stream);
}
CUresult cuMemcpy2D(const CUDA_MEMCPY2D* parameters) {
  return do_copy(__func__, parameters, nullptr);
}
CUresult cuMemcpy2DUnaligned(const CUDA_MEMCPY2D* parameters) {
  return do_copy(__func__, parameters, nullptr);
}
CUresult cuMemcpy2DAsync(const CUDA_MEMCPY2D* parameters, CUstream stream) {
  return do_copy(__func__, parameters, stream);
}

CUresult cuMemsetD8(CUdeviceptr destination, unsigned char value, std::size_t count) {
  return do_fill(__func__, destination, 0, value, 1, count, 1, nullptr);
}
CUresult cuMemsetD8Async(CUdeviceptr destination, unsigned char value, std::size_t count, CUstream stream) {
  return do_fill(__func__, destination, 0, value, 1, count, 1, stream);
}
CUresult cuMemsetD16(CUdeviceptr destination, unsigned short value, std::size_t count) {
  return do_fill(__func__, destination, 0, value, 2, count, 1, nullptr);
}
CUresult cuMemsetD16Async(CUdeviceptr destination, unsigned short value, std::size_t count, CUstream stream) {
  return do_fill(__func__, destination, 0, value, 2, count, 1, stream);
}
CUresult cuMemsetD32(CUdeviceptr destination, unsigned value, std::size_t count) {
  return do_fill(__func__, destination, 0, value, 4, count, 1, nullptr);
}
CUresult cuMemsetD32Async(CUdeviceptr destination, unsigned value, std::size_t count, CUstream stream) {
  return do_fill(__func__, destination, 0, value, 4, count, 1, stream);
}
CUresult cuMemsetD2D8(CUdeviceptr destination, std::size_t pitch, unsigned char value, std::size_t width,
                      std::size_t height) {
  return do_fill(__func__, destination, pitch, value, 1, width, height, nullptr);
}
CUresult cuMemsetD2D32(CUdeviceptr destination, std::size_t pitch, unsigned value, std::size_t width,
                       std::size_t height) {
  return do_fill(__func__, destination, pitch, value, 4, width, height, nullptr);
}

}  // extern "C"
