#pragma once

#include <tmajit/device_memory.hpp>

TMAJIT_BEGIN

/// A device's streams. Thread-safe.
class TMAJIT_API DeviceStreams {
 public:
  virtual ~DeviceStreams();
  /// A stream whose work does not wait for the default stream's.
  [[nodiscard]] virtual Stream create() = 0;
  /// The caller must not use the stream any more. Work already enqueued on it still completes.
  virtual void destroy(Stream stream) noexcept = 0;
  /// Waits for everything on `stream`. Throws Error{device_failed} if a kernel faulted.
  virtual void synchronize(Stream stream) = 0;
  /// Whether work enqueued on `stream` now goes into a graph; also true if the device cannot tell. Always
  /// false on a device without graphs.
  [[nodiscard]] virtual bool is_captured(Stream stream);
};

TMAJIT_END
