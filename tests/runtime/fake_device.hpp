#pragma once

#include <tmajit/device.hpp>
#include <tmajit/error.hpp>

#include <atomic>
#include <cstring>
#include <functional>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

/// A device that runs nothing and remembers what it was asked to do. Thread-safe where a Device is.
class FakeDevice final : public tmajit::Device,
                         private tmajit::DeviceMemory,
                         private tmajit::DeviceStreams,
                         private tmajit::DeviceKernels,
                         private tmajit::DeviceMaps,
                         private tmajit::DeviceTiming {
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

  FakeDevice() {
    info_.name = "fake";
    info_.sm_count = 132;
  }

  // What loading the next cubins throws, in order.
  std::vector<tmajit::Error> refusals;
  // Called on every launch, while its parameters can be read.
  std::function<void(const Launch&)> on_launch = [](const Launch&) {};

  std::vector<Encoded> encoded;
  std::vector<std::uint32_t> allowed;  ///< shared bytes
  std::atomic<int> loads = 0;
  std::atomic<int> alive = 0;  ///< kernels that are loaded
  std::atomic<int> launches = 0;

  [[nodiscard]] const tmajit::DeviceInfo& info() const noexcept override { return info_; }
  [[nodiscard]] tmajit::DeviceMemory& memory() noexcept override { return *this; }
  [[nodiscard]] tmajit::DeviceStreams& streams() noexcept override { return *this; }
  [[nodiscard]] tmajit::DeviceKernels& kernels() noexcept override { return *this; }
  [[nodiscard]] tmajit::DeviceMaps& maps() noexcept override { return *this; }
  [[nodiscard]] tmajit::DeviceTiming& timing() noexcept override { return *this; }

  // Map number n holds the bytes of n, from 0.
  tmajit::EncodedTensorMap encode(const tmajit::TensorMapSpec& spec, tmajit::DevicePtr address) override {
    const std::lock_guard lock(mutex_);
    tmajit::EncodedTensorMap map;
    const std::size_t number = encoded.size();
    std::memcpy(map.opaque.data(), &number, sizeof number);
    encoded.push_back({spec, address});
    return map;
  }

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

  // Nothing that runtime needs.
  tmajit::DevicePtr allocate(std::uint64_t) override { return 0; }
  void free(tmajit::DevicePtr) noexcept override {}
  void copy_in(tmajit::DevicePtr, std::span<const std::byte>, tmajit::Stream) override {}
  void copy_out(std::span<std::byte>, tmajit::DevicePtr, tmajit::Stream) override {}
  void copy(tmajit::DevicePtr, tmajit::DevicePtr, std::uint64_t, tmajit::Stream) override {}
  void fill(tmajit::DevicePtr, std::byte, std::uint64_t, tmajit::Stream) override {}
  void synchronize(tmajit::Stream) override {}
  tmajit::Stream create() override { return nullptr; }
  void destroy(tmajit::Stream) noexcept override {}
  std::vector<float> time(tmajit::Stream, std::uint32_t, const std::function<void()>&) override { return {}; }

 private:
  class Kernel final : public tmajit::LoadedKernel {
   public:
    explicit Kernel(FakeDevice& device) : device_(device) { ++device_.alive; }
    ~Kernel() override { --device_.alive; }
    void launch(const tmajit::LaunchShape& shape, std::span<void* const> parameters,
                tmajit::Stream stream) const override {
      ++device_.launches;
      if (device_.on_launch) device_.on_launch({shape, {parameters.begin(), parameters.end()}, stream});
    }
    void allow_shared_bytes(std::uint32_t bytes) override {
      const std::lock_guard lock(device_.mutex_);
      device_.allowed.push_back(bytes);
    }
    std::uint32_t ctas_per_sm(std::uint32_t, std::uint32_t) const override { return 1; }

   private:
    FakeDevice& device_;
  };

  tmajit::DeviceInfo info_;
  std::mutex mutex_;
};
