#include "families/list.hpp"
#include "families/multicast/cluster_grid.hpp"
#include "families/multicast/multicast_layout.hpp"
#include "families/shared/chunks.hpp"
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

constexpr std::uint32_t warps = 8;  // that compute; one more loads
constexpr std::uint32_t threads = warp_lanes * (warps + 1);
constexpr std::uint32_t clusters[] = {2, 4, 8, 1};
constexpr std::uint64_t most_tiles = std::uint64_t{1} << 31;  // excluded: dividends of a params::Divider

constexpr std::string_view map_names[max_inputs] = {"source0", "source1", "source2", "source3",
                                                    "source4", "source5", "source6", "source7"};

/// Tiles of clusters: along one dimension each has as many indices as CTAs.
TileCounts cluster_tiles(const MulticastFacts& facts, const CanonicalNest& nest) {
  PerDimension box = facts.box;
  box[facts.along] = facts.cluster;
  return tile_counts(nest, box, facts.rank);
}

/// What a thread's words of the tile are numbered by.
std::vector<Digit> word_digits(const MulticastFacts& facts) {
  PerDimension words = facts.box;
  words[facts.rank - 1] /= facts.in_word;
  std::vector<Digit> digits = digits_of(in_order(), words, facts.rank);
  digits.front().scale = facts.in_word;
  return digits;
}

/// Where a part of a source's tile begins in dimension k of its map, in the map's elements.
std::string coordinate(const MulticastFacts& facts, const MulticastImage& image, std::uint32_t s,
                       std::uint32_t k) {
  const std::uint32_t d = image.dimension[k];
  const std::uint32_t size = size_of(facts.source_type(s));
  const std::uint32_t box = d + 1 == facts.rank ? facts.box[d] * size / facts.unit[s] : facts.box[d];
  const std::string first = fmt::format("tile.at[{}]{}", d, box > 1 ? fmt::format(" * {}", box) : "");
  if (image.parts[k] == 1) return fmt::format("static_cast<i32>({})", first);
  std::uint32_t inner = 1;  // parts that follow each other along the dimensions further in
  for (std::uint32_t j = k + 1; j < image.rank; ++j) inner *= image.parts[j];
  const std::string part = inner == 1 ? fmt::format("part % {}", image.parts[k])
                                      : fmt::format("part / {} % {}", inner, image.parts[k]);
  return fmt::format("static_cast<i32>({} + {} * {})", first, part, box / image.parts[k]);
}

/// What of a source's struct its loads and reads take.
std::string source_lines(const MulticastFacts& facts, const MulticastLayout& layout, std::uint32_t s) {
  const MulticastImage& image = layout.image[s];
  std::vector<std::string> coordinates;
  std::vector<std::string> places;
  for (std::uint32_t k = image.rank; k-- > 0;) {
    coordinates.push_back(coordinate(facts, image, s, k));
    if (facts.box[image.dimension[k]] > 1)
      places.push_back(fmt::format("index[{}] * {}", image.dimension[k], image.step[k]));
  }
  if (places.empty()) places.emplace_back("0");
  std::string out = "  static " + number_fact("image", image.offset, "bytes from where a stage begins");
  out += "  static " + number_fact("part_bytes", image.bytes / image.all_parts(), "that a load brings");
  const std::uint32_t ctas = facts.is_shared(s) ? facts.cluster : 1;
  out += "  static " + number_fact("loads", image.all_parts() / ctas, "of a CTA");
  out += "  static " + flag_fact("shared", ctas > 1, "by all CTAs of the cluster");
  out += fmt::format(
      "  // Where a part of a tile begins, innermost dimension first.\n"
      "  static __device__ __forceinline__ Coordinates<{}> box(const TileIndex<rank>& tile,\n"
      "                                                       [[maybe_unused]] u32 part) {{\n"
      "    return {{{{{}}}}};\n  }}\n"
      "  // Bytes to an element of the tile.\n"
      "  static __device__ __forceinline__ u32 place(const u32 (&index)[rank]) {{ return {}; }}\n",
      image.rank, fmt::join(coordinates, ",\n             "), fmt::join(places, " + "));
  return out;
}

class Multicast final : public Family {
 public:
  Multicast()
      : Family({.name = "multicast",
                .summary =
                    "moves, converts or computes where sources repeat along a dimension: the CTAs of a "
                    "cluster lie along it, and bring for each other what all of them need",
                .operations = {"copy", "map"},
                .operation = {},
                .computes = true,
                .most_inputs = max_inputs}) {}

  void add_candidates(const Problem& problem, std::vector<Candidate>& candidates) const override {
    const std::optional<std::uint32_t> along = multicast_dimension(problem);
    if (!along) return;
    const auto alone = multicast_facts(problem, *along);
    if (!alone) return;
    for (const std::uint32_t cluster : clusters) {
      const auto facts = in_clusters(*alone, problem, cluster);
      if (!facts || product(cluster_tiles(*facts, problem.nest), facts->rank) >= most_tiles) continue;
      // The model knows neither what L2 gives nor what waiting for other CTAs costs: only a measurement, or a
      // request, takes one.
      add_once(candidates, candidate(*facts, problem.nest), false);
    }
  }

  [[nodiscard]] Footprint footprint(const Candidate& candidate, const Problem& problem) const override {
    const auto facts = facts_of<MulticastFacts>(candidate);
    const std::uint64_t tiles = product(cluster_tiles(facts, candidate.nest), facts.rank);
    Footprint footprint{
        .box = facts.box,
        .threads = threads,
        .tiles = tiles * facts.cluster,
        .dynamic_shared_bytes = multicast_shared_bytes(facts),
        .static_shared_bytes = 2 * facts.stages * static_cast<std::uint32_t>(sizeof(std::uint64_t)),
        .registers = 40,
        .by_engine = true};
    for (std::uint32_t d = 0; d < facts.rank; ++d)
      footprint.box[d] = clamp_to(candidate.nest.shape[d], facts.box[d]);
    const std::uint32_t share = share_of_cluster(tiles, facts.cluster, footprint, problem.sm_count);
    footprint.stages = std::min(facts.stages, share);
    footprint.tiles_per_cta = static_cast<std::uint32_t>(ceil_div(share, footprint.stages));
    footprint.bytes_in_flight = std::uint64_t{footprint.stages} * multicast_layout(facts).asked_bytes;
    const auto elements = static_cast<double>(candidate.nest.elements());
    footprint.work.vector = elements / facts.in_word;
    if (facts.computes != 0) footprint.work.element = elements;
    return footprint;
  }

  [[nodiscard]] KernelChoice choice(const Candidate& candidate) const override {
    const auto facts = facts_of<MulticastFacts>(candidate);
    return {.family = name(),
            .tile = facts.box,
            .threads = threads,
            .stages = facts.stages,
            .cluster = facts.cluster};
  }
  [[nodiscard]] std::string describe(const KernelChoice& choice) const override {
    return fmt::format("{}, {} in flight, clusters of {}", tile_text(choice), choice.stages, choice.cluster);
  }
  [[nodiscard]] std::string why(const Candidate& candidate, const Problem& /*problem*/) const override {
    const auto facts = facts_of<MulticastFacts>(candidate);
    std::vector<std::uint32_t> shared;
    for (std::uint32_t s = 0; s < facts.sources; ++s) {
      if (facts.is_shared(s)) shared.push_back(s);
    }
    const std::string brings =
        facts.cluster == 1
            ? std::string("each CTA brings it by itself")
            : fmt::format("the {} CTAs of a cluster lie along it, and each brings a part for all",
                          facts.cluster);
    return fmt::format("Dimension {} of the canonical nest repeats source {}: {}.", facts.along,
                       fmt::join(shared, ", "), brings);
  }

  void bind(const Candidate& candidate, const Problem& problem, ParameterBlock& parameters,
            LaunchShape& shape) const override {
    const auto facts = facts_of<MulticastFacts>(candidate);
    for (std::uint32_t s = 0; s < facts.sources; ++s) {
      parameters.add_map(map_names[s], s + 1, multicast_map(facts, problem, s).value(),
                         problem.address[s + 1]);
    }
    const TileCounts tiles = cluster_tiles(facts, candidate.nest);
    const std::uint32_t share = share_of_cluster(product(tiles, facts.rank), facts.cluster,
                                                 footprint(candidate, problem), problem.sm_count);
    bind_cluster_grid(tiles, facts.rank, facts.cluster, share, parameters, shape);
    add_direct_view(parameters, problem, facts.rank);
  }

  [[nodiscard]] SourceParts source(const Candidate& candidate,
                                   std::string_view /*expression*/) const override {
    const auto facts = facts_of<MulticastFacts>(candidate);
    const MulticastLayout layout = multicast_layout(facts);
    SourceParts parts{
        .why =
            "The copy engine brings tiles into a ring of stages; what repeats comes from L2 once for a whole "
            "cluster. Threads compute and store, so that rows of the destination may begin anywhere.",
        .call = fmt::format("multicast_tiles(grid, destination, {})",
                            fmt::join(std::span(map_names).first(facts.sources), ", "))};
    parts.set("multicast", facts.cluster > 1);
    parts.set("computes", facts.computes != 0);
    for (std::uint32_t s = 0; s < facts.sources; ++s) parts.set(fmt::format("rank{}", layout.image[s].rank));
    parts.facts = number_fact("rank", facts.rank) + offset_fact(facts.wide_offsets);
    parts.facts += extent_fact("box", std::span(facts.box).first(facts.rank), "that a CTA stores of a tile");
    parts.facts += number_fact("warps", warps, "that compute");
    parts.facts += number_fact("cluster", facts.cluster, "CTAs");
    parts.facts += number_fact("along", facts.along, "the dimension that they lie along");
    parts.facts += number_fact("stages", facts.stages, "tiles that a CTA has in flight");
    parts.facts += number_fact("stage_bytes", layout.stage_bytes, "of shared memory");
    parts.facts += number_fact("load_bytes", layout.load_bytes, "that come into a stage");
    parts.facts += number_fact("in_word", facts.in_word, "elements that a thread does at a time");
    parts.facts += number_fact("alignment", facts.alignment, "of these in the destination, bytes");
    parts.facts += number_fact("words", elements_of(facts.box, facts.rank) / facts.in_word, "of a tile");
    parts.facts += "// The first element of word n of a tile.\n";
    parts.facts += index_function("word_index", word_digits(facts), facts.rank);
    if (facts.coordinates > 0) {
      parts.facts += coordinate_facts({.coordinates = facts.coordinates,
                                       .wide_coordinates = facts.wide_coordinates,
                                       .dimension_of = facts.dimension_of,
                                       .backwards = facts.backwards});
      parts.reads.g = true;
      parts.coordinates = facts.coordinates;
    }
    std::array<ElementType, max_inputs> from{};
    std::vector<std::string> lines;
    for (std::uint32_t s = 0; s < facts.sources; ++s) {
      from[s] = facts.source_type(s);
      lines.push_back(source_lines(facts, layout, s));
    }
    add_element_types(parts, facts.element_type(), std::span(from).first(facts.sources), facts.computes != 0,
                      lines);
    return parts;
  }
};

}  // namespace

const Family& multicast_family() {
  static const Multicast family;
  return family;
}

TMAJIT_END
