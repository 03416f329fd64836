#pragma once

#include "report.hpp"

#include <tmajit/report/source_location.hpp>
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

/// Options of the simulated device.
struct SimulationOptions {
  std::string mode = "late";
  std::uint64_t seed = 1;                                        ///< fixed, so that a command can be repeated
  std::uint32_t threads = 0;                                     ///< host threads; 0: one per core
  std::uint64_t limit = tmajit::SimOptions{}.instruction_limit;  ///< warp-instructions of a CTA
  std::uint64_t heap_mib = tmajit::SimOptions{}.heap_bytes >> 20;
  double timeout = 0;              ///< seconds; 0: none
  std::vector<std::string> allow;  ///< rules, separated by commas
  std::string project = ".";       ///< root folder of the user's files
  bool write_anyway = false;       ///< outputs are written even if there are reports
  bool keep_going = false;         ///< launches continue after reports; outputs are written, too
};

/// Adds these options to `command`, in the group `simulation_group`. `values` must outlive the parse.
void add_simulation_options(CLI::App& command, SimulationOptions& values);
inline constexpr auto simulation_group = "Simulated device";

/// The kernels that run, so that reports can show their source.
using Artifacts = std::vector<const tmajit::Artifact*>;

/// A simulated device, and the progress that is shown while it runs. A Simulation cannot be moved, because
/// the device calls back into it.
class Simulation {
 public:
  explicit Simulation(const SimulationOptions& options);
  Simulation(const Simulation&) = delete;
  Simulation& operator=(const Simulation&) = delete;

  [[nodiscard]] const std::shared_ptr<tmajit::SimDevice>& device() const noexcept { return device_; }
  /// Whether outputs are written after a run; it was `right` if it had no reports.
  [[nodiscard]] bool writes_outputs(bool right) const noexcept {
    return right || options_.write_anyway || options_.keep_going;
  }

  /// Findings of the last run.
  struct Found {
    std::vector<tmajit::Finding> findings;                       ///< in lint's form; each names its threads
    std::vector<std::vector<tmajit::SourceLocation>> locations;  ///< of each finding
    std::vector<std::string> kernels;                            ///< entry points of the kernels that ran
  };
  [[nodiscard]] const Found& found() const noexcept { return found_; }

  /// Runs `launch`, which launches kernels, and adds the result to `report`; without `json` it is also
  /// printed to standard error. Returns false if the device reports a mistake.
  [[nodiscard]] bool run(const Artifacts& artifacts, const std::function<void()>& launch, Json& report,
                         bool json);

 private:
  SimulationOptions options_;
  Found found_;
  Progress* progress_ = nullptr;  ///< set while a launch runs
  std::string printed_;
  std::shared_ptr<tmajit::SimDevice> device_;
};

}  // namespace jitc
