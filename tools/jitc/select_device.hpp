#pragma once

#include "simulation.hpp"

#include <tmajit/device.hpp>

#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace jitc {

/// The device that a command runs on.
struct DeviceChoice {
  std::shared_ptr<tmajit::Device> device;
  std::unique_ptr<Simulation> simulation;  ///< simulation of the same device; null for a GPU
  std::string why;                         ///< why "auto" chose the simulated device; else empty
};

/// The first Hopper GPU, or why there is none.
struct GpuSearch {
  std::optional<tmajit::DeviceInfo> gpu;
  std::string why;
};
[[nodiscard]] GpuSearch find_hopper();

/// The GPU that "gpu" or "gpu:N" names; nullopt for another text. Throws Error{unavailable} if the machine
/// lacks it; the message ends with `alternative`, which says how to do without a GPU.
[[nodiscard]] std::optional<tmajit::DeviceInfo> find_named_gpu(const std::string& text,
                                                               std::string_view alternative);

/// The device that --device names: "gpu", "gpu:N", "sim" or "auto". "auto" is the first Hopper GPU, else the
/// simulated device; with `wants_simulation` it is always the simulated device. Throws
/// Error{invalid_argument} for another text, or a GPU with `wants_simulation`, and Error{unavailable} that
/// says what this machine lacks.
[[nodiscard]] DeviceChoice select_device(const std::string& text, const SimulationOptions& simulation,
                                         bool wants_simulation);

}  // namespace jitc
