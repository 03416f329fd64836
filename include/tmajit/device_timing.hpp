#pragma once

#include <tmajit/device_memory.hpp>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

TMAJIT_BEGIN

/// Times work of a stream without waiting for it. The caller calls start(), enqueues the work, calls stop(),
/// and polls milliseconds() until it returns a time; then the timer can be started again. For one thread at a
/// time. Destroyed before its device.
class TMAJIT_API StreamTimer {
 public:
  virtual ~StreamTimer();
  /// Enqueues the first mark on `stream`, which must not be under capture. Throws Error{device_failed}.
  virtual void start(Stream stream) = 0;
  /// Enqueues the second mark, as start() does.
  virtual void stop(Stream stream) = 0;
  /// The device's time between the marks of start() and stop(); nothing until the device has passed both.
  /// Does not wait, and disturbs no capture of any stream. Throws Error{device_failed}.
  [[nodiscard]] virtual std::optional<float> milliseconds() = 0;
};

/// A device's clock. Thread-safe, but times include all other work that runs on the device meanwhile. `work`
/// is called on the calling thread; its exceptions reach the caller.
class TMAJIT_API DeviceTiming {
 public:
  virtual ~DeviceTiming();
  /// Runs `work` (which enqueues on `stream`) `repeats` times and returns the milliseconds of each, by
  /// events.
  [[nodiscard]] virtual std::vector<float> time(Stream stream, std::uint32_t repeats,
                                                const std::function<void()>& work) = 0;
  /// Milliseconds of `work` (which enqueues on the stream that it is given) where it is too short to be timed
  /// by itself: a CUDA graph holds it `nodes` times, one after the other, and `repeats` runs of the graph are
  /// timed. A device without graphs times it as `time` does.
  [[nodiscard]] virtual std::vector<float> time_in_graph(std::uint32_t repeats, std::uint32_t nodes,
                                                         const std::function<void(Stream)>& work);
  /// Null for a device without timers, which is the default.
  [[nodiscard]] virtual std::unique_ptr<StreamTimer> timer();
};

TMAJIT_END
