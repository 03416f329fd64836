#include "families/multicast/cluster_grid.hpp"

#include "spec/saturate.hpp"

#include <tmajit/cluster_grid.cuh>

#include <algorithm>

TMAJIT_BEGIN
namespace {

constexpr std::uint64_t most_share = 8;  // tiles: the drift of CTAs that do many costs (docs/performance.md)

}  // namespace

std::uint32_t share_of_cluster(std::uint64_t tiles, std::uint32_t cluster, const Footprint& footprint,
                               std::uint32_t sm_count) noexcept {
  const std::uint64_t ctas = std::uint64_t{sm_count} * std::max(resident_ctas(footprint), 1U);
  const std::uint64_t all_at_once = ceil_div(tiles, std::max<std::uint64_t>(ctas / cluster, 1));
  return static_cast<std::uint32_t>(ceil_div(all_at_once, ceil_div(all_at_once, most_share)));
}

void bind_cluster_grid(const TileCounts& counts, std::uint32_t rank, std::uint32_t cluster,
                       std::uint32_t share, ParameterBlock& parameters, LaunchShape& shape) {
  const std::uint64_t count = product(counts, rank);
  shape.grid = grid_of(ceil_div(count, std::uint64_t{share}) * cluster);
  shape.cluster = {cluster, 1, 1};
  with_rank(rank, [&](auto r) {
    params::ClusterGrid<r> grid{};
    for (std::uint32_t d = 0; d < r; ++d) grid.tiles[d] = make_divider<params::Divider>(counts[d]);
    grid.count = static_cast<std::uint32_t>(count);
    grid.share = share;
    parameters.add({"params::ClusterGrid", r}, "grid", grid);
  });
}

TMAJIT_END
