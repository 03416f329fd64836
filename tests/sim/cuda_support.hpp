#pragma once

#include <tmajit/compile.hpp>
#include <tmajit/runtime.hpp>
#include <tmajit/sim.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace tests {

struct CudaOutcome {
  std::vector<std::int32_t> words;
  std::vector<tmajit::Report> reports;
  std::string text;  ///< text of the reports
};

/// Compiles CUDA C++ by NVRTC, with -G if `debug`, and runs its kernel `k(int* out)` as one cluster of the
/// given number of CTAs. `out` has 4096 elements, initially zeros.
CudaOutcome run_cuda(const std::string& source, std::uint32_t threads, bool debug,
                     tmajit::SimOptions options = {}, std::uint32_t cluster = 1);

}  // namespace tests
