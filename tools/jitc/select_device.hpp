#pragma once

#include "simulation.hpp"

#include <tmajit/device.hpp>

#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace jitc {

/// A device to run on.
struct DeviceChoice {
  std::shared_ptr<tmajit::Device> device;
  std::unique_ptr<Simulation> simulation;  ///< simulation of the same device; null for a GPU
  std::string why;                         ///< reason, where "auto" took the simulated device
};

/// The first Hopper GPU, or why there is none.
struct GpuSearch {
  std::optional<tmajit::DeviceInfo> gpu;
  std::string why;
};
[[nodiscard]] GpuSearch find_hopper();

/// The GPU that "gpu" or "gpu:N" names; nothing for another text. Throws Error{unavailable} where there is
/// none, and says `otherwise`, what would do without one.
[[nodiscard]] std::optional<tmajit::DeviceInfo> find_named_gpu(const std::string& text,
                                                               std::string_view otherwise);

/// The device that --device names: "gpu", "gpu:N", "sim", or "auto": the first Hopper GPU, else the simulated
/// device, which `wants_simulation` takes at once. Throws Error{invalid_argument} for another text, or a GPU
/// that shall simulate, and Error{unavailable} that says what this machine lacks.
[[nodiscard]] DeviceChoice select_device(const std::string& text, const SimulationOptions& simulation,
                                         bool wants_simulation);

}  // namespace jitc
