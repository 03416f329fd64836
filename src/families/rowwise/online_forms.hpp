#pragma once

#include "kernel/row_steps.hpp"

#include <optional>
#include <span>
#include <string_view>
#include <vector>

TMAJIT_BEGIN

/// Two reductions of a row that one pass over its elements computes, although the second one reads the
/// result of the first one.
struct OnlinePair {
  std::uint32_t first = 0;   ///< the step m = max(f) or m = mean(f)
  std::uint32_t second = 0;  ///< the step sum(exp(f - m)), sum((f - m) * (f - m)) or the mean of these
  std::string_view reducer;  ///< the struct of templates/kernels/online_reducers.cuh
  bool is_mean = false;      ///< the second result is divided by the number of elements
};

/// The pairs among the needed steps. A reduction is in one pair at most. The steps' expressions are compared
/// as texts, with steps of the row's elements put in, whatever their spaces and outer parentheses are.
[[nodiscard]] std::vector<OnlinePair> online_pairs(std::span<const RowStep> steps,
                                                   const std::vector<bool>& needed);

TMAJIT_END
