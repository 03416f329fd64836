#pragma once

#include <tmajit/version.hpp>

#include <cstddef>
#include <cstdint>
#include <span>

struct CUstream_st;  // the driver's own type, so that a caller's CUstream or cudaStream_t is one of ours

TMAJIT_BEGIN

/// An address in a device's global memory; the driver's CUdeviceptr.
using DevicePtr = std::uint64_t;
/// The user's stream; null is the default stream.
using Stream = ::CUstream_st*;

/// A device's global memory. Thread-safe: any calls may run at once, but bytes that one of them, or a kernel,
/// writes may not be touched by another meanwhile. Work enqueued on one stream runs in order; several
/// streams, and several threads of one stream, know no order but what they synchronize.
class TMAJIT_API DeviceMemory {
 public:
  virtual ~DeviceMemory();
  /// No bytes are no error. Throws Error{out_of_memory} that says how much was asked for and how much is
  /// free.
  [[nodiscard]] virtual DevicePtr allocate(std::uint64_t bytes) = 0;
  /// Gives back what allocate() returned. Nothing that is enqueued may need it any more.
  virtual void free(DevicePtr pointer) noexcept = 0;
  /// From and to the host's memory, which must stay as it is until the stream is synchronized.
  virtual void copy_in(DevicePtr destination, std::span<const std::byte> source, Stream stream) = 0;
  virtual void copy_out(std::span<std::byte> destination, DevicePtr source, Stream stream) = 0;
  /// A plain copy by the device's own means: what our kernels are measured against.
  virtual void copy(DevicePtr destination, DevicePtr source, std::uint64_t bytes, Stream stream) = 0;
  virtual void fill(DevicePtr destination, std::byte value, std::uint64_t bytes, Stream stream) = 0;
};

TMAJIT_END
