#pragma once

#include "ops/run_case.hpp"

#include <tmajit/device.hpp>

namespace tests {

/// A case's buffers on a simulated device. Each is an allocation from the first to the last byte of its
/// tensors, so that the device reports every access outside of them.
class OwnMemory : public CaseMemory {
 public:
  /// Every buffer begins `shift` bytes after a multiple of 512.
  OwnMemory(std::shared_ptr<tmajit::Device> device, const reference::TestCase& test_case,
            std::uint64_t shift = 0);
  ~OwnMemory() override;
  OwnMemory(const OwnMemory&) = delete;
  OwnMemory& operator=(const OwnMemory&) = delete;

  void write(const reference::Buffers& buffers) override;
  /// Returns the buffers, with bytes outside of the tensors copied from `like`.
  [[nodiscard]] reference::Buffers read(const reference::Buffers& like) override;
  /// The addresses of the buffers' first bytes, which may be outside of the allocations.
  [[nodiscard]] std::span<const tmajit::DevicePtr> addresses() const override { return addresses_; }

 private:
  struct Part {
    std::uint64_t first = 0;  ///< offset in the buffer
    std::uint64_t bytes = 0;
  };
  std::shared_ptr<tmajit::Device> device_;
  std::vector<Part> parts_;
  std::vector<tmajit::DevicePtr> allocations_;
  std::vector<tmajit::DevicePtr> addresses_;
};

[[nodiscard]] MakeMemory own_memory(const std::shared_ptr<tmajit::Device>& device);

}  // namespace tests
