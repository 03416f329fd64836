#pragma once

#include "lib/null_device.hpp"

#include <tmajit/error.hpp>

#include <atomic>
#include <cstring>
#include <functional>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

/// A device that only records calls. As a GPU does, it needs cubins. It is thread-safe where Device is.
class FakeDevice final : public tools::NullDevice {
 public:
  struct Encoded {
    tmajit::TensorMapSpec spec;
    tmajit::DevicePtr address;
  };
  struct Launch {
    tmajit::LaunchShape shape;
    std::vector<const void*> parameters;
    tmajit::Stream stream;
  };

  // Errors that the next calls of load() throw, in order.
  std::vector<tmajit::Error> refusals;
  // Called during every launch, while its parameters can be read.
  std::function<void(const Launch&)> on_launch = [](const Launch&) {};

  std::vector<Encoded> encoded;
  std::vector<std::uint32_t> allowed;  ///< bytes of dynamic shared memory that kernels were allowed to use
  std::atomic<int> loads = 0;
  std::atomic<int> launches = 0;
  bool is_simulated = false;  ///< runs PTX, as the simulated device does

  // Encoded map number n, from 0, contains the bytes of the number n.
  tmajit::EncodedTensorMap encode(const tmajit::TensorMapSpec& spec, tmajit::DevicePtr address) override {
    const std::lock_guard lock(mutex_);
    tmajit::EncodedTensorMap map;
    const std::size_t number = encoded.size();
    std::memcpy(map.opaque.data(), &number, sizeof number);
    encoded.push_back({spec, address});
    return map;
  }
  void set_address(tmajit::EncodedTensorMap& map, const tmajit::TensorMapSpec& spec,
                   tmajit::DevicePtr address) override {
    map = encode(spec, address);
  }

  [[nodiscard]] bool runs_ptx() const noexcept override { return is_simulated; }
  std::unique_ptr<tmajit::LoadedKernel> load(const tmajit::Artifact&) override {
    const std::lock_guard lock(mutex_);
    ++loads;
    if (!refusals.empty()) {
      const tmajit::Error refusal = refusals.front();
      refusals.erase(refusals.begin());
      throw refusal;
    }
    return std::make_unique<Kernel>(*this);
  }

 private:
  class Kernel final : public NullDevice::Kernel {
   public:
    explicit Kernel(FakeDevice& device) : NullDevice::Kernel(device), device_(device) {}
    void launch(const tmajit::LaunchShape& shape, std::span<void* const> parameters,
                tmajit::Stream stream) const override {
      ++device_.launches;
      if (device_.on_launch) device_.on_launch({shape, {parameters.begin(), parameters.end()}, stream});
    }
    void allow_shared_bytes(std::uint32_t bytes) override {
      const std::lock_guard lock(device_.mutex_);
      device_.allowed.push_back(bytes);
    }

   private:
    FakeDevice& device_;
  };

  std::mutex mutex_;
};
