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
  std::vector<std::string> then;  ///< texts of --then
  bool check = false;             ///< compare the outputs with the CPU reference
  std::uint64_t seed = 1;         ///< seed of generated inputs
  CompilerOptions compiler;
  SimulationOptions simulation;
  bool wants_simulation = false;  ///< an option was given that only the simulated device has
  std::vector<std::string> out;   ///< one per output, or none
  std::string device = "auto";
  std::uint32_t repeat = 20;
  OwnOptions own;   ///< options of a file of CUDA C++; --launch and --entry also belong to --ptx
  std::string ptx;  ///< file of a PTX kernel; empty: none
  std::string format = "text";
};

/// Runs an OPERATION, reports, and returns the exit code.
[[nodiscard]] int run_problem(const RunOptions& options, bool json);
/// Runs the kernel of a file of CUDA C++, reports, and returns the exit code.
[[nodiscard]] int run_own_kernel(const RunOptions& options, bool json);
/// Runs the kernel of --ptx on the simulated device.
[[nodiscard]] int run_ptx(const RunOptions& options, bool json);

// Functions that the three kinds of runs share.

/// Prints the report as JSON, or the findings of the simulated device as SARIF or JUnit, if asked for.
void print_result(const RunOptions& options, const DeviceChoice& choice, const Json& report, bool json);

[[nodiscard]] Json to_json(const tmajit::DeviceInfo& info);
/// Prints to standard error why "auto" chose the simulated device, if it did.
void say_choice(const DeviceChoice& choice);
void say_launch(const tmajit::DeviceInfo& info, const tmajit::LaunchShape& shape);

/// Times of work that moves `bytes`, the sum of bytes read and written.
struct Measurement {
  std::uint64_t bytes = 0;
  double median_ms = 0;
  double min_ms = 0;
  std::uint32_t repeats = 0;

  [[nodiscard]] double gb_per_s() const {
    return median_ms > 0 ? static_cast<double>(bytes) / median_ms * 1e-6 : 0;
  }
};
/// Runs `work` once and waits for it, so that faults show; then times `repeats` further runs.
[[nodiscard]] Measurement measure(tmajit::Device& device, std::uint64_t bytes, std::uint32_t repeats,
                                  const std::function<void()>& work);
[[nodiscard]] Json to_json(const Measurement& measured);
void say_time(const Measurement& measured);

}  // namespace jitc
