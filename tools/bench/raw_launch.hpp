#pragma once

#include "machine.hpp"

#include <tmajit/kernel_plan.hpp>

#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace bench {

/// Launches a kernel by cuLaunchKernelEx alone; on the simulated device, by Kernel::launch(shape,
/// parameters).
class RawLauncher {
 public:
  RawLauncher(Machine& machine, const tmajit::Kernel& kernel, const tmajit::LaunchShape& shape,
              tmajit::Stream stream)
      : machine_(machine), kernel_(kernel), shape_(shape), stream_(stream) {
    if (!machine.driver) return;
    raw_.emplace(*machine.driver, kernel_.artifact(), shape.shared_bytes);
    config_.gridDimX = shape.grid[0];
    config_.gridDimY = shape.grid[1];
    config_.gridDimZ = shape.grid[2];
    config_.blockDimX = shape.block[0];
    config_.blockDimY = shape.block[1];
    config_.blockDimZ = shape.block[2];
    config_.sharedMemBytes = shape.shared_bytes;
    config_.hStream = stream;
  }

  void operator()(std::span<void*> parameters) const {
    if (!raw_) return kernel_.launch(shape_, parameters, stream_);
    machine_.driver->check(
        machine_.driver->cuLaunchKernelEx(&config_, raw_->function(), parameters.data(), nullptr),
        "cuLaunchKernelEx");
  }

  /// Name of the call that launches, for reports.
  [[nodiscard]] const char* name() const {
    return raw_ ? "cuLaunchKernelEx" : "Kernel::launch(shape, parameters)";
  }

 private:
  Machine& machine_;
  tmajit::Kernel kernel_;
  tmajit::LaunchShape shape_;
  tmajit::Stream stream_;
  std::optional<RawKernel> raw_;
  CUlaunchConfig config_{};
};

/// The bytes of a plan's parameters with the tensor maps encoded, and the pointers to them for a launch.
class RawParameters {
 public:
  RawParameters(tmajit::Device& device, const tmajit::KernelPlan& plan)
      : bytes_(plan.parameter_bytes().begin(), plan.parameter_bytes().end()) {
    const std::vector<tmajit::Parameter> parameters = plan.parameters();
    maps_.reserve(parameters.size());
    for (const tmajit::Parameter& parameter : parameters) {
      pointers_.push_back(&bytes_[parameter.offset]);
      if (!parameter.map) continue;
      const auto operand = static_cast<std::uint32_t>(parameter.map_of);
      maps_.push_back(device.maps().encode(*parameter.map, plan.operand_address(operand)));
      pointers_.back() = &maps_.back();
    }
  }
  [[nodiscard]] std::span<void*> pointers() { return pointers_; }
  /// The first tensor map; the plan must have one.
  [[nodiscard]] tmajit::EncodedTensorMap& map() { return maps_.front(); }

 private:
  std::vector<std::byte> bytes_;
  std::vector<tmajit::EncodedTensorMap> maps_;
  std::vector<void*> pointers_;
};

}  // namespace bench
