// Functions of the runtime that copy and fill memory.
#include "cudart/graphs.hpp"
#include "cudart/memory.hpp"
#include "cudart/modules.hpp"

#include <cstring>
#include <span>
#include <vector>

using namespace tmajit::cudart;

namespace {

void require_kind(cudaMemcpyKind kind) {
  if (static_cast<unsigned>(kind) > static_cast<unsigned>(cudaMemcpyDefault))
    throw Failure(cudaErrorInvalidMemcpyDirection, "the direction is not a cudaMemcpyKind");
}

Work copy_of(void* destination, const void* source, std::size_t bytes, cudaMemcpyKind kind) {
  require_kind(kind);
  return [=](cudaStream_t stream) { copy(destination, source, bytes, stream); };
}
Work copy_of(void* destination, std::size_t destination_pitch, const void* source, std::size_t source_pitch,
             std::size_t width, std::size_t height, cudaMemcpyKind kind) {
  require_kind(kind);
  return [=](cudaStream_t stream) {
    copy(destination, Rows{destination_pitch, 0}, source, Rows{source_pitch, 0}, Extent{width, height},
         stream);
  };
}

void* position(const cudaPitchedPtr& pointer, const cudaPos& at) {
  const std::size_t row = at.z * pointer.ysize + at.y;
  return static_cast<std::byte*>(pointer.ptr) + row * pointer.pitch + at.x;
}
Rows rows_of(const cudaPitchedPtr& pointer) {
  return {pointer.pitch, pointer.pitch * pointer.ysize};
}

Work fill_of(void* destination, std::size_t pitch, std::size_t slice, int value, const Extent& extent) {
  return [=](cudaStream_t stream) {
    fill(destination, Rows{pitch, slice}, static_cast<std::uint32_t>(value), 1, extent, stream);
  };
}

/// The module of a variable. Throws Failure if `bytes` at `offset` are not all in the variable: copies are
/// checked when they are enqueued.
tmajit::SimModule& module_of(const void* symbol, std::size_t bytes, std::size_t offset, std::string& name) {
  const Symbol found = symbol_of(symbol);
  name = found.variable.name;
  if (offset > found.variable.bytes || bytes > found.variable.bytes - offset) {
    throw Failure(cudaErrorInvalidValue, std::to_string(bytes) + " bytes at byte " + std::to_string(offset) +
                                             " of \"" + name + "\", which has " +
                                             std::to_string(found.variable.bytes));
  }
  return found.module;
}
Work copy_to_symbol(const void* symbol, const void* source, std::size_t bytes, std::size_t offset) {
  std::string name;
  auto& module = module_of(symbol, bytes, offset, name);
  return [=, &module](cudaStream_t stream) {
    std::vector<std::byte> values(bytes);
    copy(values.data(), source, bytes, stream);
    module.write(name, offset, values);
  };
}
Work copy_from_symbol(void* destination, const void* symbol, std::size_t bytes, std::size_t offset) {
  std::string name;
  auto& module = module_of(symbol, bytes, offset, name);
  return [=, &module](cudaStream_t stream) {
    std::vector<std::byte> values(bytes);
    module.read(name, offset, values);
    copy(destination, values.data(), bytes, stream);
  };
}

cudaError_t do_copy(const char* function, cudaStream_t stream, const std::function<Work()>& work) {
  return guarded(function, [&] { enqueue(stream, cudaGraphNodeTypeMemcpy, work()); });
}
cudaError_t do_fill(const char* function, cudaStream_t stream, const std::function<Work()>& work) {
  return guarded(function, [&] { enqueue(stream, cudaGraphNodeTypeMemset, work()); });
}

}  // namespace

Work tmajit::cudart::copy_of(const cudaMemcpy3DParms& p) {
  if (p.srcArray != nullptr || p.dstArray != nullptr)
    throw Failure(cudaErrorNotSupported, "the simulated device has no CUDA arrays");
  require_kind(p.kind);
  return [p](cudaStream_t stream) {
    copy(position(p.dstPtr, p.dstPos), rows_of(p.dstPtr), position(p.srcPtr, p.srcPos), rows_of(p.srcPtr),
         Extent{p.extent.width, p.extent.height, p.extent.depth}, stream);
  };
}

extern "C" {

cudaError_t cudaMemcpy(void* destination, const void* source, std::size_t bytes, cudaMemcpyKind kind) {
  return do_copy(__func__, nullptr, [&] { return copy_of(destination, source, bytes, kind); });
}
cudaError_t cudaMemcpyAsync(void* destination, const void* source, std::size_t bytes, cudaMemcpyKind kind,
                            cudaStream_t stream) {
  return do_copy(__func__, stream, [&] { return copy_of(destination, source, bytes, kind); });
}
cudaError_t cudaMemcpyPeer(void* destination, int destination_device, const void* source, int source_device,
                           std::size_t bytes) {
  return cudaMemcpyPeerAsync(destination, destination_device, source, source_device, bytes, nullptr);
}
cudaError_t cudaMemcpyPeerAsync(void* destination, int destination_device, const void* source,
                                int source_device, std::size_t bytes, cudaStream_t stream) {
  return do_copy(__func__, stream, [&] {
    require_device(destination_device);
    require_device(source_device);
    return copy_of(destination, source, bytes, cudaMemcpyDeviceToDevice);
  });
}
cudaError_t cudaMemcpy2D(void* destination, std::size_t destination_pitch, const void* source,
                         std::size_t source_pitch, std::size_t width, std::size_t height,
                         cudaMemcpyKind kind) {
  return do_copy(__func__, nullptr, [&] {
    return copy_of(destination, destination_pitch, source, source_pitch, width, height, kind);
  });
}
cudaError_t cudaMemcpy2DAsync(void* destination, std::size_t destination_pitch, const void* source,
                              std::size_t source_pitch, std::size_t width, std::size_t height,
                              cudaMemcpyKind kind, cudaStream_t stream) {
  return do_copy(__func__, stream, [&] {
    return copy_of(destination, destination_pitch, source, source_pitch, width, height, kind);
  });
}
cudaError_t cudaMemcpy3D(const cudaMemcpy3DParms* parameters) {
  return do_copy(__func__, nullptr, [&] { return copy_of(require_non_null(parameters, "the parameters")); });
}
cudaError_t cudaMemcpy3DAsync(const cudaMemcpy3DParms* parameters, cudaStream_t stream) {
  return do_copy(__func__, stream, [&] { return copy_of(require_non_null(parameters, "the parameters")); });
}

cudaError_t cudaMemcpyToSymbol(const void* symbol, const void* source, std::size_t bytes, std::size_t offset,
                               cudaMemcpyKind) {
  return do_copy(__func__, nullptr, [&] { return copy_to_symbol(symbol, source, bytes, offset); });
}
cudaError_t cudaMemcpyToSymbolAsync(const void* symbol, const void* source, std::size_t bytes,
                                    std::size_t offset, cudaMemcpyKind, cudaStream_t stream) {
  return do_copy(__func__, stream, [&] { return copy_to_symbol(symbol, source, bytes, offset); });
}
cudaError_t cudaMemcpyFromSymbol(void* destination, const void* symbol, std::size_t bytes, std::size_t offset,
                                 cudaMemcpyKind) {
  return do_copy(__func__, nullptr, [&] { return copy_from_symbol(destination, symbol, bytes, offset); });
}
cudaError_t cudaMemcpyFromSymbolAsync(void* destination, const void* symbol, std::size_t bytes,
                                      std::size_t offset, cudaMemcpyKind, cudaStream_t stream) {
  return do_copy(__func__, stream, [&] { return copy_from_symbol(destination, symbol, bytes, offset); });
}

cudaError_t cudaMemset(void* destination, int value, std::size_t bytes) {
  return do_fill(__func__, nullptr, [&] { return fill_of(destination, 0, 0, value, Extent{bytes}); });
}
cudaError_t cudaMemsetAsync(void* destination, int value, std::size_t bytes, cudaStream_t stream) {
  return do_fill(__func__, stream, [&] { return fill_of(destination, 0, 0, value, Extent{bytes}); });
}
cudaError_t cudaMemset2D(void* destination, std::size_t pitch, int value, std::size_t width,
                         std::size_t height) {
  return do_fill(__func__, nullptr, [&] {
    return fill_of(destination, pitch, 0, value, Extent{width, height});
  });
}
cudaError_t cudaMemset2DAsync(void* destination, std::size_t pitch, int value, std::size_t width,
                              std::size_t height, cudaStream_t stream) {
  return do_fill(__func__, stream, [&] {
    return fill_of(destination, pitch, 0, value, Extent{width, height});
  });
}
cudaError_t cudaMemset3D(cudaPitchedPtr destination, int value, cudaExtent extent) {
  return cudaMemset3DAsync(destination, value, extent, nullptr);
}
cudaError_t cudaMemset3DAsync(cudaPitchedPtr destination, int value, cudaExtent extent, cudaStream_t stream) {
  return do_fill(__func__, stream, [&] {
    return fill_of(destination.ptr, destination.pitch, destination.pitch * destination.ysize, value,
                   Extent{extent.width, extent.height, extent.depth});
  });
}

}  // extern "C"
