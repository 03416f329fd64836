#include "spec/limits.hpp"
#include "spec/saturate.hpp"
#include "tiles/tile_spec.hpp"

#include <algorithm>
#include <cstdint>
#include <span>

TMAJIT_BEGIN
namespace {

constexpr std::uint32_t base_slack = 1024;  // the largest swizzle period, to which the kernel aligns its base
constexpr std::uint32_t barrier_bytes = 8;
constexpr std::uint32_t shared_granule = 128;  // an SM allocates shared memory in multiples of this

}  // namespace

TileLayout operand_layout(const TileSpec& spec, const OperandSpec& operand) noexcept {
  // Bulk copies move bytes in order: a chunk has one dimension, and a swizzle has no effect.
  if (spec.traits->by_addresses) {
    return tile_layout(operand.type, std::span(spec.tile).first(1), Swizzle::none);
  }
  const auto rank = std::min<std::uint32_t>(spec.rank, max_map_rank);
  return tile_layout(operand.type, std::span(spec.tile).first(rank), operand.swizzle);
}

SharedLayout shared_layout(const TileSpec& spec) noexcept {
  const auto inputs = std::min<std::uint32_t>(spec.inputs, max_inputs);
  // If the facts cannot hold the requested number of stages, spec.asked has it.
  const auto stages = std::max<std::uint32_t>(spec.stages, spec.asked.stages);
  const auto output_stages = std::max<std::uint32_t>(spec.output_stages, spec.asked.output_stages);
  SharedLayout layout;
  std::uint64_t offset = 0;
  const auto place = [&](const OperandSpec& operand, std::uint32_t ring_stages) {
    const auto tile = operand_layout(spec, operand);
    offset = round_up(offset, tile.alignment);
    const auto stage_bytes = round_up(tile.bytes, tile.alignment);
    const SharedLayout::Ring ring{
        .offset = sat_cast<std::uint32_t>(offset),
        .stage_bytes = sat_cast<std::uint32_t>(stage_bytes),
        .tile_bytes = sat_cast<std::uint32_t>(tile.bytes),
    };
    offset = sat_add(offset, sat_mul(stage_bytes, ring_stages));
    return ring;
  };

  for (std::uint32_t i = 0; i < inputs; ++i) layout.inputs[i] = place(spec.input(i), stages);
  if (spec.traits->computes) layout.output = place(spec.output(), output_stages);
  layout.barriers = sat_cast<std::uint32_t>(offset);  // rings end on 128 bytes, so 8-byte aligned
  layout.bytes = sat_add(sat_add(offset, 2ULL * stages * barrier_bytes), base_slack);
  return layout;
}

std::uint32_t launch_shared_bytes(const TileSpec& spec) noexcept {
  const auto needed = sat_cast<std::uint32_t>(shared_layout(spec).bytes);
  if (spec.tiles_per_cta == 0) return needed;  // a persistent grid has only as many CTAs as fit
  const std::uint32_t room_for_more = shared_bytes_for(spec.ctas_per_sm + 1U);
  if (needed > room_for_more) return needed;
  return sat_cast<std::uint32_t>(std::min<std::uint64_t>(round_up(room_for_more + 1ULL, shared_granule),
                                                         shared_bytes_for(spec.ctas_per_sm)));
}

std::uint32_t threads(const TileSpec& spec) noexcept {
  return spec.traits->computes ? 32U * (spec.warps + 1U) : 32U;
}

std::uint64_t stage_transaction_bytes(const TileSpec& spec) noexcept {
  std::uint64_t bytes = 0;
  for (std::uint32_t i = 0; i < std::min<std::uint32_t>(spec.inputs, max_inputs); ++i) {
    bytes = sat_add(bytes, operand_layout(spec, spec.input(i)).transaction_bytes);
  }
  return bytes;
}

bool fits(const TileSpec& spec) noexcept {
  return shared_layout(spec).bytes <= shared_bytes_for(spec.ctas_per_sm) &&
         threads(spec) * spec.ctas_per_sm <= max_threads_per_sm &&
         stage_transaction_bytes(spec) <= max_transaction_bytes;
}

TMAJIT_END
