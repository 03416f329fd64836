#pragma once

#include <tmajit/own_kernel.hpp>
#include <tmajit/runtime.hpp>

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

TMAJIT_BEGIN

/// A constant of which the best value is to be found.
struct ConstantChoices {
  std::string name;
  std::vector<KernelConstant::Value> values;
};

/// A kernel of one's own and the launch of it that is timed.
struct OwnVariant {
  OwnKernel kernel;
  OwnLaunch launch;
};

struct OwnTuneOptions {
  std::uint32_t repeats = 20;  ///< as TuneOptions::repeats
  /// Called before each measurement with how many candidates' worth is done, how many there are, and the
  /// constants of the one that is measured, "rows = 8, stages = 4"; may be empty.
  std::function<void(std::uint32_t done, std::uint32_t candidates, std::string_view constants)> progress{};
};

struct OwnTuneReport {
  struct Candidate {
    std::vector<KernelConstant> constants;
    double microseconds = 0;  ///< the median
  };
  /// A candidate that could not be described, compiled, loaded or prepared; the remaining ones are measured.
  struct LeftOut {
    std::vector<KernelConstant> constants;
    std::string why;
  };
  std::vector<Candidate> candidates;  ///< fastest first
  std::vector<LeftOut> left_out;
};

/// Every combination of values, the last constant's changing fastest. Throws Error{invalid_argument} for a
/// constant without values, and for more than 4096 combinations.
[[nodiscard]] TMAJIT_API std::vector<std::vector<KernelConstant>> combinations(
    const std::vector<ConstantChoices>& choices);

/// Times a kernel of one's own for every combination of constants, on the tensors of its launches, which run
/// many times. `variant` says what such a kernel and its launch are, constants, boxes, grid and shared memory
/// alike; it is called by several threads at once. The kernels stay in the runtime and its cache, so that the
/// best is had again without compiling. Throws Error{unavailable} without a GPU, and what the first
/// combination threw if none can be launched.
[[nodiscard]] TMAJIT_API OwnTuneReport
tune(const Runtime& runtime, const std::vector<ConstantChoices>& choices,
     const std::function<OwnVariant(const std::vector<KernelConstant>&)>& variant,
     const OwnTuneOptions& options = {});

TMAJIT_END
