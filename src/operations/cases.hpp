#pragma once

#include "operations/drawing/benchmark_case.hpp"
#include "operations/drawing/random_case.hpp"
#include "operations/drawing/random_shapes.hpp"
#include "operations/names.hpp"

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

namespace reference {

/// The cases of one operation: random legal cases for the tests, and cases of the benchmark. They are written
/// in `cases.cpp` of the operation's folder and built beside the library.
struct OperationCases {
  /// Draws a legal case.
  void (*random)(CaseDraw& draw) = nullptr;
  /// Adds the operation's cases of the benchmark; null: there are none.
  void (*measured)(bench::CaseBuilder& list) = nullptr;
  /// Adds the cases of a benchmark of this operation alone; null: those of `measured`.
  void (*suite)(bench::CaseBuilder& list) = nullptr;
  /// Draws a random case of the benchmark; null: there are none.
  bench::Case (*drawn)(bench::CaseDrawer& draw) = nullptr;
};

// Each operation has its own namespace, so that the files can be compiled together.
#define TMAJIT_DECLARE(name)           \
  namespace name##_operation {         \
    extern const OperationCases cases; \
  }
TMAJIT_FOR_EACH_OPERATION(TMAJIT_DECLARE)
#undef TMAJIT_DECLARE

/// The cases of the operation of that name, one of tmajit::operations().
[[nodiscard]] const OperationCases& cases_of(std::string_view operation);

/// A legal case of an operation. `kernel_seed` determines the properties for which kernels are specialised:
/// types, rank, orders of dimensions, signs, broadcasts, alignment and approximate size.
/// `launch_seed` determines extents, gaps, offsets and cuts. Cases of one kernel seed mostly need the same
/// kernels.
[[nodiscard]] RandomCase random_case(std::string_view operation, std::uint64_t kernel_seed,
                                     std::uint64_t launch_seed, const CaseLimits& limits = {});
/// A legal case of one of several operations, which `kernel_seed` selects.
[[nodiscard]] RandomCase random_case(std::span<const std::string_view> operations, std::uint64_t kernel_seed,
                                     std::uint64_t launch_seed, const CaseLimits& limits = {});
/// The operations that move elements, or compute each element from source elements of the same index.
inline constexpr std::array<std::string_view, 10> elementwise_operations{
    "copy", "permute", "slice", "flip", "broadcast", "pad", "cast", "concat", "split", "map"};
/// The names of all operations.
[[nodiscard]] std::span<const std::string_view> all_operations();

}  // namespace reference
