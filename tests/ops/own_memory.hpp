#pragma once

#include "reference/random_moves.hpp"

#include <tmajit/device.hpp>

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace tests {

/// A move's buffers on a simulated device, each in an allocation that begins with the first byte of its
/// tensors and ends with the last: whatever reads or writes beside them is reported.
class OwnMemory {
 public:
  /// Every buffer begins `shift` bytes after a multiple of 512.
  OwnMemory(std::shared_ptr<tmajit::Device> device, const reference::RandomMove& move,
            std::uint64_t shift = 0);
  ~OwnMemory();
  OwnMemory(const OwnMemory&) = delete;
  OwnMemory& operator=(const OwnMemory&) = delete;

  void write(const reference::Buffers& buffers);
  /// What is in the tensors' bytes; in the others what `like` has there.
  [[nodiscard]] reference::Buffers read(const reference::Buffers& like) const;
  /// Where the buffers would begin if they were there as a whole.
  [[nodiscard]] std::span<const tmajit::DevicePtr> addresses() const { return addresses_; }

 private:
  struct Part {
    std::uint64_t first = 0;  ///< of a buffer's bytes
    std::uint64_t bytes = 0;
  };
  std::shared_ptr<tmajit::Device> device_;
  std::vector<Part> parts_;
  std::vector<tmajit::DevicePtr> allocations_;
  std::vector<tmajit::DevicePtr> addresses_;
};

}  // namespace tests
