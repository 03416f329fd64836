#pragma once

#include <tmajit/version.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

TMAJIT_BEGIN

/// Walks N strided arrays of one shape together, in C order. Calls `take(offsets, count, steps)` for each row
/// of the last dimension: the offsets of its first element in each array, and the steps to the next element,
/// counted in elements.
template <std::size_t N, class Take>
void for_each_row(std::span<const std::uint64_t> shape,
                  const std::array<std::span<const std::int64_t>, N>& strides, const Take& take) {
  for (const auto extent : shape) {
    if (extent == 0) return;
  }
  std::array<std::int64_t, N> offsets{};
  std::array<std::int64_t, N> steps{};
  if (shape.empty()) {
    take(offsets, std::uint64_t{1}, steps);
    return;
  }
  const std::size_t last = shape.size() - 1;
  for (std::size_t n = 0; n < N; ++n) steps[n] = strides[n][last];
  std::vector<std::uint64_t> index(last, 0);
  for (;;) {
    take(offsets, shape[last], steps);
    std::size_t d = last;
    for (; d > 0; --d) {
      const std::size_t at = d - 1;
      ++index[at];
      for (std::size_t n = 0; n < N; ++n) offsets[n] += strides[n][at];
      if (index[at] < shape[at]) break;
      for (std::size_t n = 0; n < N; ++n) {
        offsets[n] -= strides[n][at] * static_cast<std::int64_t>(shape[at]);
      }
      index[at] = 0;
    }
    if (d == 0) return;
  }
}

TMAJIT_END
