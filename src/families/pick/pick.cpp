#include "families/list.hpp"
#include "families/pick/pick_layout.hpp"
#include "families/shared/blocks.hpp"
#include "spec/saturate.hpp"

#include <tmajit/pick_tile.cuh>

#include <algorithm>
#include <bit>
#include <memory>
#include <utility>
#include <vector>

#include <spdlog/fmt/fmt.h>

TMAJIT_BEGIN
namespace {

constexpr std::uint32_t words_at_once = 4;  // that a thread has under way

constexpr PickTuning tunings[] = {
    {256, 256, 16 << 10}, {256, 256, 32 << 10}, {512, 128, 16 << 10}, {128, 512, 16 << 10},
    {512, 256, 32 << 10}, {256, 512, 32 << 10}, {256, 128, 8 << 10},  {128, 256, 8 << 10},
    {128, 128, 8 << 10},  {128, 128, 16 << 10}, {1024, 64, 16 << 10}, {64, 1024, 16 << 10},
};

struct PickFacts {
  std::uint32_t rank = 1;
  std::uint32_t element_bytes = 1;
  Flag wide_offsets = 0;
};

/// Whether the source is repeated along a dimension: other kernels then load less.
bool repeats(const Problem& problem) noexcept {
  for (std::uint32_t d = 0; d < problem.nest.rank; ++d) {
    if (problem.nest.operand[1].strides[d] == 0 && problem.nest.shape[d] > 1) return true;
  }
  return false;
}

/// The layout of a candidate, which was worked out when it was added.
const PickLayout& layout_of(const Candidate& candidate) {
  return *static_cast<const PickLayout*>(candidate.layout.get());
}

/// The digit of dimension `d` with so many indices.
params::Digit digit_of(const PickLayout& layout, std::uint32_t d, std::uint64_t count, std::int64_t step) {
  return {.step = step,
          .count = make_divider<params::Divider>(count),
          .dimension = d,
          .image = layout.image_step[d],
          .skew = d == layout.skewed ? layout.skew_log : no_skew};
}

template <std::uint32_t rank>
params::PickTile<rank> tile_of(const PickLayout& layout, const Problem& problem) {
  params::PickTile<rank> tile{};
  const std::uint32_t along = layout.run_dimension;
  for (auto* list : {&tile.line, &tile.run, &tile.place}) {
    std::fill_n(*list, rank, digit_of(layout, 0, 1, 0));
  }
  std::uint32_t lines = 0;
  std::uint32_t runs = 0;
  // The source's own order, the nearest first: lanes that do several runs then read what lies together.
  for (std::uint32_t k = rank; k-- > 0;) {
    const std::uint32_t d = layout.source_order[k];
    const bool takes_lines_apart = !layout.spans(d) && problem.nest.operand[1].strides[d] != 0;
    if (takes_lines_apart) tile.line[lines++] = digit_of(layout, d, layout.box[d], problem.step(1, d));
    const bool takes_runs_apart = d < along && (layout.parts > 1 || d != layout.along);
    if (takes_runs_apart) tile.run[runs++] = digit_of(layout, d, layout.box[d], problem.step(0, d));
  }
  for (std::uint32_t d = rank; d-- > along;) {
    const std::uint32_t count = d == along && layout.part != 0 ? layout.part : layout.box[d];
    tile.place[rank - 1 - d] = digit_of(layout, d, count, 0);
  }
  for (std::uint32_t d = 0; d < rank; ++d) {
    tile.box[d] = layout.box[d];
    tile.reach[d] = layout.spans(d) && layout.box[d] > 1 ? std::abs(layout.image_step[d]) : 0;
  }
  tile.along = digit_of(layout, layout.along, layout.chunks_along, problem.step(0, layout.along));
  if (layout.parts > 1) {
    tile.parts = 1;
    tile.along.step = std::int64_t{layout.part_elements} * layout.element_bytes;
    tile.along.image = layout.along_image();
  }
  tile.chunks = layout.chunks;
  tile.chunk = layout.chunk;
  tile.every = layout.every;
  tile.units = make_divider<params::Divider>(layout.line_units);
  tile.lines = layout.lines;
  tile.line_bytes = layout.line_bytes;
  tile.below = layout.below;
  tile.run_dimension = along;
  tile.inner = layout.run_elements / layout.box[along];
  tile.part_elements = layout.part_elements;
  tile.words = layout.words;
  tile.lanes_log = layout.lanes_log;
  tile.warps_log = layout.warps_log;
  tile.image_bytes = layout.image_bytes;
  tile.images = layout.images;
  tile.tiles = sat_cast<std::uint32_t>(layout.tiles);
  tile.tiles_per_cta = layout.tiles_per_cta;
  return tile;
}

class Pick final : public Family {
 public:
  Pick()
      : Family({.name = "pick",
                .summary = "moves bits to runs of memory word by word, from lines that come to shared "
                           "memory: tiles of any shape",
                .operation = {}}) {}

  void add_candidates(const Problem& problem, std::vector<Candidate>& candidates) const override {
    if (tmajit::layout_of(problem) == Layout::rows || !takes_lines(problem)) return;
    PickBoxes boxes(problem);
    std::vector<PerDimension> tried;
    tried.reserve(std::size(tunings));
    for (PickTuning tuning : tunings) {
      // What does not fit is made smaller, twice at most.
      for (int tries = 0; tries < 3; ++tries) {
        const PerDimension box = boxes.box(tuning);
        if (std::ranges::find(tried, box) != tried.end()) break;
        tried.push_back(box);
        if (const auto layout = pick_layout(problem, box)) {
          const PickFacts facts{.rank = problem.nest.rank,
                                .element_bytes = problem.element_bytes(0),
                                .wide_offsets = has_wide_offsets(problem, box, 16) ? 1U : 0U};
          Candidate one = candidate(facts, problem.nest, {.box = box, .threads = pick_threads});
          one.layout = std::make_shared<const PickLayout>(*layout);
          add_once(candidates, std::move(one), !is_small(problem) && !repeats(problem));
          break;
        }
        (tuning.source_run > tuning.destination_run ? tuning.source_run : tuning.destination_run) /= 2;
        tuning.tile_bytes /= 2;
      }
    }
  }

  [[nodiscard]] Footprint footprint(const Candidate& candidate, const Problem& problem) const override {
    const PickLayout& layout = layout_of(candidate);
    const auto tiles = static_cast<double>(layout.tiles);
    const std::uint64_t words = std::uint64_t{layout.runs} * layout.parts * layout.words;
    const std::uint32_t in_word = std::max(4 / layout.element_bytes, 1U);
    const double entries =
        static_cast<double>(layout.chunks) + layout.lines + std::uint64_t{layout.words} * in_word;
    // Where a run begins or ends within a word, the lanes beside wait while its elements are stored one by
    // one.
    const bool cut_words = problem.alignment(0, layout.rank - 1) < 4;
    const double ends = cut_words ? 2.0 * layout.runs * in_word * (1U << layout.lanes_log) : 0;
    return {.box = layout.box,
            .threads = candidate.tile.threads,
            .tiles_per_cta = layout.tiles_per_cta,
            .dynamic_shared_bytes = layout.bytes,
            .most_dynamic_shared_bytes = most_pick_bytes,
            .registers = 64,
            .bytes_in_flight = elements_of(layout.box, layout.rank) * layout.element_bytes,
            .rounds = layout.tiles_per_cta,
            .passes = static_cast<std::uint32_t>(
                ceil_div(words * layout.tiles_per_cta, std::uint64_t{pick_threads} * words_at_once)),
            .work = {.end = tiles * ends,
                     .picked_word = tiles * static_cast<double>(words),
                     .wavefront = tiles * static_cast<double>(words) * in_word * layout.banks_taken,
                     .line_unit = tiles * layout.lines * layout.line_units,
                     .entry = tiles / layout.tiles_per_cta * entries}};
  }

  [[nodiscard]] KernelChoice choice(const Candidate& candidate) const override {
    return {.family = name(), .tile = candidate.tile.box, .threads = candidate.tile.threads};
  }
  [[nodiscard]] std::string why(const Candidate& candidate, const Problem& /*problem*/) const override {
    const PickLayout& layout = layout_of(candidate);
    return fmt::format(
        "The source is contiguous in dimension {}, the destination in dimension {}: lines of the source meet "
        "in shared "
        "memory, and words of runs of {} elements are picked from there.",
        layout.source_order[layout.rank - 1], layout.rank - 1, layout.run_elements);
  }
  [[nodiscard]] std::vector<std::string> rewrites(const Candidate& candidate) const override {
    const CanonicalNest& nest = candidate.nest;
    const auto& strides = nest.operand[0].strides;
    std::uint32_t first = nest.rank - 1;
    while (first > 0 && candidate.tile.box[first] == nest.shape[first] &&
           strides[first - 1] == strides[first] * static_cast<std::int64_t>(nest.shape[first])) {
      --first;
    }
    return run_rewrite(first, nest.rank);
  }

  void bind(const Candidate& candidate, const Problem& problem, ParameterBlock& parameters,
            LaunchShape& shape) const override {
    const auto facts = facts_of<PickFacts>(candidate);
    const TileCounts counts = tile_counts(problem.nest, candidate.tile.box, facts.rank);
    add_views(parameters, shape, problem, candidate.nest, facts.rank, counts);
    const PickLayout& layout = layout_of(candidate);
    shape.grid = grid_of(ceil_div(layout.tiles, std::uint64_t{layout.tiles_per_cta}));
    with_rank(facts.rank, [&](auto r) {
      parameters.add({"params::PickTile", r}, "plan", tile_of<r>(layout, problem));
    });
  }

  [[nodiscard]] SourceParts source(const Candidate& candidate,
                                   std::string_view /*expression*/) const override {
    const auto facts = facts_of<PickFacts>(candidate);
    SourceParts parts{
        .why =
            "Whole lines of the source come to shared memory by asynchronous copies, and words of the "
            "destination are picked from there element by element: dimensions of any length fill a tile. The "
            "copy "
            "engine is not used: its boxes would be mostly empty.",
        .element_bytes = facts.element_bytes,
        .most_threads = pick_threads,
        .least_ctas = 4,
        .call = "pick_tiles(views, plan)"};
    parts.facts = number_fact("rank", facts.rank) + offset_fact(facts.wide_offsets);
    parts.facts += number_fact("element_bytes", facts.element_bytes);
    return parts;
  }

  void classify(const Candidate& /*candidate*/, const Problem& problem, ShapeClass& shape) const override {
    const PerDimension order = farthest_first(problem.nest, 1, problem.nest.rank);
    shape.column = log2_of(problem.nest.shape[order[problem.nest.rank - 1]]);
  }
};

}  // namespace

const Family& pick_family() {
  static const Pick family;
  return family;
}

TMAJIT_END
