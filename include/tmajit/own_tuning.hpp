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

// Finds the fastest constants of a user's own kernel (OwnKernel) by measuring every combination of values on
// the user's GPU. A candidate, or variant, is the kernel with one combination.

/// A constant of the kernel, and the values to try for it.
struct ConstantChoices {
  std::string name;
  std::vector<KernelConstant::Value> values;
};

/// A candidate's kernel, and the launch that is timed.
struct OwnVariant {
  OwnKernel kernel;
  OwnLaunch launch;
};

struct OwnTuneOptions {
  std::uint32_t repeats = 20;  ///< timed runs of a candidate, as TuneOptions::repeats describes
  /// Called before each measurement. `done` is the work done so far, in units of candidates. `candidates` is
  /// the number of candidates that can be launched. `constants` are those of the candidate to be measured:
  /// "rows = 8, stages = 4". May be empty.
  std::function<void(std::uint32_t done, std::uint32_t candidates, std::string_view constants)> progress{};
};

struct OwnTuneReport {
  /// A measured candidate.
  struct Candidate {
    std::vector<KernelConstant> constants;
    double microseconds = 0;  ///< median time of a launch
  };
  /// A candidate for which `variant` threw an exception, or whose kernel could not be compiled, loaded,
  /// prepared or launched. The other candidates are measured.
  struct LeftOut {
    std::vector<KernelConstant> constants;
    std::string why;  ///< the error's message
  };
  std::vector<Candidate> candidates;  ///< fastest first
  std::vector<LeftOut> left_out;
};

/// Every combination of the constants' values, in an order in which the last constant changes fastest. Throws
/// Error{invalid_argument} for a constant without values, and for more than 4096 combinations.
[[nodiscard]] TMAJIT_API std::vector<std::vector<KernelConstant>> combinations(
    const std::vector<ConstantChoices>& choices);
/// The index of `constants` in combinations(choices). Throws Error{invalid_argument} if it is none of them.
[[nodiscard]] TMAJIT_API std::size_t combination_number(const std::vector<ConstantChoices>& choices,
                                                        const std::vector<KernelConstant>& constants);

/// Times a user's kernel for every combination of constants. `variant` returns the kernel and the launch
/// (tensors, boxes, grid, shared memory) for given constants. Several threads call it at once, because
/// compiling takes the most time. Each launch runs many times on the same tensors. The kernels stay in the
/// runtime's memory and cache: using the fastest one afterwards compiles nothing.
///
/// Throws what combinations() throws, and Error{unavailable} without a GPU. If no candidate can be launched,
/// throws the error of one of them.
[[nodiscard]] TMAJIT_API OwnTuneReport
tune(const Runtime& runtime, const std::vector<ConstantChoices>& choices,
     const std::function<OwnVariant(const std::vector<KernelConstant>&)>& variant,
     const OwnTuneOptions& options = {});

TMAJIT_END
