#pragma once

#include "families/shared/views.hpp"

#include <cstdint>

TMAJIT_BEGIN

// Kernels whose clusters do tiles together, several one after the other.

/// Says in the footprint of a cluster's CTAs, which holds all else that decides how many of them run at a
/// time, how many of so many tiles a cluster does: as many that there are a few rounds of clusters all the
/// same. It has up to `stages` in flight.
void share_tiles(Footprint& footprint, std::uint64_t tiles, std::uint32_t cluster, std::uint32_t stages,
                 std::uint32_t sm_count) noexcept;

/// Adds the parameter params::ClusterGrid, and sets grid and cluster; `counts` are tiles of clusters in each
/// dimension, fewer than 2^31 in all.
void bind_cluster_grid(const TileCounts& counts, std::uint32_t rank, std::uint32_t cluster,
                       const Footprint& footprint, ParameterBlock& parameters, LaunchShape& shape);

TMAJIT_END
