#pragma once

#include "own_kernel.hpp"
#include "report.hpp"

#include <tmajit/runtime.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace jitc {

/// Options of `jitc tune kernel.cu`.
struct TuneOwnOptions {
  std::string file;
  OwnOptions own;
  std::vector<std::string> values;  ///< "stages=2,3,4"
  std::string save;                 ///< file of the launch with the fastest constants, or empty
  std::uint32_t repeat = 20;
};

/// Throws Error{invalid_argument} for options that are missing or contradict each other.
void check_tune_own(const TuneOwnOptions& options);

/// Times the kernel for every combination of values, reports, and writes the file of --save. Throws what
/// tmajit::tune() throws.
void tune_own_kernel(const tmajit::Runtime& runtime, const TuneOwnOptions& options, Json& report, bool json);

}  // namespace jitc
