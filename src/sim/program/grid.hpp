#pragma once

/// Positions of CTAs, clusters and threads in a grid.
#include <tmajit/version.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

#include <spdlog/fmt/fmt.h>

TMAJIT_BEGIN
namespace sim {

/// Extents of a grid, a cluster or a block, or a position in one: x, y, z.
using Triple = std::array<std::uint32_t, 3>;
[[nodiscard]] constexpr std::uint64_t volume(const Triple& extent) noexcept {
  return std::uint64_t{extent[0]} * extent[1] * extent[2];
}
/// The position with linear index `n`; x varies fastest.
[[nodiscard]] constexpr Triple position_in(const Triple& extent, std::uint64_t n) noexcept {
  return {static_cast<std::uint32_t>(n % extent[0]), static_cast<std::uint32_t>(n / extent[0] % extent[1]),
          static_cast<std::uint32_t>(n / extent[0] / extent[1])};
}
/// The position in a grid of the CTA with rank `rank` in the cluster with linear index `number`.
[[nodiscard]] constexpr Triple ctaid(const Triple& grid, const Triple& cluster, std::uint64_t number,
                                     std::uint32_t rank) noexcept {
  Triple clusters = grid;
  for (std::size_t d = 0; d < 3; ++d) clusters[d] /= cluster[d];
  const Triple first = position_in(clusters, number);
  Triple index = position_in(cluster, rank);
  for (std::size_t d = 0; d < 3; ++d) index[d] += first[d] * cluster[d];
  return index;
}
/// "(x, y, z)"
[[nodiscard]] inline std::string text_of(const Triple& index) {
  return fmt::format("({}, {}, {})", index[0], index[1], index[2]);
}

}  // namespace sim
TMAJIT_END
