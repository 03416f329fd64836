#include "families/list.hpp"
#include "families/shared/blocks.hpp"
#include "families/shared/copy_engine_tiles.hpp"
#include "spec/limits.hpp"

#include <algorithm>

#include <spdlog/fmt/fmt.h>

TMAJIT_BEGIN
namespace {

constexpr std::uint32_t chunk_bytes = 16;
constexpr std::uint32_t panel_bytes = 128;
constexpr std::uint32_t most_threads = 256;
constexpr std::uint32_t widest_element = 8;  // of a tensor map, bytes

struct EngineTransposeFacts {
  BlockFacts blocks;  ///< first, which makes them facts of a BlockFamily
  std::uint32_t stages = 1;
};

struct Tuning {
  std::uint32_t destination_run;  // bytes of a tile
  std::uint32_t source_run;
  std::uint32_t stages;
};
constexpr Tuning tunings[] = {{256, 256, 1}, {256, 128, 1}, {256, 128, 2},
                              {512, 128, 1}, {128, 256, 1}, {128, 128, 2}};

EngineTile tile_of(const EngineTransposeFacts& facts) {
  const BlockFacts& blocks = facts.blocks;
  return {.rank = blocks.rank,
          .inner = blocks.column,
          .element_bytes = blocks.element_bytes,
          .map_element_bytes = std::min(blocks.element_bytes, widest_element),
          .stages = facts.stages,
          .panels = true,
          .box = blocks.box};
}

/// Lines lie in the order of the map: along the row, then along the dimensions before it.
std::string line_function(const EngineTile& tile) {
  const MapOrder order = map_order(tile);
  std::string sum;
  std::uint32_t step = 1;
  for (std::uint32_t k = order.count - 1; k-- > 0;) {
    const std::uint32_t d = order.dimension[k];
    if (tile.box[d] > 1) {
      sum += sum.empty() ? "" : " + ";
      sum += step == 1 ? fmt::format("index[{}]", d) : fmt::format("index[{}] * {}", d, step);
    }
    step *= tile.box[d];
  }
  return fmt::format(
      "// Its first line in a panel.\n"
      "__device__ __forceinline__ u32 block_line(const u32 (&index)[rank]) {{\n  return {};\n}}\n",
      sum.empty() ? "0" : sum);
}

class EngineTranspose final : public BlockFamily {
 public:
  EngineTranspose()
      : BlockFamily({.name = "engine_transpose",
                     .summary =
                         "moves boxes between two views whose contiguous dimensions differ: the copy engine "
                         "loads, threads transpose and store",
                     .operations = {"copy"},
                     .operation = {}}) {}

  void add_candidates(const Problem& problem, std::vector<Candidate>& candidates) const override {
    if (layout_of(problem) != Layout::blocks) return;
    const BlockPlanner planner(problem);
    for (const Tuning& tuning : tunings) {
      EngineTransposeFacts facts{.blocks = planner.facts({.destination_run = tuning.destination_run,
                                                          .source_run = tuning.source_run}),
                                 .stages = tuning.stages};
      BlockFacts& blocks = facts.blocks;
      const std::uint32_t vector = chunk_bytes / blocks.element_bytes;
      if (blocks.staggered != 0 || blocks.alignment < chunk_bytes ||
          problem.nest.shape[blocks.rank - 1] % vector != 0) {
        return;  // the other tunings fare no better
      }
      const std::uint32_t line = blocks.box[blocks.column] * blocks.element_bytes;
      if (line > panel_bytes && line % panel_bytes != 0) continue;
      blocks.whole = 0;
      blocks.interleaved = 0;  // the engine loads whole elements of the source alone
      blocks.threads = std::min(blocks.threads, most_threads);
      const EngineTile tile = tile_of(facts);
      if (engine_map(tile, problem, 1) && engine_layout(tile).bytes <= max_shared_bytes_per_cta) {
        add_once(candidates, candidate(facts, problem.nest), !is_small(problem));
      }
    }
  }

  [[nodiscard]] Footprint footprint(const Candidate& candidate, const Problem& problem) const override {
    const auto facts = facts_of<EngineTransposeFacts>(candidate);
    Footprint footprint = block_footprint(facts.blocks, problem, true);
    footprint.stages = facts.stages;
    footprint.dynamic_shared_bytes = engine_layout(tile_of(facts)).bytes;
    footprint.bytes_in_flight *= facts.stages;
    return footprint;
  }

  [[nodiscard]] KernelChoice choice(const Candidate& candidate) const override {
    KernelChoice choice = BlockFamily::choice(candidate);
    choice.stages = facts_of<EngineTransposeFacts>(candidate).stages;
    return choice;
  }

  [[nodiscard]] std::string why(const Candidate& candidate, const Problem& /*problem*/) const override {
    const auto facts = facts_of<EngineTransposeFacts>(candidate);
    return fmt::format(
        "The source is contiguous in dimension {}, the destination in dimension {}: the copy engine loads "
        "swizzled "
        "boxes, threads transpose blocks in registers and store them.",
        facts.blocks.column, facts.blocks.rank - 1);
  }

  void bind(const Candidate& candidate, const Problem& problem, ParameterBlock& parameters,
            LaunchShape& shape) const override {
    const auto facts = facts_of<EngineTransposeFacts>(candidate);
    const EngineTile tile = tile_of(facts);
    const auto source = engine_map(tile, problem, 1);
    parameters.add_map("source", 1, source.value().spec, problem.address[1]);
    bind_engine_grid(tile, problem, source, std::nullopt, parameters, shape);
    add_direct_view(parameters, problem, tile.rank);
  }

  [[nodiscard]] SourceParts source(const Candidate& candidate,
                                   std::string_view /*expression*/) const override {
    const auto facts = facts_of<EngineTransposeFacts>(candidate);
    const EngineTile tile = tile_of(facts);
    const EngineLayout layout = engine_layout(tile);
    SourceParts parts{
        .why =
            "The copy engine loads boxes with the 128-byte swizzle, so that threads can read columns of "
            "them without bank conflicts; it cannot transpose, so threads store.",
        .map_rank = map_order(tile).rank(),
        .element_bytes = facts.blocks.element_bytes,
        .call = "engine_transpose(source, grid, destination)"};
    parts.facts = block_fact_text(facts.blocks);
    parts.facts += number_fact("map_rank", parts.map_rank, "of the tensor maps");
    parts.facts += number_fact("stages", facts.stages, "tiles that a CTA has in flight");
    parts.facts += number_fact("panels", layout.parts, "of a tile, 128 bytes of each line");
    parts.facts += number_fact("panel_columns", panel_bytes / tile.map_element_bytes);
    parts.facts += number_fact("panel_bytes", layout.part_bytes);
    parts.facts += number_fact("load_bytes", layout.load_bytes, "of a tile");
    parts.facts += "// Where the boxes of a tile begin, innermost dimension first.\n";
    parts.facts += box_function("source", tile);
    parts.facts += block_function(facts.blocks, std::min(facts.blocks.vector, 8U));
    parts.facts += line_function(tile);
    return parts;
  }
};

}  // namespace

const Family& engine_transpose_family() {
  static const EngineTranspose family;
  return family;
}

TMAJIT_END
