#pragma once

#include "driver/context.hpp"

#include <tmajit/device.hpp>

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

TMAJIT_BEGIN
namespace driver {

/// Memory of a launch's own, or of a graph's.
class ScratchBlock {
 public:
  /// Works while streams are captured. Throws Error{out_of_memory}, Error{device_failed}.
  /// All zeros at first.
  ScratchBlock(std::shared_ptr<const Context> context, std::uint64_t bytes);
  ScratchBlock(std::shared_ptr<const Context> context, std::span<const std::byte> contents);
  ~ScratchBlock();
  ScratchBlock(const ScratchBlock&) = delete;
  ScratchBlock& operator=(const ScratchBlock&) = delete;

  [[nodiscard]] DevicePtr address() const noexcept { return address_; }
  [[nodiscard]] std::uint64_t bytes() const noexcept { return bytes_; }

 private:
  /// `write(stream)` fills it.
  template <class Write>
  ScratchBlock(std::shared_ptr<const Context> context, std::uint64_t bytes, const Write& write);

  std::shared_ptr<const Context> context_;
  DevicePtr address_ = 0;
  std::uint64_t bytes_;
};

/// The memory that launches of a device have for themselves while they run (LaunchShape::scratch_bytes).
/// Thread-safe. Launches on one stream run one after the other and share a block; those of a graph get one
/// that lives as long as the graph, for it may run beside the stream's.
class Scratch {
 public:
  explicit Scratch(std::shared_ptr<const Context> context) : context_(std::move(context)) {}

  /// For a launch on a stream that is not captured.
  [[nodiscard]] DevicePtr of_stream(Stream stream, std::uint64_t bytes);
  /// For launches that one stream adds to the graph of capture `capture`. The graph must keep it.
  [[nodiscard]] std::shared_ptr<const ScratchBlock> of_capture(std::uint64_t capture, Stream stream,
                                                               std::uint64_t bytes);

 private:
  static constexpr std::size_t most_streams = 64;
  using Blocks = std::vector<std::unique_ptr<const ScratchBlock>>;

  std::shared_ptr<const Context> context_;
  std::mutex mutex_;
  /// Keyed by the driver's number of a stream, which no later stream has. Blocks that have become too small
  /// stay: launches that use them may still run.
  std::map<std::uint64_t, Blocks> of_streams_;
  // The capture and stream of the launch that was captured last.
  std::uint64_t capture_ = 0;
  Stream captured_ = nullptr;
  std::weak_ptr<const ScratchBlock> of_last_capture_;
};

}  // namespace driver
TMAJIT_END
