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
    {.variant = FlatVariant::longer_source_runs, .x_bytes = 128, .y_bytes = 128, .threads = 128},
    {.variant = FlatVariant::longer_source_runs, .x_bytes = 256, .y_bytes = 256, .threads = 256},
    {.variant = FlatVariant::longer_source_runs, .x_bytes = 256, .y_bytes = 64, .threads = 256},
    {.variant = FlatVariant::one_source_run, .x_bytes = 128, .y_bytes = 128, .threads = 128},
    {.variant = FlatVariant::one_source_run, .x_bytes = 256, .y_bytes = 256, .threads = 256},
    {.variant = FlatVariant::joined_rows, .x_bytes = 128, .y_bytes = 128, .threads = 256, .word_bytes = 8},
    {.variant = FlatVariant::joined_rows, .x_bytes = 64, .y_bytes = 64, .threads = 128},
};

/// The facts of a `flat` kernel: the constants that its source is specialised for. FlatLayout and FlatSource
/// describe those without a comment. In kernels that move bits unchanged, each type is the unsigned integer
/// of its size.
struct FlatFacts {
  std::uint32_t type = 0;  ///< type of the destination, an ElementType
  std::uint32_t threads = 256;
  std::uint32_t word_elements = 1;
  std::uint32_t group = 1;
  std::uint32_t loads = 1;
  std::uint32_t stores = 1;
  Flag joined = 0;
  Flag staggered = 0;
  Flag wide_offsets = 0;
  Flag computes = 0;  ///< there is an expression
  Flag padded = 0;    ///< the source lacks some elements of the destination, which are padding
  std::uint32_t sources = 1;
  std::uint32_t numbers = 0;                       ///< the last of the sources, which the launch passes
  std::array<std::uint32_t, max_inputs> source{};  ///< types of the sources, as ElementType
  std::array<std::uint32_t, max_inputs> y_per_load{};

  [[nodiscard]] ElementType element_type() const noexcept { return static_cast<ElementType>(type); }
};

FlatFacts facts_of_layout(const FlatLayout& layout, const Problem& problem) {
  FlatFacts facts{.type = static_cast<std::uint32_t>(type_in_chunks(problem, 0)),
                  .threads = layout.threads,
                  .word_elements = layout.word_elements,
                  .group = layout.group,
                  .loads = layout.loads,
                  .stores = layout.stores,
                  .joined = layout.joined ? 1U : 0U,
                  .staggered = layout.staggered ? 1U : 0U,
                  .wide_offsets = layout.wide_offsets ? 1U : 0U,
                  .computes = problem.expression().empty() ? 0U : 1U,
                  .padded = problem.nest.windowed ? 1U : 0U,
                  .sources = layout.sources,
                  .numbers = problem.numbers};
  for (std::uint32_t s = 0; s < layout.sources; ++s) {
    // A padded source has the destination's type, to which the padding is converted.
    facts.source[s] =
        facts.padded != 0 ? facts.type : static_cast<std::uint32_t>(type_in_chunks(problem, s + 1));
    facts.y_per_load[s] = layout.source[s].y_per_load;
  }
  return facts;
}

/// Shared-memory wavefronts (tmajit/bank_conflicts.hpp) in which a warp writes one load of each thread to an
/// image, the copy of a source's tile in shared memory. The image of joined rows has no gaps between the
/// rows, so bank conflicts are possible.
double wavefronts_of_joined_rows(const FlatLayout& layout) {
  const FlatSource& source = layout.source[0];
  const std::uint32_t y_lanes = std::max(layout.y / source.y_per_load, 1U);
  WarpAccess access{.width = layout.element_bytes, .lanes = warp_lanes};
  for (std::uint32_t lane = 0; lane < warp_lanes; ++lane) {
    const std::uint32_t row = lane / source.x_lanes;
    const std::uint32_t y = row % y_lanes * source.y_per_load;
    const std::uint32_t x = (row / y_lanes * source.x_lanes + lane % source.x_lanes) * layout.group;
    access.offsets[lane] = (y * static_cast<std::uint32_t>(layout.x_extent) + x) * layout.element_bytes;
  }
  return source.y_per_load * wavefronts(access).needed;
}

struct FlatChoice {
  PerDimension tile{};
  std::uint32_t threads = 0;
  std::uint32_t word_bytes = 0;  ///< bytes of a store
  std::uint32_t order = 0;       ///< a TileOrder
  std::uint32_t joined = 0;      ///< 1: a word may span several rows
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
    tile.digit[k].destination_stride = exists ? problem.nest.operand[0].strides[d] : 0;
    for (std::uint32_t s = 0; s < sources; ++s)
      tile.digit[k].source_stride[s] = exists ? problem.nest.operand[s + 1].strides[d] : 0;
  }
  set_address(tile.destination, problem.address[0]);
  for (std::uint32_t s = 0; s < sources; ++s) {
    const FlatSource& source = layout.source[s];
    const std::uint32_t y_lanes = source.has_image() ? layout.y / source.y_per_load : 1;
    set_address(tile.source[s].first, problem.address[s + 1]);
    tile.source[s].image = source.image;
    tile.source[s].pitch = source.pitch;
    tile.source[s].y_lanes = divider(y_lanes);
    tile.source[s].x_lanes = divider(source.x_lanes);
    tile.source[s].groups = layout.threads / y_lanes / source.x_lanes * source.x_lanes;
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
  tile.consecutive_y_tiles = divider(layout.consecutive_y_tiles());
  tile.x_tiles = divider(layout.x_tiles());
  return tile;
}

class Flat final : public FlatBase {
 public:
  Flat()
      : TypedFamily({.name = "flat",
                     .summary =
                         "moves, pads, converts or computes tiles of two indices, each of which counts "
                         "through any number of dimensions, so that short and odd extents leave no part of "
                         "a tile unused",
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
                              .word_bytes = layout->word_elements * layout->element_bytes,
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
    const std::uint64_t words_per_lane = ceil_div(layout.words(), std::uint64_t{layout.word_lanes()});
    const std::uint64_t rows = layout.threads / layout.word_lanes();
    // Iterations of the loop that stores. In each a thread has `stores` words in flight.
    const std::uint64_t store_iterations =
        layout.joined ? ceil_div(words, std::uint64_t{layout.threads} * layout.stores)
                      : words_per_lane * ceil_div(layout.y, rows * layout.stores);
    Footprint footprint{.box = data(candidate).choice.tile,
                        .threads = layout.threads,
                        .tiles = layout.x_tiles() * layout.y_tiles(),
                        .dynamic_shared_bytes = layout.shared_bytes(),
                        .max_dynamic_shared_bytes = max_flat_shared_bytes,
                        // About 24 registers, and those that hold the loads in flight.
                        .registers = 24 + layout.loads * layout.group * (layout.element_bytes > 4 ? 2 : 1),
                        .store_bytes = layout.word_elements * layout.element_bytes,
                        .passes = static_cast<std::uint32_t>(store_iterations),
                        .order = layout.tile_order()};
    // Instructions of a thread, fitted to measurements (docs/model.md).
    constexpr double per_load = 10;     // load of an element or short word into the tile
    constexpr double per_word = 30.6;   // word that is stored from the tile
    constexpr double per_shift = 9.95;  // additional cost of a stored word if rows are not aligned to words
    constexpr double per_entry = 15.5;  // entry of a table of offsets, for each of its divisions
    const std::uint64_t stored_words = store_iterations * layout.threads * layout.stores;
    footprint.instructions =
        (per_word + (layout.staggered ? per_shift : 0)) * tiles * static_cast<double>(stored_words) +
        per_entry * tiles * static_cast<double>(layout.columns() + layout.y) * (1 + layout.sources) / 2 *
            layout.rank;
    // Iterations of the loops that load. In each the CTA has `loads_in_flight` loads in flight.
    std::uint64_t load_iterations = 0;
    for (const FlatSource& source : layout.all_sources()) {
      const std::uint64_t loads = source.has_image()
                                      ? std::uint64_t{layout.columns()} * layout.y / source.y_per_load
                                      : words * layout.word_elements;
      const std::uint64_t loads_in_flight =
          std::uint64_t{layout.threads} *
          (source.has_image() ? layout.loads * layout.group : layout.stores * layout.word_elements);
      const std::uint64_t iterations = ceil_div(loads, loads_in_flight);
      load_iterations += iterations;
      footprint.bytes_in_flight +=
          std::min(loads, loads_in_flight) * source.element_bytes * std::max(source.y_per_load, 1U);
      footprint.instructions += per_load * tiles * static_cast<double>(iterations * loads_in_flight);
      footprint.lines += tiles * static_cast<double>(loads) * source.lines;
      if (layout.joined)
        footprint.lines += tiles * static_cast<double>(loads) * wavefronts_of_joined_rows(layout);
    }
    footprint.rounds = static_cast<std::uint32_t>(load_iterations);
    // Instructions of the expression.
    if (!problem.expression().empty())
      footprint.instructions += per_load * tiles * static_cast<double>(words * layout.word_elements);
    return footprint;
  }

  [[nodiscard]] std::string why(const Candidate& candidate, const Problem& /*problem*/) const override {
    const FlatLayout& layout = flat_layout_of(candidate);
    return fmt::format(
        "One index, x, counts through dimensions that are contiguous in the destination, a second index, y, "
        "through all others: a tile has {} elements along x and {} along y.",
        layout.x, layout.y);
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
    SourceParts parts{.why =
                          "One index counts through several dimensions, so that short and odd ones fill "
                          "tiles. Threads load "
                          "single elements or short words, which the copy engine (TMA) cannot do.",
                      .max_threads = facts.threads,
                      .call = "move_tile(plan)"};
    parts.pads = facts.padded != 0;
    parts.set("padded", parts.pads);
    parts.set("computes", facts.computes != 0);
    parts.facts =
        number_fact("threads", facts.threads) + offset_fact(facts.wide_offsets) +
        number_fact("word_elements", facts.word_elements, "elements of a word, which one store writes") +
        number_fact("stores", facts.stores, "words that a thread has in flight") +
        number_fact("group", facts.group, "neighbours along x that a thread loads into an image") +
        number_fact("loads", facts.loads, "groups that a thread has in flight") +
        flag_fact("joined", facts.joined != 0, "a word may span several rows") +
        flag_fact("staggered", facts.staggered != 0, "the destination's rows are not aligned to words");
    std::vector<ElementType> from;
    std::vector<std::string> load_facts;
    for (std::uint32_t s = 0; s < facts.sources; ++s) {
      from.push_back(static_cast<ElementType>(facts.source[s]));
      load_facts.push_back(fmt::format("  static constexpr u32 y_per_load = {};\n", facts.y_per_load[s]));
      parts.set("direct_sources", facts.y_per_load[s] == 0);  // the source is read without an image
    }
    parts.numbers = facts.numbers;
    add_element_types(parts, facts.element_type(), from, facts.computes != 0 || facts.padded != 0,
                      load_facts);
    return parts;
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
