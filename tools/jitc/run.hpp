#pragma once

#include "options.hpp"
#include "report.hpp"
#include "select_device.hpp"
#include "simulation.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace jitc {

/// What `jitc run` was asked for.
struct RunOptions {
  ProblemOptions problem;
  bool check = false;      ///< compare the outputs with a plain walk
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

/// Runs an OPERATION, reports, and returns the exit code.
[[nodiscard]] int run_problem(const RunOptions& options, bool json);

// What that has in common with the run of a kernel from elsewhere.

[[nodiscard]] Json to_json(const tmajit::DeviceInfo& info);
void say_launch(const tmajit::DeviceInfo& info, const tmajit::LaunchShape& shape);

}  // namespace jitc
