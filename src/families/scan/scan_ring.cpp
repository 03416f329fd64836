#include "families/scan/scan_ring.hpp"

#include "spec/saturate.hpp"

#include <tmajit/device_kernels.hpp>
#include <tmajit/scan_plan.cuh>

#include <algorithm>

TMAJIT_BEGIN
namespace {

// Limits of log2 of the slots for tiles. The number of slots is a multiple of params::ring_parts.
constexpr std::uint32_t min_log2_ring = 5;
constexpr std::uint32_t max_log2_ring = 20;

}  // namespace

bool find_scan_ring(std::uint64_t chains, std::uint64_t parts, std::uint64_t state_bytes,
                    std::uint32_t log2_most, ScanRingLayout& ring) {
  if (sat_mul(chains, parts) >= std::uint64_t{1} << 31) return false;
  const std::uint64_t slot_bytes = 2 * state_bytes;  // each 64-bit word has 32 bits of a state and a tag
  for (std::uint32_t log2_unit = log2_most + 1; log2_unit-- > 0;) {
    const auto fits = [&](std::uint32_t log2_tiles) {
      const std::uint64_t tiles = std::uint64_t{1} << log2_tiles;
      const std::uint64_t slots =
          log2_unit == 0 ? tiles : tiles + (tiles >> log2_unit) + (tiles >> 2 * log2_unit);
      return slots * slot_bytes + params::ring_prologue <= scratch_zeros;
    };
    std::uint32_t log2_tiles = std::max(min_log2_ring, 2 * log2_unit);
    if (!fits(log2_tiles)) continue;
    while (log2_tiles < max_log2_ring && fits(log2_tiles + 1)) ++log2_tiles;
    // A slot may still be read by a tile that is this many tiles later.
    const std::uint64_t reach = (log2_unit == 0 ? 1 : 2) * (chains << 2 * log2_unit);
    const std::uint64_t tiles = std::uint64_t{1} << log2_tiles;
    if (reach > tiles / 2) continue;
    ring.log2_tiles = log2_tiles;
    ring.log2_unit = log2_unit;
    ring.waits = static_cast<std::uint32_t>(2 + ceil_div(reach, tiles / params::ring_parts));
    std::uint64_t first = params::ring_prologue;
    for (std::uint32_t level = 3; level-- > 0;) {
      ring.first[level] = first;
      if (level == 2 || log2_unit > 0) first += (tiles >> level * log2_unit) * slot_bytes;
    }
    return true;
  }
  return false;
}

TMAJIT_END
