#include "families/exchange/exchange_layout.hpp"
#include "families/list.hpp"
#include "families/shared/cluster_grid.hpp"
#include "spec/saturate.hpp"

#include <tmajit/bank_conflicts.hpp>

#include <algorithm>
#include <span>
#include <string>
#include <vector>

#include <spdlog/fmt/fmt.h>
#include <spdlog/fmt/ranges.h>

TMAJIT_BEGIN
namespace {

constexpr std::uint32_t warps = 8;  // that store; one more sends, one loads
constexpr std::uint32_t threads = warp_lanes * (warps + 2);
constexpr std::uint32_t clusters[] = {2, 4, 8};
constexpr std::uint32_t tile_bytes = 16384;                   // that a CTA loads
constexpr std::uint64_t most_tiles = std::uint64_t{1} << 31;  // excluded: dividends of a params::Divider

/// Tiles of clusters.
TileCounts cluster_tiles(const ExchangeFacts& facts, const CanonicalNest& nest) {
  PerDimension box = facts.box;
  box[facts.along] *= facts.cluster;
  return tile_counts(nest, box, facts.rank);
}

/// Where the part that a CTA loads begins, innermost dimension first, in elements of the map.
std::string source_box(const ExchangeFacts& facts) {
  std::vector<std::string> coordinates;
  for (std::uint32_t k = facts.rank; k-- > 0;) {
    const std::uint32_t d = facts.order[k];
    std::uint32_t box = facts.box[d];
    if (d + 1 == facts.rank) box = facts.run_bytes() / facts.map_unit();
    if (d == facts.along) box *= facts.cluster;
    const std::string own = d == facts.across ? fmt::format(" + cta * {}", facts.owned()) : std::string();
    coordinates.push_back(fmt::format("static_cast<i32>(tile.at[{}] * {}{})", d, box, own));
  }
  return fmt::format(
      "// Where what CTA `cta` of the cluster loads begins, innermost dimension first.\n"
      "__device__ __forceinline__ Coordinates<rank> source_box(const TileIndex<rank>& tile, u32 cta) {{\n"
      "  return {{{{{}}}}};\n}}\n",
      fmt::join(coordinates, ",\n           "));
}

class Exchange final : public Family {
 public:
  Exchange()
      : Family({.name = "exchange",
                .summary = "moves runs of 16 bytes and more whose neighbours differ: the CTAs of a cluster "
                           "load and store long pieces, and exchange their parts through shared memory",
                .operation = {}}) {}

  void add_candidates(const Problem& problem, std::vector<Candidate>& candidates) const override {
    const std::optional<Problem> runs = in_runs(problem);
    if (!runs) return;
    for (const std::uint32_t cluster : clusters) {
      const auto facts = exchange_facts(*runs, cluster, tile_bytes);
      if (!facts || product(cluster_tiles(*facts, runs->nest), facts->rank) >= most_tiles) continue;
      // The model does not know what sending and waiting for other CTAs costs: only a measurement, or a
      // request, takes one.
      add_once(candidates, candidate(*facts, problem.nest), false);
    }
  }

  [[nodiscard]] Footprint footprint(const Candidate& candidate, const Problem& problem) const override {
    const auto facts = facts_of<ExchangeFacts>(candidate);
    const Problem runs = in_runs(problem).value();
    const std::uint64_t tiles = product(cluster_tiles(facts, runs.nest), facts.rank);
    Footprint footprint{
        .threads = threads,
        .tiles = tiles * facts.cluster,
        .dynamic_shared_bytes = facts.shared_bytes(),
        .static_shared_bytes = 3 * facts.stages * static_cast<std::uint32_t>(sizeof(std::uint64_t)),
        .registers = 48,
        .by_engine = true};
    const std::uint32_t share = share_of_cluster(tiles, facts.cluster, footprint, problem.sm_count);
    footprint.stages = std::min(facts.stages, share);
    footprint.tiles_per_cta = static_cast<std::uint32_t>(ceil_div(share, footprint.stages));
    footprint.bytes_in_flight = std::uint64_t{footprint.stages} * facts.image_bytes();
    // Pieces of memory are as long as the cluster's tile.
    PerDimension box = facts.box;
    box[facts.along] *= facts.cluster;
    box[facts.rank - 1] = facts.run_bytes() / problem.element_bytes(0);
    for (std::uint32_t d = 0; d < candidate.nest.rank; ++d)
      footprint.box[d] = clamp_to(candidate.nest.shape[d], box[d]);
    footprint.work.vector = static_cast<double>(runs.nest.elements());
    return footprint;
  }

  [[nodiscard]] KernelChoice choice(const Candidate& candidate) const override {
    const auto facts = facts_of<ExchangeFacts>(candidate);
    return {.family = name(),
            .tile = facts.box,
            .threads = threads,
            .vector_bytes = facts.unit_bytes,
            .stages = facts.stages,
            .cluster = facts.cluster};
  }
  [[nodiscard]] std::string describe(const KernelChoice& choice) const override {
    return fmt::format("{} by {} bytes, {} in flight, clusters of {}", tile_text(choice), choice.vector_bytes,
                       choice.stages, choice.cluster);
  }
  [[nodiscard]] std::string why(const Candidate& candidate, const Problem& /*problem*/) const override {
    const auto facts = facts_of<ExchangeFacts>(candidate);
    return fmt::format(
        "Beside runs of {} bytes lies dimension {} of the canonical nest in the source, {} in the "
        "destination: the "
        "{} CTAs of a cluster load along the one, exchange, and store along the other.",
        facts.run_bytes(), facts.along, facts.across, facts.cluster);
  }

  void bind(const Candidate& candidate, const Problem& problem, ParameterBlock& parameters,
            LaunchShape& shape) const override {
    const auto facts = facts_of<ExchangeFacts>(candidate);
    const Problem runs = in_runs(problem).value();
    parameters.add_map("source", 1, exchange_map(facts, runs).value(), runs.address[1]);
    const TileCounts tiles = cluster_tiles(facts, runs.nest);
    const std::uint32_t share = share_of_cluster(product(tiles, facts.rank), facts.cluster,
                                                 footprint(candidate, problem), problem.sm_count);
    bind_cluster_grid(tiles, facts.rank, facts.cluster, share, parameters, shape);
    add_direct_view(parameters, runs, facts.rank);
  }

  [[nodiscard]] SourceParts source(const Candidate& candidate,
                                   std::string_view /*expression*/) const override {
    const auto facts = facts_of<ExchangeFacts>(candidate);
    SourceParts parts{.why =
                          "A cluster's tile is as large as the shared memory of several SMs lets it be, so "
                          "that both sides' pieces "
                          "are long. The copy engine loads and sends; threads store, so that rows of the "
                          "destination may begin "
                          "anywhere.",
                      .map_rank = facts.rank,
                      .element_bytes = facts.unit_bytes,
                      .call = "exchange_tiles(grid, destination, source)"};
    parts.facts = number_fact("rank", facts.rank) + offset_fact(facts.wide_offsets);
    parts.facts += extent_fact("box", std::span(facts.box).first(facts.rank), "that a CTA stores of a tile");
    parts.facts += number_fact("warps", warps, "that store");
    parts.facts += number_fact("cluster", facts.cluster, "CTAs");
    parts.facts += number_fact("across", facts.across, "the dimension beside a run in the destination");
    parts.facts += number_fact("along", facts.along, "and in the source");
    parts.facts += number_fact("stages", facts.stages, "tiles that a CTA has in flight");
    parts.facts += number_fact("stage_bytes", facts.stage_bytes(), "of shared memory");
    parts.facts += number_fact("owned", facts.owned(), "indices of `across` that a CTA loads");
    parts.facts += number_fact("run_bytes", facts.run_bytes(), "of a run in a tile");
    parts.facts += number_fact("piece_bytes", facts.piece_bytes(), "that go from one of these to one CTA");
    parts.facts += number_fact("piece_pitch", facts.piece_pitch(), "from piece to piece where they arrive");
    parts.facts +=
        number_fact("image_bytes", facts.image_bytes(), "that a CTA loads; behind it pieces arrive");
    parts.facts += number_fact("arrived_bytes", facts.arrived_bytes(), "from all others");
    parts.facts += number_fact("unit_bytes", facts.unit_bytes, "that a thread stores at a time");
    parts.facts += number_fact("units", elements_of(facts.box, facts.rank), "that a CTA stores of a tile");
    parts.facts += "// Unit n of them, in the order of the destination.\n";
    parts.facts += index_function("unit_index", digits_of(in_order(), facts.box, facts.rank), facts.rank);
    parts.facts += source_box(facts);
    return parts;
  }
};

}  // namespace

const Family& exchange_family() {
  static const Exchange family;
  return family;
}

TMAJIT_END
