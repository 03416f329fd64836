#pragma once

#include "families/stencil/stencil_layout.hpp"

#include <optional>

TMAJIT_BEGIN

/// Tunable parameters of a stencil's kernel.
struct StencilTuning {
  std::uint32_t row_bytes;  ///< bytes of a tile's row, in the widest type
  std::uint32_t rows;       ///< rows of a tile
  std::uint32_t strip;      ///< rows that a thread processes
  std::uint32_t ahead;      ///< planes that are loaded while a tile is computed
};

/// The problem's nest as kernels walk it: at least two dimensions, and those of the stencil although their
/// extent is 1, in front.
[[nodiscard]] CanonicalNest stencil_nest(const Problem& problem);

/// The facts of a kernel: by the copy engine if maps describe all sources. None where even the smallest tile
/// has no room in shared memory.
[[nodiscard]] std::optional<StencilFacts> plan_stencil(const Problem& problem, const CanonicalNest& nest,
                                                       const StencilTuning& tuning);

TMAJIT_END
