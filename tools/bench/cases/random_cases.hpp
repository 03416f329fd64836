#pragma once

#include "case.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace bench {

struct RandomOptions {
  std::size_t count = 0;  ///< of permutations in each element type, or of each kind of view
  std::uint64_t seed = 1;
  bool tiny = false;  ///< tensors of up to 4096 elements, to test the benchmark itself
  bool f64 = false;   ///< permutations of f64, too
};

/// A permutation of a dense tensor.
Case permutation(const char* group, tmajit::ElementType type, const Shape& from,
                 const std::vector<std::uint32_t>& axes);

/// `count` permutations of each of f32, bf16 and u8 that nobody tabulated: ranks 2 to 6, extents that are
/// powers of two, small multiples of them, hundreds, odd or prime, 8 to 256 Mi elements. The same options
/// give the same list on every machine.
std::vector<Case> random_permutations(const RandomOptions& options);

/// `count` pads, slices, flips, broadcasts, casts and maps each, of ranks 1 to 5 and such extents, in f32,
/// bf16 and u8 in turn; casts between any two of f32, bf16, u8, e4m3 and f64. Every third source or so is a
/// permuted view. Pads and slices have odd amounts on some of the axes, slices steps here and there; maps
/// compute an expression of the table over sources of which some are repeated.
std::vector<Case> random_views(const RandomOptions& options);

/// Sums of f32 of random shapes, ranks 2 to 4 and 4 to 256 Mi elements, over random axes; with no count the
/// reductions that people have: all of 2^28 elements, rows, columns, both long and short, in several types.
std::vector<Case> reductions(const RandomOptions& options);

}  // namespace bench
