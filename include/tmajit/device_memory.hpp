#pragma once

#include <tmajit/version.hpp>

#include <cstddef>
#include <cstdint>
#include <span>

struct CUstream_st;  // the driver's type, so that a CUstream and a cudaStream_t are a tmajit::Stream

TMAJIT_BEGIN

/// An address in a device's global memory; the driver's CUdeviceptr.
using DevicePtr = std::uint64_t;
/// The user's stream; null is the default stream.
using Stream = ::CUstream_st*;

/// A device's global memory. Thread-safe: calls may run concurrently, but bytes that a call or a kernel
/// writes may not be accessed by another one meanwhile. Work that one thread enqueues on one stream runs in
/// order; work of several streams or threads is ordered only by synchronization.
class TMAJIT_API DeviceMemory {
 public:
  virtual ~DeviceMemory();
  /// Accepts 0 bytes. Throws Error{out_of_memory} that says how much was requested and how much is free.
  [[nodiscard]] virtual DevicePtr allocate(std::uint64_t bytes) = 0;
  /// Frees memory of allocate(). No enqueued work may still use it.
  virtual void free(DevicePtr pointer) noexcept = 0;
  /// Copies from and to host memory, which must stay valid and unchanged until the stream is synchronized.
  virtual void copy_in(DevicePtr destination, std::span<const std::byte> source, Stream stream) = 0;
  virtual void copy_out(std::span<std::byte> destination, DevicePtr source, Stream stream) = 0;
  /// A plain copy by the driver or the simulator: the baseline that kernels are measured against.
  virtual void copy(DevicePtr destination, DevicePtr source, std::uint64_t bytes, Stream stream) = 0;
  virtual void fill(DevicePtr destination, std::byte value, std::uint64_t bytes, Stream stream) = 0;
};

TMAJIT_END
