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

/// A block of device memory for the launches of a stream or of a graph.
class ScratchBlock {
 public:
  // Both work while streams are captured, and throw Error{out_of_memory}, Error{device_failed}.
  /// A block of zeros.
  ScratchBlock(std::shared_ptr<const Context> context, std::uint64_t bytes);
  /// A block with these contents.
  ScratchBlock(std::shared_ptr<const Context> context, std::span<const std::byte> contents);
  ~ScratchBlock();
  ScratchBlock(const ScratchBlock&) = delete;
  ScratchBlock& operator=(const ScratchBlock&) = delete;

  [[nodiscard]] DevicePtr address() const noexcept { return address_; }
  [[nodiscard]] std::uint64_t bytes() const noexcept { return bytes_; }

 private:
  /// `write(api, address, stream)` enqueues the block's initialisation.
  template <class Write>
  ScratchBlock(std::shared_ptr<const Context> context, std::uint64_t bytes, const Write& write);

  std::shared_ptr<const Context> context_;
  DevicePtr address_ = 0;
  std::uint64_t bytes_;
};

/// The private memory of a device's launches while they run (LaunchShape::scratch_bytes). Launches on one
/// stream run one after the other and share a block. Launches of a graph have a block that lives as long as
/// the graph, because the graph may run concurrently with the stream. Thread-safe.
class Scratch {
 public:
  explicit Scratch(std::shared_ptr<const Context> context) : context_(std::move(context)) {}

  /// The memory for a launch on a stream that is not captured.
  [[nodiscard]] DevicePtr for_stream(Stream stream, std::uint64_t bytes);
  /// The block for launches that one stream adds to the graph of capture `capture`. The caller must let the
  /// graph keep it.
  [[nodiscard]] std::shared_ptr<const ScratchBlock> for_capture(std::uint64_t capture, Stream stream,
                                                                std::uint64_t bytes);

 private:
  static constexpr std::size_t max_streams = 64;
  using Blocks = std::vector<std::unique_ptr<const ScratchBlock>>;

  std::shared_ptr<const Context> context_;
  std::mutex mutex_;
  /// Keyed by the driver's id of a stream, which it never reuses. Blocks that have become too small are kept,
  /// because launches that use them may still run.
  std::map<std::uint64_t, Blocks> stream_blocks_;
  // The capture and stream of the launch that was captured last.
  std::uint64_t capture_ = 0;
  Stream captured_stream_ = nullptr;
  std::weak_ptr<const ScratchBlock> last_captured_block_;
};

}  // namespace driver
TMAJIT_END
