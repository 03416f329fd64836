#pragma once

#include "lib/null_device.hpp"

#include <tmajit/error.hpp>

#include <cstring>

namespace test {

/// A device whose memory is host memory, so that tests can check copies. It runs no kernels.
class HostDevice final : public tools::NullDevice {
 public:
  [[nodiscard]] tmajit::DevicePtr allocate(std::uint64_t /*bytes*/) override { refuse(); }
  void copy_in(tmajit::DevicePtr destination, std::span<const std::byte> source,
               tmajit::Stream /*stream*/) override {
    if (!source.empty()) std::memcpy(pointer(destination), source.data(), source.size());
    ++copies_;
  }
  void copy_out(std::span<std::byte> destination, tmajit::DevicePtr source,
                tmajit::Stream /*stream*/) override {
    if (!destination.empty()) std::memcpy(destination.data(), pointer(source), destination.size());
    ++copies_;
  }
  void copy(tmajit::DevicePtr destination, tmajit::DevicePtr source, std::uint64_t bytes,
            tmajit::Stream /*stream*/) override {
    std::memcpy(pointer(destination), pointer(source), bytes);
  }
  void fill(tmajit::DevicePtr destination, std::byte value, std::uint64_t bytes,
            tmajit::Stream /*stream*/) override {
    std::memset(pointer(destination), std::to_integer<int>(value), bytes);
  }
  [[nodiscard]] std::vector<float> time(tmajit::Stream /*stream*/, std::uint32_t /*repeats*/,
                                        const std::function<void()>& /*work*/) override {
    refuse();
  }
  [[nodiscard]] tmajit::EncodedTensorMap encode(const tmajit::TensorMapSpec& /*spec*/,
                                                tmajit::DevicePtr /*address*/) override {
    refuse();
  }
  [[nodiscard]] std::unique_ptr<tmajit::LoadedKernel> load(const tmajit::Artifact& /*artifact*/) override {
    refuse();
  }

  [[nodiscard]] int copies() const noexcept { return copies_; }

 private:
  static std::byte* pointer(tmajit::DevicePtr address) {
    return reinterpret_cast<std::byte*>(
        address);  // NOLINT(performance-no-int-to-ptr): device addresses are host addresses
  }
  [[noreturn]] static void refuse() {
    throw tmajit::Error(tmajit::ErrorCode::unsupported, "the host's memory runs no kernels");
  }

  int copies_ = 0;
};

}  // namespace test
