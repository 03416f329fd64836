#pragma once

#include <tmajit/device_memory.hpp>

#include <cstddef>
#include <span>

TMAJIT_BEGIN

/// The part of a device that allocates memory for captured streams.
class GraphMemory {
 public:
  /// Allocates memory with these bytes for launches of a captured stream. It lives as long as the graph and
  /// all graphs made from it. Does not wait for other work. Returns 0 if the stream is not captured. Throws
  /// Error{out_of_memory}, Error{device_failed}.
  [[nodiscard]] virtual DevicePtr of_capture(Stream stream, std::span<const std::byte> bytes) = 0;

 protected:
  ~GraphMemory() = default;
};

TMAJIT_END
