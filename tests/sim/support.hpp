#pragma once

#include "ptx/edit.hpp"

#include <tmajit/compile.hpp>
#include <tmajit/error.hpp>
#include <tmajit/runtime.hpp>
#include <tmajit/sim.hpp>

#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include <catch2/catch_test_macros.hpp>

namespace tests {

/// A device that loads kernels with their PTX changed, and is the one it was given in everything else.
class EditingDevice final : public tmajit::Device {
 public:
  EditingDevice(std::shared_ptr<tmajit::Device> device, Edit edit)
      : device_(std::move(device)), edit_(std::move(edit)) {}

  [[nodiscard]] const tmajit::DeviceInfo& info() const noexcept override { return device_->info(); }
  [[nodiscard]] tmajit::DevicePtr allocate(std::uint64_t bytes) override { return device_->allocate(bytes); }
  void free(tmajit::DevicePtr pointer) noexcept override { device_->free(pointer); }
  void copy_in(tmajit::DevicePtr to, std::span<const std::byte> from, tmajit::Stream s) override {
    device_->copy_in(to, from, s);
  }
  void copy_out(std::span<std::byte> to, tmajit::DevicePtr from, tmajit::Stream s) override {
    device_->copy_out(to, from, s);
  }
  void copy(tmajit::DevicePtr to, tmajit::DevicePtr from, std::uint64_t bytes, tmajit::Stream s) override {
    device_->copy(to, from, bytes, s);
  }
  void fill(tmajit::DevicePtr to, std::byte value, std::uint64_t bytes, tmajit::Stream s) override {
    device_->fill(to, value, bytes, s);
  }
  void synchronize(tmajit::Stream s) override { device_->synchronize(s); }
  [[nodiscard]] tmajit::Stream create_stream() override { return device_->create_stream(); }
  void destroy_stream(tmajit::Stream s) noexcept override { device_->destroy_stream(s); }
  [[nodiscard]] std::vector<float> time(tmajit::Stream s, std::uint32_t repeats,
                                        const std::function<void()>& work) override {
    return device_->time(s, repeats, work);
  }
  [[nodiscard]] tmajit::EncodedTensorMap encode(const tmajit::TensorMapSpec& spec,
                                                tmajit::DevicePtr at) override {
    return device_->encode(spec, at);
  }
  [[nodiscard]] std::unique_ptr<tmajit::LoadedKernel> load(const tmajit::Artifact& artifact) override {
    tmajit::Artifact changed = artifact;
    changed.ptx = edit_(std::move(changed.ptx));
    return device_->load(changed);
  }

 private:
  std::shared_ptr<tmajit::Device> device_;
  Edit edit_;
};

/// A kernel from the text of its body: a module with one entry, `k`, that takes `parameters` 64-bit values p0
/// ….
tmajit::Artifact module_of(const std::string& body, std::uint32_t parameters, const std::string& before = {});

/// Rules of all reports so far.
std::vector<std::string> rules(const tmajit::SimDevice& device);

}  // namespace tests
