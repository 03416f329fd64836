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

/// The problem's nest as kernels walk it, with at least two dimensions. The stencil's dimensions of extent 1,
/// which the problem's nest drops, come first.
[[nodiscard]] CanonicalNest stencil_nest(const Problem& problem);

/// The facts of a kernel. The copy engine loads tiles if tensor maps can describe all sources. Nothing if
/// even the smallest tile exceeds shared memory.
[[nodiscard]] std::optional<StencilFacts> plan_stencil(const Problem& problem, const CanonicalNest& nest,
                                                       const StencilTuning& tuning);

TMAJIT_END
