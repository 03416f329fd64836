#include "families/list.hpp"
#include "families/shared/line_image.hpp"
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

/// What a `spans` kernel is specialised for.
struct SpanFacts {
  std::uint32_t element_bytes = 1;
  Flag staggered = 0;
  Flag wide_offsets = 0;
  std::uint32_t words_at_once = 1;
};

SpanFacts facts_of_layout(const SpanLayout& layout) {
  return {.element_bytes = layout.element_bytes,
          .staggered = layout.staggered ? 1U : 0U,
          .wide_offsets = layout.wide_offsets ? 1U : 0U,
          .words_at_once = layout.words_at_once};
}

/// The layout of a candidate, which was worked out when it was added.
const SpanLayout& layout_of(const Candidate& candidate) {
  return *static_cast<const SpanLayout*>(candidate.layout.get());
}

params::SpanTile tile_of(const SpanLayout& layout, const Problem& problem) {
  const auto divider = [](std::uint64_t n) { return make_divider<params::Divider>(n); };
  params::SpanTile tile{};
  std::fill_n(tile.digit, params::most_digits, params::SpanDigit{0, 0, divider(1)});
  for (std::uint32_t k = 0; k < layout.rank; ++k) {
    const std::uint32_t d = layout.order[k];
    tile.digit[k] = {problem.step(0, d), problem.nest.operand[1].strides[d], divider(problem.nest.shape[d])};
  }
  set_address(tile.destination, problem.address[0]);
  set_address(tile.source, problem.address[1]);
  tile.run_digits = layout.run_dimensions;
  tile.column_digits = layout.run_dimensions + layout.column_dimensions;
  tile.digits = layout.rank;
  tile.run_elements = sat_cast<std::uint32_t>(layout.run_elements);
  tile.all_columns = sat_cast<std::uint32_t>(layout.all_columns);
  tile.run = layout.run;
  tile.columns = layout.columns;
  tile.words = layout.words();
  tile.chunks = layout.chunks();
  tile.pitch = layout.pitch();
  tile.lanes = divider(layout.lanes());
  tile.rows = span_threads / layout.lanes();
  tile.stores = divider(layout.stores());
  tile.stored_columns = span_threads / layout.stores();
  tile.group = divider(layout.group);
  tile.run_tiles = divider(layout.run_tiles);
  tile.groups = divider(layout.groups());
  return tile;
}

class Spans final : public Family {
 public:
  Spans()
      : Family({.name = "spans",
                .summary = "moves bits between spans of the source's memory and of the destination's, either "
                           "of any dimensions, element by element",
                .operation = {}}) {}

  void add_candidates(const Problem& problem, std::vector<Candidate>& candidates) const override {
    if (tmajit::layout_of(problem) == Layout::rows || !takes_spans(problem)) return;
    for (const SpanTuning& tuning : tunings) {
      const auto layout = span_layout(problem, tuning);
      if (!layout) continue;
      Candidate one = candidate(facts_of_layout(*layout), problem.nest,
                                {.box = layout->box(problem.nest), .threads = span_threads});
      one.layout = std::make_shared<const SpanLayout>(*layout);
      add_once(candidates, std::move(one), !is_small(problem) && !repeats(problem));
    }
  }

  [[nodiscard]] Footprint footprint(const Candidate& candidate, const Problem& problem) const override {
    const SpanLayout& layout = layout_of(candidate);
    const auto tiles = static_cast<double>(layout.tiles());
    const std::uint64_t chunks = std::uint64_t{layout.columns} * layout.chunks();
    const std::uint64_t in_chunk = std::uint64_t{layout.words_at_once} * layout.in_word();
    const std::uint64_t words = std::uint64_t{layout.columns} * layout.words();
    const auto threads = std::uint64_t{layout.lanes()} * (span_threads / layout.lanes());
    return {
        .box = layout.box(problem.nest),
        .threads = span_threads,
        .tiles = layout.tiles(),
        .dynamic_shared_bytes = layout.shared_bytes(),
        .most_dynamic_shared_bytes = most_span_bytes,
        .registers = 40,
        .bytes_in_flight = std::min(chunks, threads) * in_chunk * layout.element_bytes,
        .rounds = static_cast<std::uint32_t>(ceil_div(chunks, threads)),
        .passes = static_cast<std::uint32_t>(ceil_div(words, std::uint64_t{span_threads} * 4)),
        .work = {.entry = tiles * layout.entries(),
                 .span_element = tiles * static_cast<double>(chunks * in_chunk),
                 .span_word = tiles * static_cast<double>(words),
                 .span_lookup = layout.staggered ? tiles * static_cast<double>(chunks * in_chunk) : 0,
                 .span_line = tiles * static_cast<double>(chunks * in_chunk) * layout.lines_met(problem)}};
  }

  [[nodiscard]] KernelChoice choice(const Candidate& candidate) const override {
    return {.family = name(), .tile = candidate.tile.box, .threads = candidate.tile.threads};
  }
  [[nodiscard]] std::string why(const Candidate& candidate, const Problem& /*problem*/) const override {
    const SpanLayout& layout = layout_of(candidate);
    return fmt::format(
        "Threads load {} columns side by side in the source's memory, element by element, and store parts of "
        "{} elements of the destination's runs: both may begin and end anywhere in any dimension.",
        layout.columns, layout.run);
  }
  [[nodiscard]] std::vector<std::string> rewrites(const Candidate& candidate) const override {
    const SpanLayout& layout = layout_of(candidate);
    return run_rewrite(layout.rank - layout.run_dimensions, layout.rank);
  }

  void bind(const Candidate& candidate, const Problem& problem, ParameterBlock& parameters,
            LaunchShape& shape) const override {
    const SpanLayout& layout = layout_of(candidate);
    const std::uint32_t at = parameters.add({"params::SpanTile"}, "plan", tile_of(layout, problem));
    parameters.add_address(at + offsetof(params::SpanTile, destination), 0);
    parameters.add_address(at + offsetof(params::SpanTile, source), 1);
    shape.grid = grid_of(layout.groups() * layout.group * layout.run_tiles * layout.others);
  }

  [[nodiscard]] SourceParts source(const Candidate& candidate,
                                   std::string_view /*expression*/) const override {
    const auto facts = facts_of<SpanFacts>(candidate);
    SourceParts parts{
        .why =
            "Threads load elements side by side in the source's memory one by one, many at once, "
            "and store words of the destination: dimensions of any length fill a tile, wherever "
            "its rows begin. The copy engine is not used: it cannot transpose.",
        .element_bytes = facts.element_bytes,
        .most_threads = span_threads,
        .call = "move_tile(plan)"};
    parts.set("staggered", facts.staggered != 0);
    parts.set("narrow", facts.element_bytes < 4);
    parts.facts = number_fact("threads", span_threads) + offset_fact(facts.wide_offsets);
    parts.facts += number_fact("element_bytes", facts.element_bytes);
    parts.facts += number_fact("words_at_once", facts.words_at_once, "that a thread loads at once");
    return parts;
  }

  void classify(const Candidate& candidate, const Problem& problem, ShapeClass& shape) const override {
    const SpanLayout& layout = layout_of(candidate);
    if (layout.column_dimensions > 0)
      shape.column = log2_of(problem.nest.shape[layout.order[layout.run_dimensions]]);
  }
};

}  // namespace

const Family& spans_family() {
  static const Spans family;
  return family;
}

TMAJIT_END
