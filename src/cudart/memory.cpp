// Functions of the runtime that allocate and query memory.
#include "cudart/memory.hpp"

#include "cudart/graph_memory.hpp"
#include "cudart/modules.hpp"

#include <memory>
#include <utility>

using namespace tmajit::cudart;

namespace {

/// Rows begin at multiples of this number of bytes.
constexpr std::size_t pitch_alignment = 512;

std::size_t pitch_of(std::size_t width) {
  return (width + pitch_alignment - 1) / pitch_alignment * pitch_alignment;
}

/// Allocates from a pool. If the stream is captured, adds an allocation node to the graph instead.
void* allocate_on_stream(std::size_t bytes, std::shared_ptr<Pool> pool, cudaStream_t stream) {
  Graph* const graph = captured_into(stream);
  return graph == nullptr ? allocate(bytes, std::move(pool)) : add_allocation(*graph, bytes).memory;
}

}  // namespace

extern "C" {

cudaError_t cudaMalloc(void** pointer, std::size_t bytes) {
  return guarded(__func__, [&] { store(pointer, [&] { return allocate(bytes, MemoryKind::device); }); });
}
cudaError_t cudaMallocAsync(void** pointer, std::size_t bytes, cudaStream_t stream) {
  return guarded(__func__,
                 [&] { store(pointer, [&] { return allocate_on_stream(bytes, current_pool(), stream); }); });
}
cudaError_t cudaMallocFromPoolAsync(void** pointer, std::size_t bytes, cudaMemPool_t pool,
                                    cudaStream_t stream) {
  return guarded(__func__,
                 [&] { store(pointer, [&] { return allocate_on_stream(bytes, pool_at(pool), stream); }); });
}
cudaError_t cudaMallocPitch(void** pointer, std::size_t* pitch, std::size_t width, std::size_t height) {
  return guarded(__func__, [&] {
    require_non_null(pitch, "the pitch") = pitch_of(width);
    store(pointer, [&] { return allocate(*pitch * height, MemoryKind::device); });
  });
}
cudaError_t cudaMalloc3D(cudaPitchedPtr* result, cudaExtent extent) {
  return guarded(__func__, [&] {
    const std::size_t pitch = pitch_of(extent.width);
    store(result, [&] {
      void* const memory = allocate(pitch * extent.height * extent.depth, MemoryKind::device);
      return cudaPitchedPtr{memory, pitch, extent.width, extent.height};
    });
  });
}
cudaError_t cudaMallocManaged(void** pointer, std::size_t bytes, unsigned flags) {
  return guarded(__func__,
                 [&] { store(pointer, [&] { return allocate(bytes, MemoryKind::managed, flags); }); });
}
cudaError_t cudaHostAlloc(void** pointer, std::size_t bytes, unsigned flags) {
  return guarded(__func__,
                 [&] { store(pointer, [&] { return allocate(bytes, MemoryKind::pinned, flags); }); });
}
cudaError_t cudaMallocHost(void** pointer, std::size_t bytes) {
  return guarded(__func__, [&] { store(pointer, [&] { return allocate(bytes, MemoryKind::pinned); }); });
}
cudaError_t cudaFree(void* pointer) {
  return guarded(__func__, [&] { release(pointer); });
}
cudaError_t cudaFreeAsync(void* pointer, cudaStream_t stream) {
  return guarded(__func__, [&] {
    if (Graph* const graph = captured_into(stream); graph != nullptr) {
      add_free(*graph, pointer);
    } else {
      release(pointer);
    }
  });
}
cudaError_t cudaFreeHost(void* pointer) {
  return guarded(__func__, [&] { release_pinned(pointer); });
}

cudaError_t cudaHostRegister(void* pointer, std::size_t bytes, unsigned flags) {
  return guarded(__func__, [&] { register_host(pointer, bytes, flags); });
}
cudaError_t cudaHostUnregister(void* pointer) {
  return guarded(__func__, [&] { unregister_host(pointer); });
}
cudaError_t cudaHostGetDevicePointer(void** device_pointer, void* pointer, unsigned) {
  return guarded(__func__, [&] {
    (void)host_allocation_at(pointer);
    require_non_null(device_pointer, "the result") = pointer;
  });
}
cudaError_t cudaHostGetFlags(unsigned* flags, void* pointer) {
  return guarded(__func__,
                 [&] { require_non_null(flags, "the result") = host_allocation_at(pointer).flags; });
}

cudaError_t cudaMemGetInfo(std::size_t* free, std::size_t* total) {
  return guarded(__func__, [&] {
    require_non_null(total, "the total") = device().info().memory_bytes;
    require_non_null(free, "the result") = *total - used_bytes();
  });
}

cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* attributes, const void* pointer) {
  return guarded(__func__, [&] {
    auto& result = require_non_null(attributes, "the result");
    result = {};
    const auto allocation = allocation_at(pointer);
    auto* const address = const_cast<void*>(pointer);
    if (!allocation) {
      result.type = is_device_address(pointer) ? cudaMemoryTypeDevice : cudaMemoryTypeUnregistered;
      result.device = is_device_address(pointer) ? 0 : -2;
      (is_device_address(pointer) ? result.devicePointer : result.hostPointer) = address;
      return;
    }
    result.type = is_device(allocation->kind)               ? cudaMemoryTypeDevice
                  : allocation->kind == MemoryKind::managed ? cudaMemoryTypeManaged
                                                            : cudaMemoryTypeHost;
    result.devicePointer = address;
    if (!is_device(allocation->kind)) result.hostPointer = address;
  });
}

cudaError_t cudaGetSymbolAddress(void** pointer, const void* symbol) {
  return guarded(__func__, [&] {
    const Symbol found = symbol_of(symbol);
    if (found.variable.address == 0) {
      throw Failure(cudaErrorNotSupported, "\"" + found.variable.name +
                                               "\" is in constant memory, which has no address for the host; "
                                               "cudaMemcpyToSymbol writes it");
    }
    require_non_null(pointer, "the result") = pointer_at(found.variable.address);
  });
}
cudaError_t cudaGetSymbolSize(std::size_t* bytes, const void* symbol) {
  return guarded(__func__, [&] { require_non_null(bytes, "the result") = symbol_of(symbol).variable.bytes; });
}

}  // extern "C"
