#pragma once

#include "c/call_error.hpp"
#include "c/handles.hpp"
#include "ops/scripted_device.hpp"
#include "ptx_alone.hpp"

#include <memory>
#include <optional>
#include <utility>

namespace tests {

/// A scripted device that claims to be a GPU, and a handle of a runtime on it.
class TuningGpu {
 public:
  explicit TuningGpu(ScriptedDevice::Time time)
      : device_(std::make_shared<Device>(std::move(time))),
        runtime_{Runtime({.device = device_, .cache_directory = std::nullopt, .compile = ptx_alone}),
                 nullptr} {}

  [[nodiscard]] tmajit_runtime* runtime() noexcept { return &runtime_; }
  [[nodiscard]] ScriptedDevice& device() noexcept { return *device_; }

 private:
  class Device final : public ScriptedDevice {
   public:
    explicit Device(Time time) : ScriptedDevice(std::move(time)) { info_.ordinal = 0; }
  };
  std::shared_ptr<Device> device_;
  tmajit_runtime runtime_;
};

}  // namespace tests
