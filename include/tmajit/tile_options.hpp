#pragma once

#include <tmajit/tensor_map_spec.hpp>

#include <cstdint>
#include <optional>

TMAJIT_BEGIN

inline constexpr std::uint32_t max_inputs = 8;
inline constexpr std::uint32_t max_expression = 1023;  ///< characters of an expression

/// A caller's choices for tiles, beyond the operands. Zero or empty means "the default".
struct TileOptions {
  Dims box = {};  ///< box of the first source, in elements, row-major
  /// Element strides of the sources, row-major; a tile loads ceil(box / element stride) elements.
  Dims element_strides = {};
  Swizzle swizzle = Swizzle::none;               ///< swizzle of every operand
  Interleave interleave = Interleave::none;      ///< interleave of every operand
  L2Promotion l2_promotion = L2Promotion::none;  ///< L2 promotion of every operand
  OobFill oob_fill = OobFill::zero;              ///< fill of the sources
  std::uint32_t stages = 0;
  std::uint32_t output_stages = 0;
  std::uint32_t warps = 0;
  std::uint32_t ctas_per_sm = 0;
  std::optional<std::uint32_t> tiles_per_cta = std::nullopt;  ///< 0: a persistent grid
};

TMAJIT_END
