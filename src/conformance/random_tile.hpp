#pragma once

#include "conformance/tile_copy.hpp"

#include <cstdint>
#include <optional>

namespace conformance {

/// Features of random copies of tiles. Without any, boxes are inside of a dense tensor of u32, without a
/// swizzle. Cases with a single feature show which features a device handles differently.
struct TileFeatures {
  std::optional<tmajit::ElementType> type = {};  ///< element type of all copies; without it, see `types`
  bool types = false;                            ///< any element type; false: u32
  bool swizzles = false;                         ///< rows as long as the swizzle's span, or shorter
  bool shifted = false;      ///< swizzled tiles need not be aligned to the swizzle's period
  bool strides = false;      ///< element strides 1 to 8, which may not divide the box
  bool interleaved = false;  ///< 16B and 32B, with tensors of rank 3 to 5
  bool nan = false;          ///< fills with NaN, for types that have it
  bool outside = false;      ///< boxes begin and end out of bounds; those of loads also before 0
  bool larger = false;       ///< boxes larger than the tensor
  bool chunks = false;       ///< rows whose end is no multiple of 16 bytes
  bool promotions = false;   ///< L2 promotions
  bool padded = false;       ///< gaps between rows
  bool permuted = false;     ///< strides in any order
  bool overlapping = false;  ///< strides of 0, and strides less than the inner dimensions' bytes
  bool huge = false;         ///< outer extents of up to 2^31, with strides of 0 bytes
  bool hints = false;        ///< cache hints
  bool prefetch = false;     ///< TileCopy::prefetch
  bool moved = false;        ///< TileCopy::moved
};

/// A copy of a few kilobytes by a map that is legal.
[[nodiscard]] TileCopy random_tile(reference::Random& random, TileCopy::Kind kind,
                                   const TileFeatures& features);

}  // namespace conformance
