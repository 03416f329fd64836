#pragma once

#include <tmajit/own_kernel.hpp>
#include <tmajit/runtime.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

TMAJIT_BEGIN

/// A constant and the values to try for it.
struct ConstantChoices {
  std::string name;
  std::vector<KernelConstant::Value> values;
};

/// A user's kernel and the launch of it that is timed.
struct OwnVariant {
  OwnKernel kernel;
  OwnLaunch launch;
};

struct OwnTuneOptions {
  std::uint32_t repeats = 20;  ///< as TuneOptions::repeats
  /// Called before each measurement with the number of candidates whose measurements are done so far, the
  /// number of all candidates, and the constants of the next one, "rows = 8, stages = 4"; may be empty.
  std::function<void(std::uint32_t done, std::uint32_t candidates, std::string_view constants)> progress{};
};

struct OwnTuneReport {
  struct Candidate {
    std::vector<KernelConstant> constants;
    double microseconds = 0;  ///< the median
  };
  /// A candidate for which `variant` threw an exception, or whose kernel could not be compiled, loaded,
  /// prepared or launched. The other candidates are measured.
  struct LeftOut {
    std::vector<KernelConstant> constants;
    std::string why;
  };
  std::vector<Candidate> candidates;  ///< fastest first
  std::vector<LeftOut> left_out;
};

/// Every combination of values; the last constant changes fastest. Throws Error{invalid_argument} for a
/// constant without values, and for more than 4096 combinations.
[[nodiscard]] TMAJIT_API std::vector<std::vector<KernelConstant>> combinations(
    const std::vector<ConstantChoices>& choices);
/// The index of `constants` in combinations(choices). Throws Error{invalid_argument} if it is none of them.
[[nodiscard]] TMAJIT_API std::size_t combination_number(const std::vector<ConstantChoices>& choices,
                                                        const std::vector<KernelConstant>& constants);

/// Times a user's kernel for every combination of constants. Each launch runs many times, on the tensors that
/// `variant` gives it. `variant` returns the kernel and the launch (boxes, grid, shared memory) for
/// constants; several threads call it at once. The kernels stay in the runtime and its cache, so that the
/// best one needs no further compiling. Throws Error{unavailable} without a GPU, and the first combination's
/// error if none can be launched.
[[nodiscard]] TMAJIT_API OwnTuneReport
tune(const Runtime& runtime, const std::vector<ConstantChoices>& choices,
     const std::function<OwnVariant(const std::vector<KernelConstant>&)>& variant,
     const OwnTuneOptions& options = {});

TMAJIT_END
