#include "kernel/family.hpp"

#include "spec/limits.hpp"
#include "spec/saturate.hpp"

#include <algorithm>

#include <spdlog/fmt/fmt.h>

TMAJIT_BEGIN

std::uint32_t resident_ctas(const Footprint& footprint) noexcept {
  const std::uint32_t shared =
      footprint.dynamic_shared_bytes + footprint.static_shared_bytes + cta_reserve_bytes;
  const std::uint32_t threads = std::max(footprint.threads, 1U);
  const std::uint32_t fit = std::min({max_threads_per_sm / threads, max_shared_bytes_per_cta / shared,
                                      registers_per_sm / (footprint.registers * threads)});
  return std::clamp(fit, 1U, max_resident_ctas);
}

std::uint64_t tiles_of(const Footprint& footprint, const CanonicalNest& nest) noexcept {
  if (footprint.tiles != 0) return footprint.tiles;
  std::uint64_t tiles = 1;
  for (std::uint32_t d = 0; d < nest.rank; ++d) {
    const std::uint32_t stagger = d + 1 == nest.rank ? footprint.stagger : 0;
    tiles = sat_mul(tiles, ceil_div(sat_add(nest.shape[d], stagger), footprint.box[d]));
  }
  return tiles;
}

void add_once(std::vector<Candidate>& candidates, Candidate&& candidate, bool common) {
  const auto same = std::ranges::find(candidates, candidate);
  if (same != candidates.end()) {
    same->common = same->common || common;
    return;
  }
  candidate.common = common;
  candidates.push_back(std::move(candidate));
}

std::array<std::uint32_t, 3> grid_of(std::uint64_t ctas) {
  if (ctas > max_grid) {
    throw Error(
        ErrorCode::unsupported,
        fmt::format(
            "{} CTAs are needed; at most 2^31 - 1 are possible in one launch. A larger tile, more tiles "
            "a CTA or a persistent grid needs fewer.",
            ctas));
  }
  return {static_cast<std::uint32_t>(ctas), 1, 1};
}

TMAJIT_END
