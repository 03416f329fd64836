#pragma once

#include "conformance/case.hpp"
#include "report.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace jitc {

/// Cases of the conformance suite, and where they run.
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

/// Runs them in processes of their own: a kernel that a GPU takes for illegal ends what its process can do,
/// and the cases behind it go on in the next one. Throws Error where there is no such device.
[[nodiscard]] ConformanceResults run_conformance(const ConformanceRun& run);

}  // namespace jitc
