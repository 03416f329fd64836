#pragma once

#include "reference/random_maps.hpp"

#include <tmajit/tensor_view.hpp>

#include <cstdint>
#include <set>
#include <vector>

/// Whether two indices of a small view are the same element, by iterating over all of them.
inline bool overlaps_itself(const tmajit::TensorView& view) {
  std::vector<std::int64_t> offsets{0};
  for (std::uint32_t d = 0; d < view.rank; ++d) {
    std::vector<std::int64_t> extended;
    for (std::uint64_t i = 0; i < view.shape[d]; ++i) {
      for (const auto offset : offsets)
        extended.push_back(offset + static_cast<std::int64_t>(i) * view.strides[d]);
    }
    offsets = extended;
  }
  return std::set(offsets.begin(), offsets.end()).size() != offsets.size();
}

/// A random view of `rank` dimensions with extents of up to five, and strides of 0 to `max_stride` units.
inline tmajit::TensorView small_view(reference::Random& random, std::uint32_t rank, std::int64_t unit,
                                     std::uint64_t max_stride) {
  using reference::between;
  tmajit::TensorView view{.type = tmajit::ElementType::f32, .rank = rank};
  for (std::uint32_t d = 0; d < rank; ++d) {
    view.shape[d] = between(random, 1, 5);
    view.strides[d] = static_cast<std::int64_t>(between(random, 0, max_stride)) * unit;
  }
  return view;
}
