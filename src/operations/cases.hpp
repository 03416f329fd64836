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

/// The cases of one operation, for the tests of correctness and for the benchmark. They are written in
/// `cases.cpp` of the operation's folder and built beside the library.
struct OperationCases {
  /// Tests: draws a random legal case.
  void (*draw_test_case)(TestCaseDraw& draw) = nullptr;
  /// Benchmark: adds the operation's cases to the list of all operations; null: there are none.
  void (*add_benchmark_cases)(bench::CaseBuilder& list) = nullptr;
  /// Benchmark of this operation alone (`--casts`, `--reductions`): adds its cases; null: those of
  /// add_benchmark_cases.
  void (*add_dedicated_cases)(bench::CaseBuilder& list) = nullptr;
  /// Benchmark with `--random`: draws a random case; null: there are none.
  bench::Case (*draw_benchmark_case)(bench::BenchmarkCaseDraw& draw) = nullptr;
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

/// A random legal case of an operation. `kernel_seed` determines the properties for which kernels are
/// specialised: types, rank, orders of dimensions, signs, broadcasts, alignment and approximate size.
/// `launch_seed` determines the parameters of a launch: extents, gaps, offsets and the boundaries of parts.
/// Cases with the same kernel seed mostly need the same kernels.
[[nodiscard]] TestCase random_test_case(std::string_view operation, std::uint64_t kernel_seed,
                                        std::uint64_t launch_seed, const CaseLimits& limits = {});
/// A random legal case of one of several operations, which `kernel_seed` selects.
[[nodiscard]] TestCase random_test_case(std::span<const std::string_view> operations,
                                        std::uint64_t kernel_seed, std::uint64_t launch_seed,
                                        const CaseLimits& limits = {});
/// The operations that move elements, or compute each element from source elements of the same index.
inline constexpr std::array<std::string_view, 10> elementwise_operations{
    "copy", "permute", "slice", "flip", "broadcast", "pad", "cast", "concat", "split", "map"};
/// The names of all operations.
[[nodiscard]] std::span<const std::string_view> all_operations();

}  // namespace reference
