#pragma once

#include "families/shared/views.hpp"

#include <cstdint>

TMAJIT_BEGIN

// Kernels whose clusters do tiles together, several one after the other.

/// Tiles that a cluster does, of so many: all clusters run at once if that is not too many tiles for each;
/// else they take equal turns. `footprint` is that of their CTAs.
[[nodiscard]] std::uint32_t share_of_cluster(std::uint64_t tiles, std::uint32_t cluster,
                                             const Footprint& footprint, std::uint32_t sm_count) noexcept;

/// Adds the parameter params::ClusterGrid, and sets grid and cluster; `counts` are tiles of clusters in each
/// dimension, fewer than 2^31 in all.
void bind_cluster_grid(const TileCounts& counts, std::uint32_t rank, std::uint32_t cluster,
                       std::uint32_t share, ParameterBlock& parameters, LaunchShape& shape);

TMAJIT_END
