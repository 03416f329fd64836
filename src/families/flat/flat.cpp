#include "families/flat/flat_layout.hpp"
#include "families/list.hpp"
#include "families/shared/chunks.hpp"

#include <tmajit/bank_conflicts.hpp>
#include <tmajit/flat_tile.cuh>

#include <algorithm>
#include <array>
#include <cstddef>

#include <spdlog/fmt/fmt.h>

TMAJIT_BEGIN
namespace {

constexpr FlatTuning flat_tunings[] = {
    {.x_bytes = 256, .y_bytes = 256, .threads = 256, .word_bytes = 8},
    {.x_bytes = 128, .y_bytes = 128, .threads = 256},
    {.x_bytes = 512, .y_bytes = 128, .threads = 256, .word_bytes = 8, .order = TileOrder::source},
    {.x_bytes = 128, .y_bytes = 128, .threads = 128},
    {.x_bytes = 256, .y_bytes = 64, .threads = 256, .order = TileOrder::source},
    {.x_bytes = 256, .y_bytes = 128, .threads = 256},
    {.way = FlatWay::longer_runs, .x_bytes = 128, .y_bytes = 128, .threads = 128},
    {.way = FlatWay::longer_runs, .x_bytes = 256, .y_bytes = 256, .threads = 256},
    {.way = FlatWay::longer_runs, .x_bytes = 256, .y_bytes = 64, .threads = 256},
    {.way = FlatWay::one_run, .x_bytes = 128, .y_bytes = 128, .threads = 128},
    {.way = FlatWay::one_run, .x_bytes = 256, .y_bytes = 256, .threads = 256},
    {.way = FlatWay::joined, .x_bytes = 128, .y_bytes = 128, .threads = 256, .word_bytes = 8},
    {.way = FlatWay::joined, .x_bytes = 64, .y_bytes = 64, .threads = 128},
};

/// The facts that a `flat` kernel is specialised for (FlatLayout describes them). In kernels that move bits
/// unchanged, each type is the unsigned integer of its size.
struct FlatFacts {
  std::uint32_t type = 0;  ///< type of the destination, an ElementType
  std::uint32_t threads = 256;
  std::uint32_t in_word = 1;
  std::uint32_t group = 1;
  std::uint32_t loads = 1;
  std::uint32_t stores = 1;
  Flag joined = 0;
  Flag staggered = 0;
  Flag wide_offsets = 0;
  Flag computes = 0;
  Flag padded = 0;
  std::uint32_t sources = 1;
  std::array<std::uint32_t, max_inputs> source{};
  std::array<std::uint32_t, max_inputs> along{};

  [[nodiscard]] ElementType element_type() const noexcept { return static_cast<ElementType>(type); }
};

FlatFacts facts_of_layout(const FlatLayout& layout, const Problem& problem) {
  FlatFacts facts{.type = static_cast<std::uint32_t>(type_in_chunks(problem, 0)),
                  .threads = layout.threads,
                  .in_word = layout.in_word,
                  .group = layout.group,
                  .loads = layout.loads,
                  .stores = layout.stores,
                  .joined = layout.joined ? 1U : 0U,
                  .staggered = layout.staggered ? 1U : 0U,
                  .wide_offsets = layout.wide_offsets ? 1U : 0U,
                  .computes = problem.expression().empty() ? 0U : 1U,
                  .padded = problem.nest.windowed ? 1U : 0U,
                  .sources = layout.sources};
  for (std::uint32_t s = 0; s < layout.sources; ++s) {
    // Padding has the destination's type.
    facts.source[s] =
        facts.padded != 0 ? facts.type : static_cast<std::uint32_t>(type_in_chunks(problem, s + 1));
    facts.along[s] = layout.source[s].along;
  }
  return facts;
}

/// Shared-memory wavefronts in which a warp writes one load of each thread to the image of a joined tile.
/// The image's rows have no padding, so bank conflicts are possible.
double joined_wavefronts(const FlatLayout& layout) {
  const FlatSource& source = layout.source[0];
  const std::uint32_t lanes = std::max(layout.y / source.along, 1U);
  WarpAccess access{.width = layout.element_bytes, .lanes = warp_lanes};
  for (std::uint32_t lane = 0; lane < warp_lanes; ++lane) {
    const std::uint32_t row = lane / source.x_lanes;
    const std::uint32_t y = row % lanes * source.along;
    const std::uint32_t x = (row / lanes * source.x_lanes + lane % source.x_lanes) * layout.group;
    access.offsets[lane] = (y * static_cast<std::uint32_t>(layout.x_extent) + x) * layout.element_bytes;
  }
  return source.along * wavefronts(access).needed;
}

struct FlatChoice {
  PerDimension tile{};
  std::uint32_t threads = 0;
  std::uint32_t word_bytes = 0;  ///< bytes of a store
  std::uint32_t order = 0;       ///< a TileOrder
  std::uint32_t joined = 0;      ///< 1: words may have elements of two rows
  static constexpr auto members() {
    return std::array{choice_box("tile", &FlatChoice::tile), choice_number("threads", &FlatChoice::threads),
                      choice_number("word_bytes", &FlatChoice::word_bytes),
                      choice_number("order", &FlatChoice::order, max_tile_order),
                      choice_number("joined", &FlatChoice::joined, 1)};
  }
  [[nodiscard]] std::string text() const {
    return BlockChoice{tile, threads, word_bytes, order}.text() + (joined != 0 ? ", joined rows" : "");
  }
};
using FlatBase = TypedFamily<FlatFacts, FlatChoice, FlatLayout>;

template <std::uint32_t sources>
params::FlatTile<sources> tile_of(const FlatLayout& layout, const Problem& problem) {
  const auto divider = [](std::uint64_t n) { return make_divider<params::Divider>(n); };
  params::FlatTile<sources> tile{};
  for (std::uint32_t k = 0; k < params::max_digits; ++k) {
    const bool exists = k < layout.rank;
    const std::uint32_t d = layout.dimension[k];
    const std::uint64_t extent = exists ? problem.nest.shape[d] : 1;
    const auto index = [&](std::int64_t i) {
      return static_cast<std::uint32_t>(std::clamp<std::int64_t>(i, 0, static_cast<std::int64_t>(extent)));
    };
    const bool windowed = exists && problem.nest.windowed;
    tile.digit[k].extent = divider(extent);
    tile.digit[k].first = windowed ? index(problem.nest.window_first[d]) : 0;
    tile.digit[k].end = windowed ? index(problem.nest.window_end[d]) : static_cast<std::uint32_t>(extent);
    tile.digit[k].destination = exists ? problem.nest.operand[0].strides[d] : 0;
    for (std::uint32_t s = 0; s < sources; ++s)
      tile.digit[k].source[s] = exists ? problem.nest.operand[s + 1].strides[d] : 0;
  }
  set_address(tile.destination, problem.address[0]);
  for (std::uint32_t s = 0; s < sources; ++s) {
    const FlatSource& source = layout.source[s];
    const std::uint32_t lanes = source.along > 0 ? layout.y / source.along : 1;
    set_address(tile.source[s].first, problem.address[s + 1]);
    tile.source[s].image = source.image;
    tile.source[s].pitch = source.pitch;
    tile.source[s].lanes = divider(lanes);
    tile.source[s].x_lanes = divider(source.x_lanes);
    tile.source[s].groups = layout.threads / lanes / source.x_lanes * source.x_lanes;
  }
  tile.padding = problem.padding();
  tile.x_digits = layout.x_dimensions;
  tile.digits = layout.rank;
  tile.x_extent = static_cast<std::uint32_t>(layout.x_extent);
  tile.y_extent = static_cast<std::uint32_t>(layout.y_extent);
  tile.x = layout.x;
  tile.y = layout.y;
  tile.tables = layout.tables;
  tile.words = layout.words();
  tile.word_lanes = divider(layout.word_lanes());
  tile.word_rows = layout.threads / layout.word_lanes();
  tile.y_first = divider(layout.y_group());
  tile.x_tiles = divider(layout.x_tiles());
  return tile;
}

class Flat final : public FlatBase {
 public:
  Flat()
      : TypedFamily({.name = "flat",
                     .summary =
                         "moves, pads, converts or computes tiles of two flat index spaces, each of any "
                         "number of dimensions, so that short and odd extents leave no part of a tile unused",
                     .operations = {"copy", "pad", "map"},
                     .computes = true,
                     .max_inputs = max_inputs}) {}

  void add_candidates(const Problem& problem, std::vector<Candidate>& candidates) const override {
    const FlatPlanner planner(problem);
    if (!planner.supports_problem()) return;
    const bool small = is_small(problem) && (layout_of(problem) != Layout::any || is_tiny(problem));
    const bool computes = !problem.expression().empty();
    for (const FlatTuning& tuning : flat_tunings) {
      const auto layout = planner.layout(tuning);
      if (!layout) continue;
      const FlatChoice choice{.tile = layout->box(problem.nest),
                              .threads = layout->threads,
                              .word_bytes = layout->in_word * layout->element_bytes,
                              .order = static_cast<std::uint32_t>(layout->order),
                              .joined = layout->joined ? 1U : 0U};
      add_once(candidates, candidate(facts_of_layout(*layout, problem), choice, problem.nest, *layout),
               !small && (computes || !repeats_row(problem)));
    }
  }

  [[nodiscard]] Footprint footprint(const Candidate& candidate, const Problem& problem) const override {
    const FlatLayout& layout = flat_layout_of(candidate);
    const auto tiles = static_cast<double>(layout.x_tiles() * layout.y_tiles());
    const std::uint64_t words = std::uint64_t{layout.words()} * layout.y;
    const std::uint64_t turns =
        layout.joined ? 1 : ceil_div(layout.words(), std::uint64_t{layout.word_lanes()});
    const std::uint64_t rows = layout.threads / layout.word_lanes();
    const std::uint64_t passes = layout.joined
                                     ? ceil_div(words, std::uint64_t{layout.threads} * layout.stores)
                                     : turns * ceil_div(layout.y, rows * layout.stores);
    Footprint footprint{.box = data(candidate).choice.tile,
                        .threads = layout.threads,
                        .tiles = layout.x_tiles() * layout.y_tiles(),
                        .dynamic_shared_bytes = layout.shared_bytes(),
                        .max_dynamic_shared_bytes = max_flat_shared_bytes,
                        // About 24 registers, and those that hold the loads in flight.
                        .registers = 24 + layout.loads * layout.group * (layout.element_bytes > 4 ? 2 : 1),
                        .store_bytes = layout.in_word * layout.element_bytes,
                        .passes = static_cast<std::uint32_t>(passes),
                        .order = layout.tile_order()};
    // Instructions of a thread, fitted to measurements (docs/model.md).
    constexpr double per_load = 10;     // load of an element or short word into the tile
    constexpr double per_word = 30.6;   // word that is stored from the tile
    constexpr double per_shift = 9.95;  // additional cost of a stored word if rows are not aligned to words
    constexpr double per_entry = 15.5;  // entry of a table of offsets, for each of its divisions
    const std::uint64_t stored = passes * layout.threads * layout.stores;
    footprint.instructions =
        (per_word + (layout.staggered ? per_shift : 0)) * tiles * static_cast<double>(stored) +
        per_entry * tiles * static_cast<double>(layout.columns() + layout.y) * (1 + layout.sources) / 2 *
            layout.rank;
    std::uint64_t rounds = 0;
    for (const FlatSource& source : layout.all_sources()) {
      const std::uint64_t loaded = source.along > 0
                                       ? std::uint64_t{layout.columns()} * layout.y / source.along
                                       : words * layout.in_word;
      const std::uint64_t at_once =
          std::uint64_t{layout.threads} *
          (source.along > 0 ? layout.loads * layout.group : layout.stores * layout.in_word);
      const std::uint64_t source_rounds = ceil_div(loaded, at_once);
      rounds += source_rounds;
      footprint.bytes_in_flight +=
          std::min(loaded, at_once) * source.element_bytes * std::max(source.along, 1U);
      footprint.instructions += per_load * tiles * static_cast<double>(source_rounds * at_once);
      footprint.lines += tiles * static_cast<double>(loaded) * source.lines;
      if (layout.joined) footprint.lines += tiles * static_cast<double>(loaded) * joined_wavefronts(layout);
    }
    footprint.rounds = static_cast<std::uint32_t>(rounds);
    // Instructions of the expression.
    if (!problem.expression().empty())
      footprint.instructions += per_load * tiles * static_cast<double>(words * layout.in_word);
    return footprint;
  }

  [[nodiscard]] std::string why(const Candidate& candidate, const Problem& /*problem*/) const override {
    const FlatLayout& layout = flat_layout_of(candidate);
    return fmt::format(
        "All dimensions that are contiguous in the destination count as one, all others as another: threads "
        "load {} rows that are neighbours in the source, and store {} elements of each.",
        layout.y, layout.x);
  }
  [[nodiscard]] std::vector<std::string> rewrites(const Candidate& candidate) const override {
    const FlatLayout& layout = flat_layout_of(candidate);
    return run_rewrite(layout.rank - layout.x_dimensions, layout.rank);
  }

  void bind(const Candidate& candidate, const Problem& problem, ParameterBlock& parameters,
            LaunchShape& shape) const override {
    const FlatLayout& layout = flat_layout_of(candidate);
    with_constant(layout.sources, [&](auto sources) {
      using Tile = params::FlatTile<sources>;
      const std::uint32_t at =
          parameters.add({"params::FlatTile", sources}, "plan", tile_of<sources>(layout, problem));
      parameters.add_address(at + offsetof(Tile, destination), 0);
      for (std::uint32_t s = 0; s < sources; ++s)
        parameters.add_address(
            at + static_cast<std::uint32_t>(offsetof(Tile, source) + s * sizeof(params::FlatSource)), s + 1);
    });
    shape.grid = grid_of(layout.ctas());
  }

  [[nodiscard]] SourceParts source(const Candidate& candidate,
                                   std::string_view /*expression*/) const override {
    const auto facts = facts_of<FlatFacts>(candidate);
    SourceParts parts{
        .why =
            "Short and odd dimensions fill tiles, because several of them count as one. Threads load single "
            "elements or short words, which the copy engine cannot do.",
        .max_threads = facts.threads,
        .call = "move_tile(plan)"};
    parts.pads = facts.padded != 0;
    parts.set("padded", parts.pads);  // a source does not reach all of the destination
    parts.set("computes", facts.computes != 0);
    parts.facts =
        number_fact("threads", facts.threads) + offset_fact(facts.wide_offsets) +
        number_fact("in_word", facts.in_word, "elements of a word that is stored") +
        number_fact("stores", facts.stores, "words of a thread") +
        number_fact("group", facts.group, "elements along x that a thread loads for an image") +
        number_fact("loads", facts.loads, "groups of a thread") +
        flag_fact("joined", facts.joined != 0, "words may have elements of two rows") +
        flag_fact("staggered", facts.staggered != 0, "rows begin anywhere in a word of the destination");
    std::vector<ElementType> from;
    std::vector<std::string> along;
    for (std::uint32_t s = 0; s < facts.sources; ++s) {
      from.push_back(static_cast<ElementType>(facts.source[s]));
      along.push_back(fmt::format("  static constexpr u32 along = {};\n", facts.along[s]));
      parts.set("elements", facts.along[s] == 0);  // the source has no image in shared memory
    }
    add_element_types(parts, facts.element_type(), from, facts.computes != 0 || facts.padded != 0, along);
    return parts;
  }

  void classify(const Candidate& candidate, const Problem& problem, ShapeClass& shape) const override {
    const FlatLayout& layout = flat_layout_of(candidate);
    shape.column = log2_of(problem.nest.shape[layout.dimension[layout.x_dimensions]]);
  }
};

}  // namespace

const FlatLayout& flat_layout_of(const Candidate& candidate) {
  return FlatBase::data(candidate).layout;
}

const Family& flat_family() {
  static const Flat family;
  return family;
}

TMAJIT_END
