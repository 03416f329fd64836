#pragma once

#include "operations/scan/reference.hpp"
#include "reference/random_maps.hpp"
#include "shifted_tensor.hpp"

#include <tmajit/move.hpp>
#include <tmajit/runtime.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace tests {

/// A scan whose results do not depend on the order of additions: of small whole numbers, and of products of
/// 1, −1 and a few 2.
struct RandomScan {
  tmajit::Scan what;
  reference::FrontFunction front;
  ShiftedView destination;
  std::vector<ShiftedView> sources;
  bool has_nan = false;
  bool in_place = false;  ///< the destination is the source

  [[nodiscard]] std::string text() const;
};

/// `pattern` decides what its kernel is made for, `variation` extents and places.
[[nodiscard]] RandomScan random_scan(std::uint64_t pattern, std::uint64_t variation,
                                     std::uint64_t most_elements);
/// A scan of one source without gaps: shape, axis and the rest as given.
[[nodiscard]] RandomScan dense_scan(const tmajit::Scan& what, tmajit::ElementType from,
                                    tmajit::ElementType to, const std::vector<std::uint64_t>& shape,
                                    std::uint64_t shift = 0);

/// Runs it by every candidate twice, its tensors in allocations of their own. Says what is wrong first; empty
/// where all results are right, and the same bits both times.
[[nodiscard]] std::string run_scan(tmajit::Runtime& runtime, const RandomScan& scan, std::uint64_t seed);

}  // namespace tests
