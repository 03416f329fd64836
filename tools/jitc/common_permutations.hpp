#pragma once

#include <tmajit/tensor_view.hpp>

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

namespace jitc {

/// A permutation that is frequent in programs; `jitc tune --all` measures it.
struct CommonPermutation {
  std::uint32_t rank = 0;
  std::array<std::uint64_t, tmajit::max_view_rank> extents{};
  std::array<std::uint32_t, tmajit::max_view_rank> order{};

  [[nodiscard]] std::span<const std::uint64_t> shape() const { return std::span(extents).first(rank); }
  [[nodiscard]] std::span<const std::uint32_t> axes() const { return std::span(order).first(rank); }
};

inline constexpr std::array common_permutations{
    CommonPermutation{2, {16384, 16384}, {1, 0}},
    CommonPermutation{2, {32768, 32768}, {1, 0}},
    CommonPermutation{2, {8192, 16384}, {1, 0}},
    CommonPermutation{2, {4096, 4096}, {1, 0}},
    CommonPermutation{2, {8191, 8209}, {1, 0}},               // prime extents: nothing is aligned
    CommonPermutation{4, {64, 128, 256, 512}, {0, 2, 1, 3}},  // the innermost dimension stays
    CommonPermutation{4, {64, 128, 256, 512}, {3, 2, 1, 0}},
    CommonPermutation{4, {32, 128, 256, 512}, {3, 2, 1, 0}},
    CommonPermutation{4, {16, 128, 256, 512}, {3, 2, 1, 0}},
    CommonPermutation{4, {8, 128, 256, 512}, {3, 2, 1, 0}},
    CommonPermutation{4, {64, 128, 256, 512}, {0, 3, 1, 2}},  // NHWC to NCHW
    CommonPermutation{4, {64, 256, 512, 128}, {0, 3, 1, 2}},  // NHWC to NCHW, fewer channels
    CommonPermutation{5, {32, 64, 32, 64, 64}, {4, 2, 0, 3, 1}},
    CommonPermutation{3, {512, 512, 1024}, {2, 0, 1}},
    CommonPermutation{4, {32, 2048, 32, 128}, {0, 2, 1, 3}},  // BSHD to BHSD
    // Small tensors, bound by latency.
    CommonPermutation{2, {128, 128}, {1, 0}},
    CommonPermutation{2, {128, 256}, {1, 0}},
    CommonPermutation{2, {256, 256}, {1, 0}},
    CommonPermutation{2, {256, 512}, {1, 0}},
    CommonPermutation{2, {512, 512}, {1, 0}},
    CommonPermutation{2, {512, 1024}, {1, 0}},
    CommonPermutation{2, {1024, 1024}, {1, 0}},
    CommonPermutation{2, {1024, 2048}, {1, 0}},
    CommonPermutation{2, {2048, 2048}, {1, 0}},
    CommonPermutation{4, {2, 16, 8, 64}, {0, 2, 1, 3}},
    CommonPermutation{4, {2, 32, 8, 64}, {0, 2, 1, 3}},
    CommonPermutation{4, {2, 64, 8, 64}, {0, 2, 1, 3}},
    CommonPermutation{4, {2, 128, 8, 64}, {0, 2, 1, 3}},
    CommonPermutation{4, {2, 256, 8, 64}, {0, 2, 1, 3}},
    CommonPermutation{4, {2, 512, 8, 64}, {0, 2, 1, 3}},
    CommonPermutation{4, {2, 1024, 8, 64}, {0, 2, 1, 3}},
    CommonPermutation{4, {2, 2048, 8, 64}, {0, 2, 1, 3}},
    CommonPermutation{4, {2, 4096, 8, 64}, {0, 2, 1, 3}},
};

}  // namespace jitc
