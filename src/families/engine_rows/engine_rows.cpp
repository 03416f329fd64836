#include "families/list.hpp"
#include "families/shared/blocks.hpp"
#include "families/shared/copy_engine_tiles.hpp"
#include "spec/limits.hpp"
#include "spec/saturate.hpp"

#include <tmajit/bank_conflicts.hpp>
#include <tmajit/engine_grid.cuh>

#include <algorithm>
#include <array>

#include <spdlog/fmt/fmt.h>

TMAJIT_BEGIN
namespace {

constexpr std::uint32_t store_bytes = 16;    // the copy engine stores rows in multiples of this
constexpr std::uint32_t map_word_bytes = 8;  // elements of the maps: the widest that the copy engine supports
constexpr std::uint32_t max_ring_bytes = 80 * 1024;  // a little more than the tunings need
constexpr std::uint32_t longest_part = max_box * 8;  // bytes of a row that one box can hold

/// The kernel moves words of 8 bytes, whatever the tensors' element type. Tiles and boxes are counted in
/// words, and may have any size.
struct EngineRowsFacts {
  std::uint32_t rank = 1;
  std::uint32_t stages = 1;
  std::uint32_t own_dimensions = 0;  ///< bit d: dimension d has a dimension of the maps to itself
  Flag parts = 0;                    ///< a row takes more than one box
};

struct EngineRowsChoice {
  PerDimension words{};  ///< words of 8 bytes of a tile
  std::uint32_t stages = 1;
  static constexpr auto members() {
    return std::array{choice_box("words", &EngineRowsChoice::words),
                      choice_number("stages", &EngineRowsChoice::stages)};
  }
  [[nodiscard]] std::string text() const {
    return fmt::format("{} words of 8 bytes, {} in flight", box_text(words), stages);
  }
};
using EngineRowsBase = TypedFamily<EngineRowsFacts, EngineRowsChoice>;

struct Tuning {
  std::uint32_t tile_bytes;
  std::uint32_t stages;
};
constexpr Tuning engine_rows_tunings[] = {{16384, 4}, {32768, 2}, {16384, 2}, {8192, 4}, {4096, 2}};

constexpr std::uint32_t default_stages = 2;  // more are faster only for some measured moves

/// A box of about the tuning's bytes: as much of the row as fits, then of the dimensions before it.
PerDimension engine_rows_box(const Problem& problem, const Tuning& tuning) {
  const CanonicalNest& nest = problem.nest;
  PerDimension box{};
  const std::uint32_t row = nest.rank - 1;
  const std::uint64_t bytes =
      std::min<std::uint64_t>(sat_mul(nest.shape[row], problem.element_bytes(0)), tuning.tile_bytes);
  const std::uint64_t parts = ceil_div(bytes, longest_part);
  const std::uint64_t part = round_up(ceil_div(bytes, parts), store_bytes);
  box[row] = static_cast<std::uint32_t>(parts * part / map_word_bytes);
  std::uint64_t remaining = std::max<std::uint64_t>(tuning.tile_bytes / (parts * part), 1);
  // Dimensions before the row in which the tile may have several indices. If a map has too few dimensions for
  // the nest, some of the nest's share one, and the tile has a single index in each of these.
  std::uint32_t free_dimensions = nest.rank > max_map_rank ? max_map_rank - 2 : max_map_rank - 1;
  for (std::uint32_t d = row; d-- > 0;) {
    const std::uint64_t most = std::min<std::uint64_t>(remaining, max_box);
    box[d] = free_dimensions > 0 ? static_cast<std::uint32_t>(std::min(nest.shape[d], most)) : 1U;
    if (box[d] > 1) --free_dimensions;
    remaining /= box[d];
  }
  return box;
}

EngineTile tile_of(std::uint32_t rank, std::uint32_t stages, const PerDimension& box) {
  return {.rank = rank,
          .inner = rank - 1,
          .element_bytes = map_word_bytes,
          .map_element_bytes = map_word_bytes,
          .stages = stages,
          .box = box};
}
EngineTile tile_of(const Candidate& candidate) {
  const auto& [words, stages] = EngineRowsBase::data(candidate).choice;
  return tile_of(facts_of<EngineRowsFacts>(candidate).rank, stages, words);
}

class EngineRows final : public EngineRowsBase {
 public:
  EngineRows()
      : TypedFamily(
            {.name = "engine_rows",
             .summary =
                 "moves boxes between two views that share their contiguous dimension, by the copy engine "
                 "alone",
             .operations = {"copy"}}) {}

  void add_candidates(const Problem& problem, std::vector<Candidate>& candidates) const override {
    if (layout_of(problem) != Layout::rows) return;
    const std::uint64_t row = sat_mul(problem.nest.shape[problem.nest.rank - 1], problem.element_bytes(0));
    if (row % store_bytes != 0) return;  // a store would write past its end
    const Problem words = in_units(problem, map_word_bytes);
    for (const Tuning& tuning : engine_rows_tunings) {
      const EngineTile tile = tile_of(problem.nest.rank, tuning.stages, engine_rows_box(problem, tuning));
      if (!engine_map(tile, words, 0) || !engine_map(tile, words, 1)) continue;
      if (engine_layout(tile).bytes > max_ring_bytes) continue;
      EngineRowsFacts facts{.rank = tile.rank, .stages = tile.stages};
      facts.parts = engine_layout(tile).parts > 1 ? 1 : 0;
      const MapOrder order = map_order(tile);
      for (std::uint32_t d = 0; d < tile.rank; ++d) facts.own_dimensions |= order.has(d) ? 1U << d : 0U;
      add_once(candidates, candidate(facts, {.words = tile.box, .stages = tile.stages}, problem.nest),
               !is_small(problem) && tuning.stages == default_stages);
    }
  }

  [[nodiscard]] Footprint footprint(const Candidate& candidate, const Problem& problem) const override {
    const EngineTile tile = tile_of(candidate);
    Footprint footprint{.box = tile.box,
                        .stages = tile.stages,
                        .dynamic_shared_bytes = engine_layout(tile).bytes,
                        .max_dynamic_shared_bytes = max_ring_bytes,
                        .by_engine = true,
                        .stored_by_engine = true};
    footprint.bytes_in_flight =
        std::uint64_t{map_word_bytes} * tile.stages * elements_of(tile.box, tile.rank);
    footprint.box[tile.rank - 1] *= map_word_bytes;
    footprint.box[tile.rank - 1] /= problem.element_bytes(0);
    return footprint;
  }

  [[nodiscard]] std::string why(const Candidate& /*candidate*/, const Problem& /*problem*/) const override {
    return "Both views are contiguous in the last dimension and fit tensor maps: the copy engine loads and "
           "stores boxes.";
  }

  void bind(const Candidate& candidate, const Problem& problem, ParameterBlock& parameters,
            LaunchShape& shape) const override {
    const EngineTile tile = tile_of(candidate);
    const Problem words = in_units(problem, map_word_bytes);
    const auto source = engine_map(tile, words, 1);
    const auto destination = engine_map(tile, words, 0);
    parameters.add_map("destination", 0, destination.value().spec, problem.address[0]);
    parameters.add_map("source", 1, source.value().spec, problem.address[1]);
    bind_engine_grid(tile, words, source, destination, parameters, shape);
    const EngineLayout layout = engine_layout(tile);
    parameters.add(
        {"params::EngineBox"}, "box",
        params::EngineBox{.parts = layout.parts,
                          .part = static_cast<std::int32_t>(tile.box[tile.rank - 1] / layout.parts),
                          .part_bytes = layout.part_bytes,
                          .load_bytes = layout.load_bytes});
  }

  [[nodiscard]] SourceParts source(const Candidate& candidate,
                                   std::string_view /*expression*/) const override {
    const auto facts = facts_of<EngineRowsFacts>(candidate);
    const EngineTile tile = tile_of(candidate);
    SourceParts parts{
        .why =
            "The copy engine loads boxes and stores them again: no thread touches the data, and no fence "
            "is needed.",
        .map_rank = map_order(tile).rank(),
        .max_threads = warp_lanes,
        .call = "engine_rows(destination, source, grid, box)"};
    parts.facts += number_fact("rank", facts.rank);
    parts.facts += number_fact("map_rank", parts.map_rank, "of the tensor maps");
    parts.facts += number_fact("stages", facts.stages, "tiles that a CTA has in flight");
    parts.facts += flag_fact("in_parts", facts.parts != 0, "a tile is more than one box");
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
