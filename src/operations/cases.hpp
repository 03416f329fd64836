#pragma once

#include "operations/names.hpp"
#include "operations/shared/benchmark_case.hpp"
#include "operations/shared/random_case.hpp"
#include "operations/shared/random_shapes.hpp"

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

namespace reference {

/// The cases of one operation: legal ones at random, for the tests, and those that are
/// measured. Written in `cases.cpp` of the operation's folder, built beside the library.
struct OperationCases {
  /// Draws a legal case.
  void (*random)(CaseDraw& draw) = nullptr;
  /// Adds what the benchmark measures; null: nothing.
  void (*measured)(bench::CaseBuilder& list) = nullptr;
  /// Adds what the benchmark measures when it is asked for this operation alone; null: the same.
  void (*suite)(bench::CaseBuilder& list) = nullptr;
  /// Draws a case of the benchmark; null: there are none.
  bench::Case (*drawn)(bench::CaseDrawer& draw) = nullptr;
};

// Each in a namespace of its own, so that the files can be compiled together.
#define TMAJIT_DECLARE(name)           \
  namespace name##_operation {         \
    extern const OperationCases cases; \
  }
TMAJIT_FOR_EACH_OPERATION(TMAJIT_DECLARE)
#undef TMAJIT_DECLARE

/// The cases of the operation of that name, one of tmajit::operations().
[[nodiscard]] const OperationCases& cases_of(std::string_view operation);

/// A legal case of an operation. `pattern` decides what kernels are made for: types, rank, orders of
/// dimensions, signs, broadcasts, alignment, about how large it is; `variation` extents, gaps, offsets and
/// cuts within that. Cases of one pattern mostly need the same kernels.
[[nodiscard]] RandomCase random_case(std::string_view operation, std::uint64_t pattern,
                                     std::uint64_t variation, const CaseLimits& limits = {});
/// A legal case of one of several operations, which the pattern selects.
[[nodiscard]] RandomCase random_case(std::span<const std::string_view> operations, std::uint64_t pattern,
                                     std::uint64_t variation, const CaseLimits& limits = {});
/// Those that move elements, or compute each from elements of the same index.
inline constexpr std::array<std::string_view, 10> elementwise_operations{
    "copy", "permute", "slice", "flip", "broadcast", "pad", "cast", "concat", "split", "map"};
/// The names of all.
[[nodiscard]] std::span<const std::string_view> all_operations();

}  // namespace reference
