#pragma once

#include "options.hpp"
#include "own_kernel.hpp"
#include "report.hpp"
#include "select_device.hpp"
#include "simulation.hpp"

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace jitc {

/// Options of `jitc run`.
struct RunOptions {
  ProblemOptions problem;
  bool check = false;      ///< compare the outputs with a plain walk
  std::uint64_t seed = 1;  ///< seed of generated inputs
  CompilerOptions compiler;
  SimulationOptions simulation;
  bool wants_simulation = false;  ///< an option was given that only the simulated device has
  std::vector<std::string> out;   ///< one an output, or none
  std::string device = "auto";
  std::uint32_t repeat = 20;
  OwnOptions own;   ///< options of a kernel from a file, or of the launch of one from elsewhere
  std::string ptx;  ///< a kernel from elsewhere
  std::string format = "text";
};

/// Runs an OPERATION, reports, and returns the exit code.
[[nodiscard]] int run_problem(const RunOptions& options, bool json);
/// Runs the kernel of a file of CUDA C++, reports, and returns the exit code.
[[nodiscard]] int run_own_kernel(const RunOptions& options, bool json);
/// Runs a kernel from elsewhere on the simulated device.
[[nodiscard]] int run_ptx(const RunOptions& options, bool json);

// Functions that these runs share.

/// Prints what was asked for: the report as JSON, or what the simulated device has found for a service.
void print_result(const RunOptions& options, const DeviceChoice& choice, const Json& report, bool json);

[[nodiscard]] Json to_json(const tmajit::DeviceInfo& info);
/// Says on standard error why the simulated device was taken, where "auto" took it.
void say_choice(const DeviceChoice& choice);
void say_launch(const tmajit::DeviceInfo& info, const tmajit::LaunchShape& shape);

/// How long something took that moves `bytes`, read and written ones together.
struct Measurement {
  std::uint64_t bytes = 0;
  double median_ms = 0;
  double min_ms = 0;
  std::uint32_t repeats = 0;

  [[nodiscard]] double gb_per_s() const {
    return median_ms > 0 ? static_cast<double>(bytes) / median_ms * 1e-6 : 0;
  }
};
/// Runs `work`, which moves `bytes`, once, waits for it (a fault shows here), and then times `repeats` more.
[[nodiscard]] Measurement measure(tmajit::Device& device, std::uint64_t bytes, std::uint32_t repeats,
                                  const std::function<void()>& work);
[[nodiscard]] Json to_json(const Measurement& measured);
void say_time(const Measurement& measured);

}  // namespace jitc
