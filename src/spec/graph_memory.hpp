#pragma once

#include <tmajit/device_memory.hpp>

#include <cstddef>
#include <span>

TMAJIT_BEGIN

/// A device's interface to allocate memory for streams under capture.
class GraphMemory {
 public:
  /// Allocates memory for launches of a stream under capture, and copies `bytes` there. The memory lives as
  /// long as the graph and its copies. Waits for no other work. Returns 0 if the stream is not under capture.
  /// Throws Error{out_of_memory}, Error{device_failed}.
  [[nodiscard]] virtual DevicePtr allocate_for_capture(Stream stream, std::span<const std::byte> bytes) = 0;

 protected:
  ~GraphMemory() = default;
};

TMAJIT_END
