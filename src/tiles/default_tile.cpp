#include "spec/limits.hpp"
#include "spec/saturate.hpp"
#include "tiles/tile_spec.hpp"

#include <algorithm>
#include <array>
#include <cstdint>

TMAJIT_BEGIN
namespace {

/// Least bytes of one operand's tile. Smaller tiles give a thread too little work at a time. With many
/// inputs the minimum is lower, because their rings must leave room for several CTAs.
constexpr std::uint64_t min_tile_bytes(std::uint64_t inputs) noexcept {
  return inputs > 4 ? 2 * kib : 4 * kib;
}
// With several inputs, an SM gets up to this many CTAs, with up to max_bytes_in_flight together: the loads of
// one CTA then overlap the computation of another. That may be more than the pipeline wants.
constexpr std::uint32_t enough_ctas = 4;
constexpr std::uint64_t max_bytes_in_flight = 96 * kib;
constexpr std::uint32_t enough_threads = 1024;     // per SM: each then has 64 registers, and nothing spills
constexpr std::uint64_t max_inner_elements = 256;  // limit of a tile's row
constexpr std::uint32_t default_warps = 4;
/// If there are at most this many tiles of half the wanted size, each CTA processes one of them. All are
/// resident at once, so that the latency of one load and one store determines the time.
constexpr std::uint64_t max_single_halves = 512;
/// If there are at most this many tiles of the wanted size, each CTA processes one of them. They run in a few
/// waves, and the last wave ends sooner if CTAs have less work.
constexpr std::uint64_t max_single_tiles = 2048;

std::span<const OperandSpec> operands_with_tiles(const TileSpec& spec) {
  // A snapshot's output is plain memory, not a tensor map.
  const auto with_output = std::span(spec.operands).first(spec.inputs + 1U);
  return spec.traits->writes_images ? with_output.subspan(1) : with_output;
}

struct InnerLimits {
  std::uint64_t granule = 1;  ///< elements whose multiples are multiples of 16 bytes for every operand
  std::uint64_t most = max_inner_elements;  ///< most elements of a row
  std::uint64_t element_bytes = 1;          ///< element size of the largest operand
  std::uint64_t pitch = 0;                  ///< least bytes of a row
};

InnerLimits inner_limits(const TileSpec& spec) {
  InnerLimits limits;
  for (const auto& operand : operands_with_tiles(spec)) {
    const std::uint64_t size = size_of(operand.type);
    limits.granule = std::max(limits.granule, bulk_bytes / size);
    limits.element_bytes = std::max(limits.element_bytes, size);
    if (operand.swizzle == Swizzle::none || operand.swizzle > Swizzle::b128) continue;
    limits.most = std::min(limits.most, span_bytes(operand.swizzle) / size);
    limits.pitch = std::max<std::uint64_t>(limits.pitch, span_bytes(operand.swizzle));
  }
  limits.most = std::max(round_down(limits.most, limits.granule), limits.granule);
  return limits;
}

/// Elements that dimension `d` of a tile may have so that no operand's box exceeds its limit.
std::uint64_t box_limit(const TileSpec& spec, std::uint32_t d) {
  std::uint64_t most = max_box;
  for (const auto& operand : operands_with_tiles(spec)) {
    most = std::min<std::uint64_t>(most, max_box / std::max<std::uint32_t>(operand.element_strides[d], 1));
  }
  return std::max<std::uint64_t>(most, 1);
}

/// A tile whose largest operand takes about `bytes`: the inner dimension first, then rows outwards.
std::array<std::uint32_t, max_map_rank> tile_of(const TileSpec& spec, std::span<const std::uint64_t> extents,
                                                std::uint64_t bytes) {
  std::array<std::uint32_t, max_map_rank> tile{};
  if (spec.rank == 0) return tile;
  const auto limits = inner_limits(spec);
  const auto inner = spec.rank - 1U;

  const auto affordable = bytes / limits.element_bytes;
  std::uint64_t columns = std::min({limits.most, box_limit(spec, inner), affordable});
  columns = std::min(columns, round_up(std::max<std::uint64_t>(extents[inner], 1), limits.granule));
  columns = std::max(round_down(columns, limits.granule), limits.granule);
  tile[inner] = sat_cast<std::uint32_t>(columns);

  std::uint64_t rows =
      std::max<std::uint64_t>(bytes / std::max(columns * limits.element_bytes, limits.pitch), 1);
  for (auto d = inner; d-- > 0;) {
    const auto taken = std::min({rows, box_limit(spec, d), std::max<std::uint64_t>(extents[d], 1)});
    tile[d] = sat_cast<std::uint32_t>(taken);
    rows = std::max<std::uint64_t>(rows / taken, 1);
  }
  return tile;
}

/// Elements of a chunk of about `bytes`. A bulk copy has no box: a chunk is any multiple of 16 bytes.
std::uint32_t chunk_of(const TileSpec& spec, std::uint64_t bytes) {
  const auto limits = inner_limits(spec);
  const auto elements = round_down(bytes / limits.element_bytes, limits.granule);
  return sat_cast<std::uint32_t>(std::max(elements, limits.granule));
}

/// The number of tiles of the spec's size that together have the pipeline's wanted bytes, clamped to `least`
/// … `most`.
std::uint8_t tiles_wanted(const TileSpec& spec, std::uint64_t least, std::uint64_t most) {
  const auto stage = std::max<std::uint64_t>(stage_transaction_bytes(spec), 1);
  const auto& wanted = spec.traits->pipeline;
  return static_cast<std::uint8_t>(std::clamp(wanted.stages * wanted.tile_bytes / stage, least, most));
}

/// Adds CTAs to an SM until together they have enough bytes in flight.
void add_ctas(TileSpec& spec) {
  const auto ring = std::max<std::uint64_t>(stage_transaction_bytes(spec) * spec.stages, 1);
  for (TileSpec more = spec; spec.ctas_per_sm < max_ctas_per_sm;) {
    ++more.ctas_per_sm;
    const auto limit = spec.inputs > 1 && more.ctas_per_sm <= enough_ctas ? max_bytes_in_flight : 0;
    if (ring * more.ctas_per_sm > std::max(limit, spec.traits->pipeline.bytes_in_flight)) return;
    if (!fits(more) || threads(more) * more.ctas_per_sm > enough_threads) return;
    spec.ctas_per_sm = more.ctas_per_sm;
  }
}

/// Removes stages until the spec fits; returns false if it never does.
bool shrink_to_fit(TileSpec& spec, const TileOptions& chosen) {
  while (!fits(spec)) {
    if (chosen.stages != 0 || spec.stages <= 1) return false;
    --spec.stages;
  }
  return true;
}

/// The number of tiles of the spec's size in `extents`.
std::uint64_t tiles_in(const TileSpec& spec, std::span<const std::uint64_t> extents) {
  std::uint64_t tiles = 1;
  for (std::size_t d = 0; d < extents.size(); ++d) tiles = sat_mul(tiles, ceil_div(extents[d], spec.tile[d]));
  return tiles;
}

/// Gives each tile of about `bytes` a CTA of its own, if there are at most `most` tiles and the caller has
/// chosen neither tile nor stages. Returns whether it did.
bool take_single_tiles(TileSpec& spec, const TileOptions& chosen, std::span<const std::uint64_t> extents,
                       std::uint64_t bytes, std::uint64_t most) {
  // The tile of a snapshot determines the shape of its output.
  if (spec.traits->by_addresses || spec.traits->writes_images || spec.rank == 0) return false;
  if (!chosen.box.empty() || chosen.stages != 0 || chosen.tiles_per_cta) return false;
  TileSpec single = spec;
  single.tile = tile_of(spec, extents, bytes);
  single.stages = 1;
  single.tiles_per_cta = 1;
  const std::uint64_t tiles = tiles_in(single, extents);
  // If there are more tiles, each must be worth a CTA, and rows of at most 256 elements may make it too
  // small.
  const bool few = tiles <= max_single_halves;
  if (tiles > most || !fits(single) || (!few && stage_transaction_bytes(single) * 2 < bytes)) return false;
  spec = single;
  if (chosen.ctas_per_sm == 0) add_ctas(spec);
  return true;
}

}  // namespace

void fill_defaults(TileSpec& spec, const TileOptions& chosen, std::span<const std::uint64_t> extents) {
  if (chosen.ctas_per_sm == 0) spec.ctas_per_sm = 1;
  if (chosen.output_stages == 0) spec.output_stages = spec.traits->computes ? min_output_stages : 0;
  if (chosen.warps == 0) {
    const auto ctas = std::max<std::uint32_t>(spec.ctas_per_sm, 1);
    const auto warps = max_threads_per_sm / 32 / ctas;  // one of them loads
    spec.warps =
        static_cast<std::uint8_t>(spec.traits->computes ? std::clamp(warps, 2U, default_warps + 1) - 1 : 1);
  }

  const auto inputs = std::max<std::uint64_t>(spec.inputs, 1);
  auto bytes = std::max(spec.traits->pipeline.tile_bytes / inputs, min_tile_bytes(inputs));
  if (take_single_tiles(spec, chosen, extents, bytes / 2, max_single_halves)) return;
  if (take_single_tiles(spec, chosen, extents, bytes, max_single_tiles)) return;
  const TileSpec given = spec;
  for (;; bytes /= 2) {
    spec = given;
    if (chosen.box.empty() && spec.traits->by_addresses) spec.tile = {chunk_of(spec, bytes)};
    if (chosen.box.empty() && !spec.traits->by_addresses) spec.tile = tile_of(spec, extents, bytes);
    if (chosen.stages == 0) spec.stages = tiles_wanted(spec, spec.traits->pipeline.stages, max_stages);
    const bool is_small_enough = shrink_to_fit(spec, chosen);
    // A ring of one stage overlaps nothing: a smaller tile is better, unless the caller has chosen it.
    const bool is_pipelined = chosen.stages != 0 || spec.stages > 1;
    if ((is_small_enough && is_pipelined) || !chosen.box.empty() || bytes <= bulk_bytes) {
      // As many tiles as the ring has stages, so that all loads are in flight at once; more if that is too
      // little work for a CTA.
      if (!chosen.tiles_per_cta) {
        spec.tiles_per_cta = tiles_wanted(spec, std::max<std::uint64_t>(spec.stages, 2), max_tiles_per_cta);
      }
      if (is_small_enough && chosen.ctas_per_sm == 0) add_ctas(spec);
      return;
    }
  }
}

TMAJIT_END
