#include "families/list.hpp"
#include "families/shared/chunks.hpp"
#include "families/spans/spans_layout.hpp"
#include "spec/saturate.hpp"

#include <tmajit/span_tile.cuh>

#include <algorithm>
#include <cstddef>
#include <memory>

#include <spdlog/fmt/fmt.h>

TMAJIT_BEGIN
namespace {

constexpr SpanTuning tunings[] = {{256, 64},  {128, 128}, {256, 32}, {128, 64}, {512, 32},
                                  {256, 128}, {512, 64},  {128, 32}, {64, 64}};

/// What a `spans` kernel is specialised for. Types are those that kernels of chunks know, too: of bits that
/// are moved as they are only the size counts.
struct SpanFacts {
  std::uint32_t type = 0;  ///< of the destination, an ElementType
  Flag staggered = 0;
  Flag wide_offsets = 0;
  Flag computes = 0;
  Flag padded = 0;
  std::uint32_t in_chunk = 1;
  std::uint32_t stored_at_once = 4;
  std::uint32_t sources = 1;
  std::array<std::uint32_t, max_inputs> source{};
  std::array<Flag, max_inputs> has_image{};

  [[nodiscard]] ElementType element_type() const noexcept { return static_cast<ElementType>(type); }
  [[nodiscard]] ElementType source_type(std::uint32_t s) const noexcept {
    return static_cast<ElementType>(source[s]);
  }
};

SpanFacts facts_of_layout(const SpanLayout& layout, const Problem& problem) {
  SpanFacts facts{.type = static_cast<std::uint32_t>(type_in_chunks(problem, 0)),
                  .staggered = layout.staggered ? 1U : 0U,
                  .wide_offsets = layout.wide_offsets ? 1U : 0U,
                  .computes = problem.expression().empty() ? 0U : 1U,
                  .padded = problem.nest.windowed ? 1U : 0U,
                  .in_chunk = layout.in_chunk,
                  .stored_at_once = layout.stored_at_once,
                  .sources = layout.sources};
  for (std::uint32_t s = 0; s < layout.sources; ++s) {
    // What surrounds a padded source has the destination's type.
    facts.source[s] =
        facts.padded != 0 ? facts.type : static_cast<std::uint32_t>(type_in_chunks(problem, s + 1));
    facts.has_image[s] = layout.source[s].has_image ? 1 : 0;
  }
  return facts;
}

/// The layout of a candidate, which was worked out when it was added.
const SpanLayout& layout_of(const Candidate& candidate) {
  return *static_cast<const SpanLayout*>(candidate.layout.get());
}

template <std::uint32_t sources>
void fill_tile(params::SpanTile<sources>& tile, const SpanLayout& layout, const Problem& problem) {
  const auto divider = [](std::uint64_t n) { return make_divider<params::Divider>(n); };
  for (std::uint32_t k = 0; k < params::most_digits; ++k) {
    const std::uint32_t d = layout.order[k];
    const bool exists = k < layout.rank;
    tile.digit[k].count = divider(exists ? problem.nest.shape[d] : 1);
    tile.digit[k].destination = exists ? problem.step(0, d) : 0;
    for (std::uint32_t s = 0; s < sources; ++s)
      tile.digit[k].source[s] = exists ? problem.nest.operand[s + 1].strides[d] : 0;
  }
  set_address(tile.destination, problem.address[0]);
  for (std::uint32_t s = 0; s < sources; ++s) {
    set_address(tile.source[s].first, problem.address[s + 1]);
    tile.source[s].image = layout.source[s].image;
    tile.source[s].pitch = layout.source[s].pitch;
  }
  tile.run_digits = layout.run_dimensions;
  tile.column_digits = layout.run_dimensions + layout.column_dimensions;
  tile.digits = layout.rank;
  tile.run_elements = sat_cast<std::uint32_t>(layout.run_elements);
  tile.all_columns = sat_cast<std::uint32_t>(layout.all_columns);
  tile.run = layout.run;
  tile.columns = layout.columns;
  tile.words = layout.words();
  tile.chunks = layout.chunks();
  tile.tables = layout.tables;
  tile.lanes = divider(layout.lanes());
  tile.rows = span_threads / layout.lanes();
  tile.stores = divider(layout.stores());
  tile.stored_columns = span_threads / layout.stores();
  tile.group = divider(layout.group);
  tile.run_tiles = divider(layout.run_tiles);
  tile.groups = divider(layout.groups());
}

params::PaddedSpanTile padded_tile_of(const SpanLayout& layout, const Problem& problem) {
  params::PaddedSpanTile tile{};
  fill_tile(tile, layout, problem);
  for (std::uint32_t k = 0; k < layout.rank; ++k) {
    const std::uint32_t d = layout.order[k];
    const auto extent = static_cast<std::int64_t>(problem.nest.shape[d]);
    const auto index = [&](std::int64_t i) {
      return static_cast<std::uint32_t>(std::clamp<std::int64_t>(i, 0, extent));
    };
    tile.first[k] = index(problem.nest.window_first[d]);
    tile.end[k] = index(problem.nest.window_end[d]);
  }
  tile.value = problem.padding();
  return tile;
}

/// Adds the parameter of a launch: a SpanTile<sources>, or what begins with one.
template <std::uint32_t sources, class Tile>
void add_tile(ParameterBlock& parameters, ParameterType type, const Tile& tile) {
  using Beginning = params::SpanTile<sources>;
  const std::uint32_t at = parameters.add(type, "plan", tile);
  parameters.add_address(at + offsetof(Beginning, destination), 0);
  for (std::uint32_t s = 0; s < sources; ++s) {
    parameters.add_address(
        at + static_cast<std::uint32_t>(offsetof(Beginning, source) + s * sizeof(params::SpanSource)), s + 1);
  }
}

/// The types of a kernel's views, and how it reads its sources.
void add_types(SourceParts& parts, const SpanFacts& facts) {
  std::vector<ElementType> from;
  std::vector<std::string> images;
  for (std::uint32_t s = 0; s < facts.sources; ++s) {
    const bool has_image = facts.has_image[s] != 0;
    from.push_back(facts.source_type(s));
    images.push_back(fmt::format("  static constexpr bool has_image = {};\n", has_image));
    parts.set(has_image ? "image" : "elements");
  }
  add_element_types(parts, facts.element_type(), from, facts.computes != 0 || facts.padded != 0, images);
}

class Spans final : public Family {
 public:
  Spans()
      : Family({.name = "spans",
                .summary =
                    "moves, pads, converts or computes between spans of the sources' memory and of the "
                    "destination's, either of any dimensions, element by element",
                .operations = {"copy", "pad", "map"},
                .operation = {},
                .computes = true,
                .most_inputs = max_inputs}) {}

  void add_candidates(const Problem& problem, std::vector<Candidate>& candidates) const override {
    if (!takes_spans(problem)) return;
    for (const SpanTuning& tuning : tunings) {
      const auto layout = span_layout(problem, tuning);
      if (!layout) continue;
      const Problem walked = layout->walk.walked(problem);
      Candidate one = candidate(facts_of_layout(*layout, walked), problem.nest,
                                {.box = layout->box(problem, walked.nest), .threads = span_threads});
      one.layout = std::make_shared<const SpanLayout>(*layout);
      add_once(candidates, std::move(one), !is_small(problem) && !(repeats(problem) && layout->has_image()));
    }
  }

  [[nodiscard]] Footprint footprint(const Candidate& candidate, const Problem& problem) const override {
    const SpanLayout& layout = layout_of(candidate);
    const auto tiles = static_cast<double>(layout.tiles());
    const std::uint64_t chunks = std::uint64_t{layout.columns} * layout.chunks();
    // Threads that have no word left at their turn do the last one again.
    const std::uint64_t stored_columns = span_threads / layout.stores();
    const std::uint64_t turns =
        ceil_div(std::uint64_t{layout.columns}, stored_columns * layout.stored_at_once);
    const std::uint64_t words = std::uint64_t{span_threads} * ceil_div(layout.words(), layout.stores()) *
                                turns * layout.stored_at_once;
    const auto threads = std::uint64_t{layout.lanes()} * (span_threads / layout.lanes());
    const std::uint64_t words_at_once = std::uint64_t{span_threads} * layout.stored_at_once;
    const std::uint64_t passes = ceil_div(words, words_at_once);
    // A thread waits for the elements of an image, and for those that it loads itself.
    const std::uint64_t rounds =
        (layout.has_image() ? ceil_div(chunks, threads) : 0) + (layout.loads_elements() ? passes : 0);
    Footprint footprint{
        .box = candidate.tile.box,
        .threads = span_threads,
        .tiles = layout.tiles(),
        .dynamic_shared_bytes = layout.shared_bytes(),
        .most_dynamic_shared_bytes = most_span_bytes,
        .registers = 40,
        .rounds = static_cast<std::uint32_t>(rounds),
        .passes = static_cast<std::uint32_t>(passes),
        .work = {.entry = tiles * layout.entries(), .span_word = tiles * static_cast<double>(words)}};
    Work& work = footprint.work;
    for (const SpanSource& source : layout.all_sources()) {
      const std::uint64_t loaded = source.has_image ? chunks * layout.in_chunk : words * layout.in_word();
      const std::uint64_t at_once = source.has_image ? std::min(chunks, threads) * layout.in_chunk
                                                     : std::min(words, words_at_once) * layout.in_word();
      const double elements = tiles * static_cast<double>(loaded);
      footprint.bytes_in_flight += at_once * source.element_bytes;
      work.span_element += elements;
      work.span_line += elements * source.lines;
      if (layout.staggered || !source.has_image) work.lookup += elements;
    }
    // What is computed is instructions, too.
    if (!problem.expression().empty())
      work.span_element += tiles * static_cast<double>(words * layout.in_word());
    return footprint;
  }

  [[nodiscard]] KernelChoice choice(const Candidate& candidate) const override {
    return {.family = name(), .tile = candidate.tile.box, .threads = candidate.tile.threads};
  }
  [[nodiscard]] std::string why(const Candidate& candidate, const Problem& /*problem*/) const override {
    const SpanLayout& layout = layout_of(candidate);
    const std::string_view along =
        layout.has_image()
            ? "Threads load {} columns side by side in a source's memory, element by element, and store "
              "parts of {} elements of the destination's runs: both may begin and end anywhere in any "
              "dimension."
            : "Threads load elements one by one for {} parts of {} elements of the destination's runs, "
              "which begin and end anywhere in any dimension.";
    return fmt::format(fmt::runtime(along), layout.columns, layout.run);
  }
  [[nodiscard]] std::vector<std::string> rewrites(const Candidate& candidate) const override {
    const SpanLayout& layout = layout_of(candidate);
    return run_rewrite(layout.rank - layout.run_dimensions, layout.rank);
  }

  void bind(const Candidate& candidate, const Problem& problem, ParameterBlock& parameters,
            LaunchShape& shape) const override {
    const SpanLayout& layout = layout_of(candidate);
    const Problem walked = layout.walk.walked(problem);
    if (problem.nest.windowed) {
      add_tile<1>(parameters, {"params::PaddedSpanTile"}, padded_tile_of(layout, walked));
    } else {
      with_rank(layout.sources, [&](auto sources) {
        params::SpanTile<sources> tile{};
        fill_tile(tile, layout, walked);
        add_tile<sources>(parameters, {"params::SpanTile", sources}, tile);
      });
    }
    shape.grid = grid_of(layout.groups() * layout.group * layout.run_tiles * layout.others);
  }

  [[nodiscard]] SourceParts source(const Candidate& candidate,
                                   std::string_view /*expression*/) const override {
    const auto facts = facts_of<SpanFacts>(candidate);
    SourceParts parts{
        .why =
            "Threads load elements one by one, many at once, side by side in the memory where they can, "
            "and store words of the destination: dimensions of any length fill a tile, wherever "
            "its rows begin. The copy engine is not used: it cannot transpose.",
        .most_threads = span_threads,
        .call = "move_tile(plan)"};
    parts.set("staggered", facts.staggered != 0);
    parts.set("padded", facts.padded != 0);
    parts.set("computes", facts.computes != 0);
    parts.set("cut", size_of(facts.element_type()) < 4);
    parts.facts = number_fact("threads", span_threads) + offset_fact(facts.wide_offsets);
    const std::uint32_t bytes = size_of(facts.element_type());
    parts.facts += number_fact("in_word", std::max(4 / bytes, 1U), "elements of a word");
    parts.facts +=
        number_fact("in_chunk", facts.in_chunk, "elements that a thread loads at once for an image");
    parts.facts += number_fact("stored_at_once", facts.stored_at_once, "words of a thread");
    add_types(parts, facts);
    return parts;
  }

  void classify(const Candidate& candidate, const Problem& problem, ShapeClass& shape) const override {
    const SpanLayout& layout = layout_of(candidate);
    if (layout.column_dimensions > 0)
      shape.column = log2_of(layout.walk.walked(problem).nest.shape[layout.order[layout.run_dimensions]]);
  }
};

}  // namespace

const Family& spans_family() {
  static const Spans family;
  return family;
}

TMAJIT_END
