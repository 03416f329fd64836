#pragma once

#include "spec/violations.hpp"
#include "tiles/tile_spec.hpp"

#include <cstdint>
#include <span>
#include <string>

TMAJIT_BEGIN

// The rules of a kernel of tiles. They can check any value of every field.

/// Checks counts, unused bytes, the expression, each operand's tile, and an SM's resources.
void check_spec(const TileSpec& spec, Violations& violations);
/// Checks views, the output first, against the spec and against each other.
void check_views(const TileSpec& spec, std::span<const TensorView> views, Violations& violations);
/// Checks spec and views, and the memory of tensors whose address is not 0. The output is first.
void check_tiles(const TileSpec& spec, std::span<const Tensor> tensors, Violations& violations);

/// Whether operands can be checked: the number of inputs is in range, and the facts hold all dimensions.
[[nodiscard]] bool has_operands(const TileSpec& spec) noexcept;
/// "input 2" or "output".
[[nodiscard]] std::string operand_name(const TileSpec& spec, std::uint32_t index);

TMAJIT_END
