#pragma once

#include "case.hpp"

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace bench {

struct ListOptions {
  std::uint64_t seed = 1;  ///< seed of the random permutations
  bool tiny = false;       ///< the same moves with few elements, to test the benchmark itself
  /// If not 0: instead of the list, this many random permutations of each of f32, bf16 and u8.
  std::size_t random = 0;
  bool random_f64 = false;    ///< also permutations of f64
  bool random_views = false;  ///< pads, slices, flips, broadcasts, casts and maps instead of permutations
  /// If not empty: instead of the list, the cases of this operation, or `random` cases of it with random
  /// shapes.
  std::string_view operation = {};
  /// The cases of families whose callers may choose the tile: their element types, and the bytes of their
  /// largest tensor.
  std::vector<tmajit::ElementType> types{tmajit::ElementType::u8, tmajit::ElementType::bf16,
                                         tmajit::ElementType::f32, tmajit::ElementType::f64};
  std::vector<std::uint64_t> sizes{1ULL << 30};
};

/// All measured cases, the most important first. The Python programs read the same list through the library.
std::vector<Case> list_cases(const ListOptions& options);

}  // namespace bench
