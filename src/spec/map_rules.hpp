#pragma once

#include "spec/violations.hpp"

#include <tmajit/tensor_map_spec.hpp>

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>

TMAJIT_BEGIN

// The rules of a tensor map, in groups, so that a kernel spec can check those that need no tensor. Every
// group is defined for any value of every field.

/// Checks the rank, and that fields beyond it or of the other mode are zero.
void check_form(const TensorMapSpec& map, Violations& violations);
/// Checks enumerators, and whether rank, mode, type, swizzle, interleave and fill are compatible.
void check_kind(const TensorMapSpec& map, Violations& violations);
/// Checks box or pixel_box, and element_strides.
void check_box(const TensorMapSpec& map, Violations& violations);
/// Checks shape and strides; for im2col maps also that the bounding box holds a pixel.
void check_extents(const TensorMapSpec& map, Violations& violations);
void check_address(const TensorMapSpec& map, std::uint64_t address, Violations& violations);

[[nodiscard]] inline bool has_legal_rank(const TensorMapSpec& map) noexcept {
  return map.rank >= 1 && map.rank <= max_map_rank;
}
/// Number of dimensions that the spec holds. If the rank is above five, these are the outermost five.
[[nodiscard]] inline std::uint32_t described_dims(const TensorMapSpec& map) noexcept {
  return std::min<std::uint32_t>(map.rank, max_map_rank);
}
/// Number of dimensions of an image in an im2col map: all but those of images and channels, 1 to 3. For other
/// maps 0.
[[nodiscard]] inline std::uint32_t image_dimensions(const TensorMapSpec& map) noexcept {
  return map.mode == MapMode::im2col && map.rank >= 3 && map.rank <= max_map_rank ? map.rank - 2U : 0;
}
/// "cuTensorMapEncodeTiled, boxDim": the function that encodes the map, and a parameter of it.
[[nodiscard]] std::string driver_source(const TensorMapSpec& map, std::string_view parameter);

TMAJIT_END
