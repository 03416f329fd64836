#pragma once

#include "report.hpp"

#include <tmajit/sim.hpp>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace jitc {

class Progress;

/// What --sim-mode, --sim-seed, --sim-threads and --sim-limit say.
struct SimulationOptions {
  std::string mode = "late";
  std::uint64_t seed = 1;  ///< fixed, so that the same command does the same again
  std::uint32_t threads = 0;
  std::uint64_t limit = tmajit::SimOptions{}.instruction_limit;
};

/// Adds the four options to `command`, in the group `simulation_group`. `values` must outlive the parse.
void add_simulation_options(CLI::App& command, SimulationOptions& values);
inline constexpr auto simulation_group = "Simulated device";

/// What came out of a run on the simulated device.
struct SimulationResult {
  std::vector<tmajit::Report> reports;
  std::string printed;  ///< by printf
  std::uint64_t thread_instructions = 0;
  double host_seconds = 0;
};

/// A simulated device, and the progress that is shown while it runs. At one place: its device calls back.
class Simulation {
 public:
  explicit Simulation(const SimulationOptions& options);
  Simulation(const Simulation&) = delete;
  Simulation& operator=(const Simulation&) = delete;

  [[nodiscard]] const std::shared_ptr<tmajit::SimDevice>& device() const noexcept { return device_; }
  [[nodiscard]] const SimulationOptions& options() const noexcept { return options_; }

  /// Runs `launch`, which launches kernels, and takes its reports from the device.
  [[nodiscard]] SimulationResult run(const std::function<void()>& launch);

 private:
  SimulationOptions options_;
  Progress* progress_ = nullptr;  ///< set while a launch runs
  std::string printed_;
  std::shared_ptr<tmajit::SimDevice> device_;
};

/// The kernels that ran, so that reports can show their source.
using Artifacts = std::vector<const tmajit::Artifact*>;

/// Options, counts and every report.
[[nodiscard]] Json to_json(const SimulationOptions& options, const SimulationResult& result,
                           const Artifacts& artifacts);

/// Seed, mode, instructions, and the reports in full, on standard error.
void say_simulation(const SimulationOptions& options, const SimulationResult& result,
                    const Artifacts& artifacts);

/// "2 reports of the simulated device (mode late, seed 1); no output is written"
[[nodiscard]] std::string verdict(const SimulationOptions& options, const SimulationResult& result);

}  // namespace jitc
