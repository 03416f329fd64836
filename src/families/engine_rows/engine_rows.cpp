#include "families/list.hpp"
#include "families/shared/blocks.hpp"
#include "families/shared/copy_engine_tiles.hpp"
#include "spec/limits.hpp"
#include "spec/saturate.hpp"

#include <algorithm>

#include <spdlog/fmt/fmt.h>

TMAJIT_BEGIN
namespace {

constexpr std::uint32_t chunk_bytes = 16;  // what a store writes at least
constexpr std::uint32_t word_bytes = 8;    // elements of the maps: the widest that the copy engine knows
constexpr std::uint32_t longest_part = max_box * 8;  // bytes

/// The kernel knows elements of 8 bytes only, whatever the tensors' are.
struct EngineRowsFacts {
  std::uint32_t rank = 1;
  std::uint32_t stages = 1;
  PerDimension box{};  ///< of the last dimension in elements of 8 bytes
};

struct Tuning {
  std::uint32_t tile_bytes;
  std::uint32_t stages;
};
constexpr Tuning tunings[] = {{16384, 4}, {32768, 2}, {16384, 2}, {8192, 4}, {4096, 2}};

/// A box of about so many bytes: as much of the row as fits, then of the dimensions before it.
EngineRowsFacts engine_rows_facts(const Problem& problem, const Tuning& tuning) {
  const CanonicalNest& nest = problem.nest;
  EngineRowsFacts facts{.rank = nest.rank, .stages = tuning.stages};
  const std::uint32_t row = nest.rank - 1;
  const std::uint64_t bytes =
      std::min<std::uint64_t>(sat_mul(nest.shape[row], problem.element_bytes(0)), tuning.tile_bytes);
  const std::uint64_t parts = ceil_div(bytes, longest_part);
  const std::uint64_t part = round_up(ceil_div(bytes, parts), chunk_bytes);
  facts.box[row] = static_cast<std::uint32_t>(parts * part / word_bytes);
  std::uint64_t left = std::max<std::uint64_t>(tuning.tile_bytes / (parts * part), 1);
  // Dimensions that share one in the map have single indices.
  std::uint32_t boxes = nest.rank > max_map_rank ? max_map_rank - 2 : max_map_rank - 1;
  for (std::uint32_t d = row; d-- > 0;) {
    const std::uint64_t most = std::min<std::uint64_t>(left, max_box);
    facts.box[d] = boxes > 0 ? static_cast<std::uint32_t>(std::min(nest.shape[d], most)) : 1U;
    if (facts.box[d] > 1) --boxes;
    left /= facts.box[d];
  }
  return facts;
}

EngineTile tile_of(const EngineRowsFacts& facts) {
  return {.rank = facts.rank,
          .inner = facts.rank - 1,
          .element_bytes = word_bytes,
          .map_element_bytes = word_bytes,
          .stages = facts.stages,
          .box = facts.box};
}

/// The problem with rows of elements of 8 bytes.
Problem in_words(const Problem& problem) {
  Problem words = problem;
  const std::uint32_t bytes = problem.element_bytes(0);
  CanonicalNest& nest = words.nest;
  const std::uint32_t row = nest.rank - 1;
  nest.shape[row] = nest.shape[row] * bytes / word_bytes;
  for (std::uint32_t i = 0; i < nest.operands; ++i) {
    words.type[i] = ElementType::u64;
    for (std::uint32_t d = 0; d < row; ++d) nest.operand[i].strides[d] = problem.step(i, d) / word_bytes;
  }
  words.joined = 1;
  return words;
}

class EngineRows final : public Family {
 public:
  EngineRows()
      : Family({.name = "engine_rows",
                .summary =
                    "moves boxes between two views that share their contiguous dimension, by the copy engine "
                    "alone",
                .operation = {}}) {}

  void add_candidates(const Problem& problem, std::vector<Candidate>& candidates) const override {
    if (layout_of(problem) != Layout::rows) return;
    const std::uint64_t row = sat_mul(problem.nest.shape[problem.nest.rank - 1], problem.element_bytes(0));
    if (row % chunk_bytes != 0) return;  // a store would write past its end
    const Problem words = in_words(problem);
    for (const Tuning& tuning : tunings) {
      const EngineRowsFacts facts = engine_rows_facts(problem, tuning);
      const EngineTile tile = tile_of(facts);
      if (!engine_map(tile, words, 0) || !engine_map(tile, words, 1)) continue;
      if (engine_layout(tile).bytes <= max_shared_bytes_per_cta) {
        add_once(candidates, candidate(facts, problem.nest));
      }
    }
  }

  [[nodiscard]] Footprint footprint(const Candidate& candidate, const Problem& problem) const override {
    const auto facts = facts_of<EngineRowsFacts>(candidate);
    const EngineTile tile = tile_of(facts);
    Footprint footprint{.box = facts.box,
                        .stages = facts.stages,
                        .dynamic_shared_bytes = engine_layout(tile).bytes,
                        .by_engine = true};
    footprint.bytes_in_flight = word_bytes * facts.stages * elements_of(facts.box, facts.rank);
    footprint.box[facts.rank - 1] *= word_bytes;
    footprint.box[facts.rank - 1] /= problem.element_bytes(0);
    return footprint;
  }

  [[nodiscard]] KernelChoice choice(const Candidate& candidate) const override {
    const auto facts = facts_of<EngineRowsFacts>(candidate);
    return {.family = name(), .tile = facts.box, .stages = facts.stages};
  }
  [[nodiscard]] std::string describe(const KernelChoice& choice) const override {
    return fmt::format("{} words of 8 bytes, {} in flight", tile_text(choice), choice.stages);
  }
  [[nodiscard]] std::string why(const Candidate& /*candidate*/, const Problem& /*problem*/) const override {
    return "Both views are contiguous in the last dimension and fit tensor maps: the copy engine loads and "
           "stores boxes.";
  }

  void bind(const Candidate& candidate, const Problem& problem, ParameterBlock& parameters,
            LaunchShape& shape) const override {
    const EngineTile tile = tile_of(facts_of<EngineRowsFacts>(candidate));
    const Problem words = in_words(problem);
    const auto source = engine_map(tile, words, 1);
    const auto destination = engine_map(tile, words, 0);
    parameters.add_map("source", 1, source.value().spec, problem.address[1]);
    parameters.add_map("destination", 0, destination.value().spec, problem.address[0]);
    bind_engine_grid(tile, words, source, destination, parameters, shape);
  }

  [[nodiscard]] SourceParts source(const Candidate& candidate,
                                   std::string_view /*expression*/) const override {
    const auto facts = facts_of<EngineRowsFacts>(candidate);
    const EngineTile tile = tile_of(facts);
    const EngineLayout layout = engine_layout(tile);
    SourceParts parts{
        .why =
            "The copy engine loads boxes and stores them again: no thread touches the data, and no fence "
            "is needed.",
        .map_rank = map_order(tile).rank(),
        .call = "engine_rows(source, destination, grid)"};
    parts.facts += number_fact("rank", facts.rank);
    parts.facts += number_fact("map_rank", parts.map_rank, "of the tensor maps");
    parts.facts += number_fact("stages", facts.stages, "tiles that a CTA has in flight");
    parts.facts += number_fact("parts", layout.parts, "boxes that lie side by side in a tile");
    parts.facts += number_fact("part", facts.box[facts.rank - 1] / layout.parts, "elements of 8 bytes");
    parts.facts += number_fact("part_bytes", layout.part_bytes);
    parts.facts += number_fact("load_bytes", layout.load_bytes, "of a tile");
    parts.facts += "// Where the boxes of a tile begin, innermost dimension first.\n";
    parts.facts += box_function("source", tile);
    parts.facts += box_function("destination", tile);
    return parts;
  }
};

}  // namespace

const Family& engine_rows_family() {
  static const EngineRows family;
  return family;
}

TMAJIT_END
