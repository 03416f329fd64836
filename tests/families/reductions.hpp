#pragma once

#include "operations/reduce/reference.hpp"
#include "reference/random_maps.hpp"
#include "shifted_tensor.hpp"

#include <tmajit/move.hpp>
#include <tmajit/runtime.hpp>

#include <string>
#include <vector>

namespace tests {

/// A reduction of small whole numbers. Their sums are exact in any order, unless an unsigned sum wraps before
/// it becomes floating point.
struct RandomReduction {
  tmajit::Reduction what;
  reference::FrontFunction front;
  reference::BehindFunction behind;
  ShiftedView destination;
  std::vector<ShiftedView> sources;
  bool has_nan = false;

  [[nodiscard]] std::string text() const;
};

/// `pattern` decides what its kernel is made for, `variation` extents and places.
[[nodiscard]] RandomReduction random_reduction(std::uint64_t pattern, std::uint64_t variation,
                                               std::uint64_t most_elements);

/// A reduction of one source without gaps, which has up to so many elements and begins anywhere.
[[nodiscard]] RandomReduction dense_reduction(std::uint64_t seed, std::uint64_t most_elements);

/// A sum of so many small whole numbers along an axis of a matrix, in a kernel that several CTAs share.
[[nodiscard]] RandomReduction shared_reduction(tmajit::ElementType type, std::uint64_t rows,
                                               std::uint64_t columns, std::int64_t axis,
                                               tmajit::ReductionOp op);

/// Runs it by every candidate, its tensors in allocations of their own. Says what is wrong first; empty where
/// all is right.
[[nodiscard]] std::string run_reduction(tmajit::Runtime& runtime, const RandomReduction& reduction,
                                        std::uint64_t seed);

}  // namespace tests
