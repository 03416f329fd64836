#pragma once

#include <tmajit/device.hpp>

#include <atomic>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>

namespace tools {

/// A device whose operations are no-ops, so that a launch takes only the library's own time. It counts the
/// allocations, kernels and timers that exist. Tests derive devices with more behaviour from it. Thread-safe.
class NullDevice : public tmajit::Device,
                   protected tmajit::DeviceMemory,
                   protected tmajit::DeviceStreams,
                   protected tmajit::DeviceKernels,
                   protected tmajit::DeviceMaps,
                   protected tmajit::DeviceTiming {
 public:
  NullDevice() {
    info_.name = "nothing";
    info_.sm_count = 132;
  }

  std::atomic<std::int64_t> clock_ns = 0;          ///< the time that timers read
  std::atomic<bool> timers_pending = false;        ///< whether the device has not reached the timers' ends
  std::atomic<std::int64_t> timers_started = 0;    ///< number of calls of StreamTimer::start()
  std::atomic<tmajit::Stream> captured = nullptr;  ///< the stream that is being captured; null: none

  /// Number of timers that exist.
  [[nodiscard]] std::int64_t timers_alive() const noexcept { return timers_; }
  /// Number of allocations that were not freed.
  [[nodiscard]] std::int64_t allocations_alive() const noexcept { return allocations_; }
  /// Number of loaded kernels.
  [[nodiscard]] std::int64_t kernels_alive() const noexcept { return kernels_; }

  [[nodiscard]] const tmajit::DeviceInfo& info() const noexcept override { return info_; }
  [[nodiscard]] tmajit::DeviceMemory& memory() noexcept override { return *this; }
  [[nodiscard]] tmajit::DeviceStreams& streams() noexcept override { return *this; }
  [[nodiscard]] tmajit::DeviceKernels& kernels() noexcept override { return *this; }
  [[nodiscard]] tmajit::DeviceMaps& maps() noexcept override { return *this; }
  [[nodiscard]] tmajit::DeviceTiming& timing() noexcept override { return *this; }
  /// Returns a new address each time; there is no memory behind it.
  tmajit::DevicePtr allocate(std::uint64_t bytes) override {
    ++allocations_;
    return next_.fetch_add((bytes / alignment + 1) * alignment);
  }
  void free(tmajit::DevicePtr) noexcept override { --allocations_; }
  void copy_in(tmajit::DevicePtr, std::span<const std::byte>, tmajit::Stream) override {}
  void copy_out(std::span<std::byte>, tmajit::DevicePtr, tmajit::Stream) override {}
  void copy(tmajit::DevicePtr, tmajit::DevicePtr, std::uint64_t, tmajit::Stream) override {}
  void fill(tmajit::DevicePtr, std::byte, std::uint64_t, tmajit::Stream) override {}
  void synchronize(tmajit::Stream) override {}
  tmajit::Stream create() override { return nullptr; }
  void destroy(tmajit::Stream) noexcept override {}
  std::vector<float> time(tmajit::Stream, std::uint32_t repeats, const std::function<void()>& work) override {
    for (std::uint32_t i = 0; i < repeats; ++i) work();
    return std::vector<float>(repeats);
  }
  std::unique_ptr<tmajit::StreamTimer> timer() override { return std::make_unique<Timer>(*this); }
  bool is_captured(tmajit::Stream stream) override { return stream != nullptr && stream == captured; }
  tmajit::EncodedTensorMap encode(const tmajit::TensorMapSpec& spec, tmajit::DevicePtr address) override {
    tmajit::EncodedTensorMap map;
    set_address(map, spec, address);
    return map;
  }
  void set_address(tmajit::EncodedTensorMap& map, const tmajit::TensorMapSpec&,
                   tmajit::DevicePtr address) override {
    std::memcpy(map.opaque.data(), &address, sizeof address);
  }
  std::unique_ptr<tmajit::LoadedKernel> load(const tmajit::Artifact&) override {
    return std::make_unique<Kernel>(*this);
  }
  /// Kernels that were compiled to PTX only are enough, so that caches of such kernels serve this device.
  [[nodiscard]] bool runs_ptx() const noexcept override { return true; }

 protected:
  /// A kernel that counts as loaded while it lives; launches do nothing.
  class Kernel : public tmajit::LoadedKernel {
   public:
    explicit Kernel(NullDevice& device) : device_(device) { ++device_.kernels_; }
    ~Kernel() override { --device_.kernels_; }
    Kernel(const Kernel&) = delete;
    Kernel& operator=(const Kernel&) = delete;
    void launch(const tmajit::LaunchShape&, std::span<void* const>, tmajit::Stream) const override {}
    void allow_shared_bytes(std::uint32_t) override {}
    std::uint32_t ctas_per_sm(std::uint32_t, std::uint32_t) const override { return 1; }

   private:
    NullDevice& device_;
  };

  tmajit::DeviceInfo info_;

 private:
  class Timer final : public tmajit::StreamTimer {
   public:
    explicit Timer(NullDevice& device) : device_(device) { ++device_.timers_; }
    ~Timer() override { --device_.timers_; }
    Timer(const Timer&) = delete;
    Timer& operator=(const Timer&) = delete;
    void start(tmajit::Stream) override {
      ++device_.timers_started;
      start_ = device_.clock_ns;
    }
    void stop(tmajit::Stream) override { stop_ = device_.clock_ns; }
    std::optional<float> milliseconds() override {
      if (device_.timers_pending) return std::nullopt;
      return static_cast<float>(stop_ - start_) / 1e6F;
    }

   private:
    NullDevice& device_;
    std::int64_t start_ = 0;
    std::int64_t stop_ = 0;
  };

  static constexpr std::uint64_t alignment = 512;
  std::atomic<tmajit::DevicePtr> next_ = tmajit::DevicePtr{1} << 40;
  std::atomic<std::int64_t> allocations_ = 0;
  std::atomic<std::int64_t> kernels_ = 0;
  std::atomic<std::int64_t> timers_ = 0;
};

}  // namespace tools
