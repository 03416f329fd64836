#pragma once

#include "spec/saturate.hpp"

#include <tmajit/tensor_map_spec.hpp>

#include <cstdint>

TMAJIT_BEGIN

/// Elements in dimension `d` of the tile that a copy through the tiled map `map` moves: ceil(box / element
/// stride). Measured on an H200 (docs/tma.md): without interleave, the innermost element stride is ignored.
/// With interleave, a tile has one index of dimension 1, the slices of channels, whatever the box says.
[[nodiscard]] inline std::uint32_t tile_extent(const TensorMapSpec& map, std::uint32_t d) noexcept {
  const bool interleaved = map.interleave != Interleave::none;
  if (interleaved && d == 1 && map.rank > 2) return 1;
  if (!interleaved && d + 1U == map.rank) return map.box[d];
  return sat_cast<std::uint32_t>(ceil_div(map.box[d], map.element_strides[d]));
}

TMAJIT_END
