#pragma once

#include "spec/violations.hpp"
#include "tiles/tile_spec.hpp"

#include <cstdint>
#include <span>
#include <string>

TMAJIT_BEGIN

// The rules of a kernel of tiles. They stand for any value of every field.

/// Counts, unused bytes, the expression, each operand's tile, and what an SM has.
void check_spec(const TileSpec& spec, Violations& violations);
/// Views against the spec and against each other, the output first.
void check_views(const TileSpec& spec, std::span<const TensorView> views, Violations& violations);
/// All of them, and those of memory where addresses are not 0. The output is first.
void check_tiles(const TileSpec& spec, std::span<const Tensor> tensors, Violations& violations);

/// Whether there are operands to look at: a number of inputs in range, and no more dimensions than facts have
/// room for.
[[nodiscard]] bool has_operands(const TileSpec& spec) noexcept;
/// "input 2" or "output".
[[nodiscard]] std::string operand_name(const TileSpec& spec, std::uint32_t index);

TMAJIT_END
