#pragma once

#include "conformance/case.hpp"
#include "report.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace jitc {

/// Cases of the conformance suite, and the device that runs them.
struct ConformanceRun {
  std::vector<const conformance::Case*> cases;
  std::string device = "auto";
  std::uint64_t seed = 1;
};

/// Results of a ConformanceRun's cases.
struct ConformanceResults {
  Json device;  ///< to_json(DeviceInfo), and why this device was chosen
  Json cases;   ///< one object per case, in order: case, trials, wrong, differences, error
};

/// Runs the cases in child processes. A process whose kernel faults on a GPU cannot use the GPU any more, so
/// the remaining cases run in a new one. Throws Error if the device is not available.
[[nodiscard]] ConformanceResults run_conformance(const ConformanceRun& run);

}  // namespace jitc
