#pragma once

#include "measure.hpp"
#include "move_options.hpp"
#include "options.hpp"
#include "report.hpp"
#include "select_device.hpp"
#include "simulation.hpp"

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace jitc {

/// What `jitc run` was asked for.
struct RunOptions {
  KernelOptions kernel;
  MoveOptions move;
  bool is_move = false;    ///< what `kernel` and `move` describe, rather than a kernel family
  bool check = false;      ///< a move's result
  std::uint64_t seed = 1;  ///< of inputs that are made up
  CompilerOptions compiler;
  SimulationOptions simulation;
  bool wants_simulation = false;  ///< an option was given that only the simulated device has
  std::vector<std::string> out;   ///< one an output, or none
  std::string device = "auto";
  std::uint32_t repeat = 20;
  std::string ptx;     ///< a kernel from elsewhere: its PTX …
  std::string launch;  ///< … and how it is launched
};

/// Each runs, reports, and returns the exit code.
[[nodiscard]] int run_family(const RunOptions& options, bool json);
[[nodiscard]] int run_move(const RunOptions& options, bool json);
[[nodiscard]] int run_ptx(const RunOptions& options, bool json);

// What they have in common.

[[nodiscard]] Json to_json(const tmajit::DeviceInfo& info);
[[nodiscard]] Json to_json(const Measurement& measured);
/// One line on standard error about a file that is read.
void say_input(const InputArray& file);
/// Two lines: how fast it was, and how fast the driver's copy of as many bytes.
void say_times(const Measurement& measured, const Measurement& copy);
/// One line on standard error where "auto" has taken the simulated device.
void say_choice(const DeviceChoice& choice);
void say_launch(const tmajit::DeviceInfo& info, const tmajit::LaunchShape& shape);
/// Runs `launch` on the simulated device and adds to `report` what came out. False if the kernel has done
/// something wrong, which is then told.
[[nodiscard]] bool simulate(Simulation& simulation, const Artifacts& artifacts,
                            const std::function<void()>& launch, Json& report, bool json);

}  // namespace jitc
