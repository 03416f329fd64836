#pragma once

#include "kernel/row_steps.hpp"

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

TMAJIT_BEGIN

/// Two reductions of a row that one pass over its elements computes, although the second reads the result of
/// the first.
struct OnlinePair {
  std::uint32_t first = 0;   ///< the step m = max(f) or m = mean(f)
  std::uint32_t second = 0;  ///< the step sum(exp(f - m)), sum((f - m) * (f - m)) or the mean of these
  std::string_view reducer;  ///< the struct of templates/kernels/online_reducers.cuh
  bool is_mean = false;      ///< the second result is divided by the number of elements
};

/// The pairs among the needed steps, of values that are computed from sources of floating point alone: bit s
/// of `real_sources` tells that source s is one. A reduction is in one pair at most. Expressions are compared
/// as texts: names of steps with a value for each element are replaced by their expressions, and spaces and
/// redundant parentheses are ignored.
[[nodiscard]] std::vector<OnlinePair> online_pairs(std::span<const RowStep> steps,
                                                   const std::vector<bool>& needed,
                                                   std::uint32_t real_sources);

TMAJIT_END
