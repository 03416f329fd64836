#pragma once

#include "options.hpp"
#include "report.hpp"
#include "select_device.hpp"
#include "simulation.hpp"

#include <cstdint>
#include <functional>
#include <string>

namespace jitc {

/// What `jitc run` was asked for.
struct RunOptions {
  KernelOptions kernel;
  CompilerOptions compiler;
  SimulationOptions simulation;
  bool wants_simulation = false;  ///< an option was given that only the simulated device has
  std::string out;
  std::string device = "auto";
  std::uint32_t repeat = 20;
  std::string ptx;     ///< a kernel from elsewhere: its PTX …
  std::string launch;  ///< … and how it is launched
};

/// Each runs, reports, and returns the exit code.
[[nodiscard]] int run_family(const RunOptions& options, bool json);
[[nodiscard]] int run_ptx(const RunOptions& options, bool json);

// What both do.

[[nodiscard]] Json to_json(const tmajit::DeviceInfo& info);
/// One line on standard error where "auto" has taken the simulated device.
void say_choice(const DeviceChoice& choice);
void say_launch(const tmajit::DeviceInfo& info, const tmajit::LaunchShape& shape);
/// Runs `launch` on the simulated device and adds to `report` what came out. False if the kernel has done
/// something wrong, which is then told.
[[nodiscard]] bool simulate(Simulation& simulation, const tmajit::Artifact& artifact,
                            const std::function<void()>& launch, Json& report, bool json);

}  // namespace jitc
