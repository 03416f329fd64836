#pragma once

#include "report.hpp"

#include <string>
#include <vector>

namespace jitc {

enum class Health { good, poor, absent };

/// One thing that tmajit uses, as it is on this machine.
struct Check {
  std::string subject;  ///< "NVRTC"
  Health health = Health::good;
  std::string found = {};
  std::string remedy = {};  ///< what to do, if it is not good
  bool needed_to_compile = false;
  Json details = {};
};

/// Looks at everything: compiler, a trial kernel, driver, GPUs, nvdisasm, cache folder, disk. Never throws
/// for what is missing. `cache_directory` may be empty: the default.
[[nodiscard]] std::vector<Check> examine_machine(const std::string& cache_directory);

}  // namespace jitc
