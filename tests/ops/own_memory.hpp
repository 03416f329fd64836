#pragma once

#include "ops/run_case.hpp"

#include <tmajit/device.hpp>

namespace tests {

/// A case's buffers on a simulated device, each in an allocation that begins with the first byte of its
/// tensors and ends with the last, so that the device reports every access beside them.
class OwnMemory : public CaseMemory {
 public:
  /// Every buffer begins `shift` bytes after a multiple of 512.
  OwnMemory(std::shared_ptr<tmajit::Device> device, const reference::RandomCase& drawn,
            std::uint64_t shift = 0);
  ~OwnMemory() override;
  OwnMemory(const OwnMemory&) = delete;
  OwnMemory& operator=(const OwnMemory&) = delete;

  void write(const reference::Buffers& buffers) override;
  /// Returns the tensors' bytes from memory, and all other bytes from `like`.
  [[nodiscard]] reference::Buffers read(const reference::Buffers& like) override;
  /// The addresses at which whole buffers would begin.
  [[nodiscard]] std::span<const tmajit::DevicePtr> addresses() const override { return addresses_; }

 private:
  struct Part {
    std::uint64_t first = 0;  ///< first of a buffer's bytes
    std::uint64_t bytes = 0;
  };
  std::shared_ptr<tmajit::Device> device_;
  std::vector<Part> parts_;
  std::vector<tmajit::DevicePtr> allocations_;
  std::vector<tmajit::DevicePtr> addresses_;
};

[[nodiscard]] MakeMemory own_memory(const std::shared_ptr<tmajit::Device>& device);

}  // namespace tests
