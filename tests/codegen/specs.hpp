#pragma once

#include <tmajit/kernel_spec.hpp>

#include <algorithm>
#include <array>
#include <cstdint>

/// A small legal kernel of any family, rank, swizzle and type.
inline tmajit::KernelSpec small_spec(tmajit::Family family, std::uint32_t rank, tmajit::Swizzle swizzle,
                                     tmajit::ElementType type) {
  std::array<std::uint64_t, tmajit::max_map_rank> shape{};
  shape.fill(64);
  const auto view = tmajit::TensorView::contiguous(type, {shape.data(), rank});
  const tmajit::TileOptions options{.swizzle = swizzle};
  switch (family) {
    case tmajit::Family::copy: return copy_spec(view, view, options);
    case tmajit::Family::map: return map_spec("x", {&view, 1}, view, options);
    case tmajit::Family::bulk: return tmajit::bulk_spec("x", type, type);
    default: return snapshot_spec(view, options);
  }
}
