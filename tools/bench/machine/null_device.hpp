#pragma once

#include <tmajit/device.hpp>

#include <cstring>
#include <memory>

namespace bench {

/// A device that does nothing, as fast as that can be: what is left of a launch's time is the library's own.
class NullDevice final : public tmajit::Device,
                         private tmajit::DeviceMemory,
                         private tmajit::DeviceStreams,
                         private tmajit::DeviceKernels,
                         private tmajit::DeviceMaps,
                         private tmajit::DeviceTiming {
 public:
  NullDevice() {
    info_.name = "nothing";
    info_.sm_count = 132;
  }
  [[nodiscard]] const tmajit::DeviceInfo& info() const noexcept override { return info_; }
  [[nodiscard]] tmajit::DeviceMemory& memory() noexcept override { return *this; }
  [[nodiscard]] tmajit::DeviceStreams& streams() noexcept override { return *this; }
  [[nodiscard]] tmajit::DeviceKernels& kernels() noexcept override { return *this; }
  [[nodiscard]] tmajit::DeviceMaps& maps() noexcept override { return *this; }
  [[nodiscard]] tmajit::DeviceTiming& timing() noexcept override { return *this; }
  tmajit::DevicePtr allocate(std::uint64_t bytes) override {
    next_ += (bytes + 511) / 512 * 512;
    return next_ - (bytes + 511) / 512 * 512;
  }
  void free(tmajit::DevicePtr) noexcept override {}
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
    return std::make_unique<Kernel>();
  }

 private:
  struct Kernel final : tmajit::LoadedKernel {
    void launch(const tmajit::LaunchShape&, std::span<void* const>, tmajit::Stream) const override {}
    void allow_shared_bytes(std::uint32_t) override {}
    std::uint32_t ctas_per_sm(std::uint32_t, std::uint32_t) const override { return 1; }
  };

  tmajit::DeviceInfo info_;
  tmajit::DevicePtr next_ = tmajit::DevicePtr{1} << 40;
};

}  // namespace bench
