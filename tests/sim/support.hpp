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

/// A device that edits the PTX of kernels when it loads them, and forwards all other calls to `device`.
class EditingDevice final : public tmajit::Device, private tmajit::DeviceKernels {
 public:
  EditingDevice(std::shared_ptr<tmajit::Device> device, Edit edit)
      : device_(std::move(device)), edit_(std::move(edit)) {}

  [[nodiscard]] const tmajit::DeviceInfo& info() const noexcept override { return device_->info(); }
  [[nodiscard]] tmajit::DeviceMemory& memory() noexcept override { return device_->memory(); }
  [[nodiscard]] tmajit::DeviceStreams& streams() noexcept override { return device_->streams(); }
  [[nodiscard]] tmajit::DeviceKernels& kernels() noexcept override { return *this; }
  [[nodiscard]] tmajit::DeviceMaps& maps() noexcept override { return device_->maps(); }
  [[nodiscard]] tmajit::DeviceTiming& timing() noexcept override { return device_->timing(); }

 private:
  [[nodiscard]] bool runs_ptx() const noexcept override { return true; }
  [[nodiscard]] std::unique_ptr<tmajit::LoadedKernel> load(const tmajit::Artifact& artifact) override {
    tmajit::Artifact changed = artifact;
    changed.ptx = edit_(artifact.ptx);
    return device_->kernels().load(changed);
  }

  std::shared_ptr<tmajit::Device> device_;
  Edit edit_;
};

/// Returns a module with one entry, `k`, with this body and `parameters` 64-bit parameters p0, p1, …,
/// followed by `directives`. `before` is the text before the entry.
tmajit::Artifact module_of(const std::string& body, std::uint32_t parameters, const std::string& before = {},
                           const std::string& directives = {});

/// Returns the error of a thread that reaches the first instruction that the simulator does not support;
/// empty if there is none.
std::string refusal(const tmajit::Artifact& artifact);

/// The rules of the device's reports so far.
std::vector<std::string> rules(const tmajit::SimDevice& device);

}  // namespace tests
