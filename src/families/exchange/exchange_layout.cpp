#include "families/exchange/exchange_layout.hpp"

#include "families/shared/copy_engine_tiles.hpp"
#include "families/shared/line_image.hpp"
#include "spec/limits.hpp"
#include "spec/saturate.hpp"

#include <algorithm>
#include <bit>
#include <span>

TMAJIT_BEGIN
namespace {

constexpr std::uint32_t widest_unit = 8;          // bytes of a tensor map's elements
constexpr std::uint32_t longest_part = 512;       // bytes of a run: longer ones need no exchange
constexpr std::uint32_t box_alignment = 128;      // of what a load brings, in shared memory
constexpr std::uint32_t memory_alignment = 1024;  // of the first stage (aligned_shared_memory())
constexpr std::uint32_t usual_stages = 3;

/// Units of a run that a tile takes: all, or equal parts; whole 16 bytes of them.
std::uint32_t units_of_run(const ExchangeFacts& facts, std::uint64_t units) {
  const std::uint32_t most = std::min(longest_part, max_box * facts.map_unit()) / facts.unit_bytes;
  const std::uint64_t parts = ceil_div(units, std::uint64_t{most});
  return static_cast<std::uint32_t>(round_up(ceil_div(units, parts), bulk_bytes / facts.unit_bytes));
}

/// A cluster's tile of so many runs, about as long along both dimensions.
void choose_sides(ExchangeFacts& facts, const CanonicalNest& nest, std::uint64_t runs) {
  const auto most = [&](std::uint32_t d) {
    return std::min<std::uint64_t>(std::bit_ceil(nest.shape[d]), max_box);
  };
  std::uint64_t across = facts.cluster;
  std::uint64_t along = facts.cluster;
  while (2 * across * along <= runs) {
    const bool across_grows = across < most(facts.across);
    const bool along_grows = along < most(facts.along);
    if (!across_grows && !along_grows) break;
    (across_grows && (across <= along || !along_grows) ? across : along) *= 2;
  }
  facts.box[facts.across] = static_cast<std::uint32_t>(across);
  facts.box[facts.along] = static_cast<std::uint32_t>(along) / facts.cluster;
}

}  // namespace

std::uint32_t ExchangeFacts::map_unit() const noexcept {
  return std::min(unit_bytes, widest_unit);
}
std::uint32_t ExchangeFacts::run_bytes() const noexcept {
  return box[rank - 1] * unit_bytes;
}
std::uint32_t ExchangeFacts::owned() const noexcept {
  return box[across] / cluster;
}
std::uint32_t ExchangeFacts::piece_bytes() const noexcept {
  return box[along] * run_bytes();
}
std::uint32_t ExchangeFacts::piece_pitch() const noexcept {
  return static_cast<std::uint32_t>(line_step(piece_bytes(), 0));
}
std::uint32_t ExchangeFacts::image_bytes() const noexcept {
  return owned() * cluster * piece_bytes();
}
std::uint32_t ExchangeFacts::arrived_bytes() const noexcept {
  return (cluster - 1) * owned() * piece_bytes();
}
std::uint32_t ExchangeFacts::stage_bytes() const noexcept {
  return static_cast<std::uint32_t>(round_up(image_bytes() + box[across] * piece_pitch(), box_alignment));
}
std::uint32_t ExchangeFacts::shared_bytes() const noexcept {
  return stages * stage_bytes() + memory_alignment;
}

std::optional<Problem> in_runs(const Problem& problem) {
  const CanonicalNest& nest = problem.nest;
  if (problem.sources() != 1 || !problem.reads_bits() || nest.rank < 2) return std::nullopt;
  const std::uint32_t row = nest.rank - 1;
  if (nest.operand[0].strides[row] != 1) return std::nullopt;
  if (nest.operand[1].strides[row] == 1) {
    const std::uint64_t bytes = nest.shape[row] * problem.element_bytes(0);
    if (nest.rank < 3 || bytes < bulk_bytes || problem.alignment(1, row) < bulk_bytes) return std::nullopt;
    return in_units(problem, 1U << std::countr_zero(bytes | problem.alignment(0, row)));
  }
  // Elements that are runs themselves.
  if (problem.element_bytes(0) < bulk_bytes || nest.rank == max_view_rank) return std::nullopt;
  Problem runs = problem;
  runs.nest.shape[nest.rank] = 1;
  for (std::uint32_t i = 0; i < nest.operands; ++i) runs.nest.operand[i].strides[nest.rank] = 1;
  ++runs.nest.rank;
  return runs;
}

std::optional<ExchangeFacts> exchange_facts(const Problem& runs, std::uint32_t cluster,
                                            std::uint32_t tile_bytes) {
  const CanonicalNest& nest = runs.nest;
  ExchangeFacts facts{.unit_bytes = runs.element_bytes(0),
                      .rank = nest.rank,
                      .across = nest.rank - 2,
                      .along = 0,
                      .cluster = cluster,
                      .stages = usual_stages};
  facts.order = farthest_first(nest, 1, nest.rank, nest.rank - 1);
  facts.along = facts.order[nest.rank - 2];
  if (facts.along == facts.across) return std::nullopt;
  const std::uint64_t shorter = std::min(nest.shape[facts.along], nest.shape[facts.across]);
  if (cluster > std::bit_ceil(shorter)) return std::nullopt;
  std::ranges::fill_n(facts.box.begin(), facts.rank, 1U);
  facts.box[nest.rank - 1] = units_of_run(facts, nest.shape[nest.rank - 1]);
  choose_sides(facts, nest, std::uint64_t{cluster} * tile_bytes / facts.run_bytes());
  facts.wide_offsets = has_wide_offsets(runs, facts.box, 0) ? 1 : 0;
  if (facts.shared_bytes() > max_shared_bytes_per_cta || !exchange_map(facts, runs)) return std::nullopt;
  return facts;
}

std::optional<TensorMapSpec> exchange_map(const ExchangeFacts& facts, const Problem& runs) {
  if (facts.rank > max_map_rank) return std::nullopt;
  std::array<MapDimension, max_map_rank> dimensions{};
  for (std::uint32_t k = 0; k < facts.rank; ++k) {
    const std::uint32_t d = facts.order[k];
    const std::uint32_t in_unit = d + 1 == facts.rank ? facts.unit_bytes / facts.map_unit() : 1;
    const std::uint32_t box = d == facts.across  ? facts.owned()
                              : d == facts.along ? facts.box[d] * facts.cluster
                                                 : facts.box[d];
    dimensions[k] = {.extent = runs.nest.shape[d] * in_unit, .step = runs.step(1, d), .box = box * in_unit};
  }
  return plain_map(std::span(dimensions).first(facts.rank), facts.map_unit(), runs.address[1]);
}

TMAJIT_END
