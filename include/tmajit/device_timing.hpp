#pragma once

#include <tmajit/device_memory.hpp>

#include <cstdint>
#include <functional>
#include <vector>

TMAJIT_BEGIN

/// A device's clock. Thread-safe, but what runs on the device meanwhile, other threads' work included, is in
/// the times. `work` is called on the calling thread; what it throws goes to the caller.
class TMAJIT_API DeviceTiming {
 public:
  virtual ~DeviceTiming();
  /// Runs `work` (which enqueues on `stream`) `repeats` times and returns the milliseconds of each, by
  /// events.
  [[nodiscard]] virtual std::vector<float> time(Stream stream, std::uint32_t repeats,
                                                const std::function<void()>& work) = 0;
  /// Milliseconds of `work` (which enqueues on the stream that it is given) where it is too short to be timed
  /// by itself: a CUDA graph holds it `nodes` times, one after the other, and `repeats` runs of that are
  /// timed. A device without graphs times it as `time` does.
  [[nodiscard]] virtual std::vector<float> time_in_graph(std::uint32_t repeats, std::uint32_t nodes,
                                                         const std::function<void(Stream)>& work);
};

TMAJIT_END
