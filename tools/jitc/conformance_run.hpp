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
  Json device;  ///< to_json(DeviceInfo), and why it was taken
  Json cases;   ///< an object a case, in order: case, trials, wrong, differences, error
};

/// Runs the cases in child processes. After a kernel that a GPU finds illegal, its process can do no more,
/// and the remaining cases run in the next process. Throws Error if there is no such device.
[[nodiscard]] ConformanceResults run_conformance(const ConformanceRun& run);

}  // namespace jitc
