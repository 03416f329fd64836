#include "families/list.hpp"
#include "families/shared/source_lines.hpp"
#include "families/weave/weave_boxes.hpp"
#include "families/weave/weave_layout.hpp"
#include "spec/saturate.hpp"

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include <spdlog/fmt/fmt.h>

TMAJIT_BEGIN
namespace {

constexpr WeaveTuning tunings[] = {
    {256, 256, 16 << 10}, {256, 256, 32 << 10}, {512, 128, 16 << 10}, {128, 512, 16 << 10},
    {512, 256, 32 << 10}, {256, 128, 8 << 10},  {128, 256, 8 << 10},  {128, 128, 8 << 10},
    {256, 64, 16 << 10},  {64, 256, 16 << 10},
};

/// The layout of a candidate, which was worked out when it was added.
const WeaveLayout& layout_of(const Candidate& candidate) {
  return *static_cast<const WeaveLayout*>(candidate.layout.get());
}

/// The box where `use` says so, else one index.
PerDimension counts_of(const WeaveFacts& facts, const auto& use) {
  PerDimension counts{};
  for (std::uint32_t d = 0; d < facts.rank; ++d) counts[d] = use(d) ? facts.box[d] : 1;
  return counts;
}

class Weave final : public Family {
 public:
  Weave()
      : Family({.name = "weave",
                .summary = "moves blocks between lines of the source and runs of the destination, either of "
                           "which several dimensions may make up",
                .operations = {"copy"},
                .operation = {}}) {}

  void add_candidates(const Problem& problem, std::vector<Candidate>& candidates) const override {
    if (tmajit::layout_of(problem) == Layout::rows || !takes_lines(problem)) return;
    WeaveBoxes boxes(problem);
    std::vector<PerDimension> tried;
    tried.reserve(std::size(tunings));
    for (WeaveTuning tuning : tunings) {
      // What does not fit is made smaller, twice at most.
      for (int tries = 0; tries < 3; ++tries) {
        const PerDimension box = boxes.box(tuning);
        if (std::ranges::find(tried, box) != tried.end()) break;
        tried.push_back(box);
        if (const auto layout = weave_layout(problem, box)) {
          Candidate one = candidate(layout->facts, problem.nest);
          one.layout = std::make_shared<const WeaveLayout>(*layout);
          add_once(candidates, std::move(one), !is_small(problem) && !repeats(problem));
          break;
        }
        (tuning.source_run > tuning.destination_run ? tuning.source_run : tuning.destination_run) /= 2;
        tuning.tile_bytes /= 2;
      }
    }
  }

  [[nodiscard]] Footprint footprint(const Candidate& candidate, const Problem& /*problem*/) const override {
    const WeaveLayout& layout = layout_of(candidate);
    const WeaveFacts& facts = layout.facts;
    const auto tiles = static_cast<double>(layout.tiles);
    const std::uint64_t blocks = std::uint64_t{facts.strips} * facts.lanes * facts.groups() * facts.others;
    const std::uint32_t loads = facts.image_alignment < 4
                                    ? facts.group_bytes / 4 + 1
                                    : std::max(facts.group_bytes / facts.image_alignment, 1U);
    const std::uint64_t ends = facts.element_bytes < 4 ? std::uint64_t{facts.columns} * facts.others : 0;
    return {.box = facts.box,
            .threads = weave_threads,
            .tiles_per_cta = layout.tiles_per_cta,
            .dynamic_shared_bytes = layout.bytes,
            .registers = facts.element_bytes == 1 ? 80U : 64U,
            .bytes_in_flight = elements_of(facts.box, facts.rank) * facts.element_bytes,
            .rounds = layout.tiles_per_cta,
            .passes = static_cast<std::uint32_t>(
                ceil_div(blocks * layout.tiles_per_cta, std::uint64_t{weave_threads})),
            .work = {.wavefront =
                         tiles * static_cast<double>(blocks * facts.in_word()) * loads * layout.wavefronts,
                     .line_unit = tiles * facts.line_count * facts.line_units,
                     .entry = tiles / layout.tiles_per_cta * facts.run_elements,
                     .woven_block = tiles * static_cast<double>(blocks),
                     .woven_word = tiles * static_cast<double>(blocks * facts.in_group()),
                     .woven_end = tiles * static_cast<double>(ends)}};
  }

  [[nodiscard]] KernelChoice choice(const Candidate& candidate) const override {
    return {.family = name(), .tile = facts_of<WeaveFacts>(candidate).box, .threads = weave_threads};
  }
  [[nodiscard]] std::string why(const Candidate& candidate, const Problem& /*problem*/) const override {
    const auto facts = facts_of<WeaveFacts>(candidate);
    return fmt::format(
        "The source is contiguous in dimension {}, the destination in dimension {}: lines of {} elements of "
        "the "
        "source meet runs of {} of the destination in shared memory, and blocks of both are transposed in "
        "registers.",
        facts.source_order[facts.rank - 1], facts.rank - 1, facts.columns, facts.run_elements);
  }
  [[nodiscard]] std::vector<std::string> rewrites(const Candidate& candidate) const override {
    const auto facts = facts_of<WeaveFacts>(candidate);
    return run_rewrite(facts.run_dimension, facts.rank);
  }

  void bind(const Candidate& candidate, const Problem& problem, ParameterBlock& parameters,
            LaunchShape& shape) const override {
    const WeaveLayout& layout = layout_of(candidate);
    const WeaveFacts& facts = layout.facts;
    add_views(parameters, shape, problem, candidate.nest, facts.rank,
              tile_counts(problem.nest, facts.box, facts.rank));
    parameters.add({"u32"}, "tiles", sat_cast<std::uint32_t>(layout.tiles));
    shape.grid = grid_of(ceil_div(layout.tiles, std::uint64_t{layout.tiles_per_cta}));
  }

  [[nodiscard]] SourceParts source(const Candidate& candidate,
                                   std::string_view /*expression*/) const override {
    const auto facts = facts_of<WeaveFacts>(candidate);
    SourceParts parts{.why =
                          "Whole lines of the source come to shared memory by asynchronous copies; threads "
                          "take blocks from "
                          "there, transpose them in registers and store words of the destination. The copy "
                          "engine is not used: "
                          "it cannot transpose.",
                      .element_bytes = facts.element_bytes,
                      // Blocks of bytes are the largest: with fewer registers some would be spilled.
                      .least_ctas = facts.element_bytes == 1 ? 3U : 4U,
                      .call = "weave_tiles(views, tiles)"};
    parts.set("staggered", facts.staggered != 0);
    parts.set("fused", facts.fused != 0);
    parts.set("cut", facts.cut != 0);
    parts.set("unaligned", facts.image_alignment < 4);
    const auto indices = [&](std::string_view function, const PerDimension& order, const auto& use) {
      return index_function(function, digits_of(order, counts_of(facts, use), facts.rank), facts.rank);
    };
    const auto is = [&](WeaveSide side) {
      return [&facts, side](std::uint32_t d) { return facts.side[d] == side; };
    };
    std::string& out = parts.facts;
    out += view_fact_text(facts.rank, weave_threads, facts.box, facts.wide_offsets);
    out += number_fact("element_bytes", facts.element_bytes);
    out += "// Columns, which follow each other in the source's memory.\n";
    out += number_fact("columns", facts.columns);
    if (facts.cut != 0 || facts.fused == 0) {
      out += number_fact("column_dimension", facts.column_dimension, "the outermost of theirs");
    }
    out += number_fact("group_bytes", facts.group_bytes, "of columns that a thread takes at once");
    out += number_fact("groups_together", facts.groups_together, "that it takes one after the other");
    if (facts.fused != 0) out += indices("column_index", facts.source_order, is(WeaveSide::column));
    out += "// Runs of the destination's memory.\n";
    out += number_fact("run_elements", facts.run_elements);
    if (facts.cut != 0) out += number_fact("run_dimension", facts.run_dimension, "the outermost of a run");
    out += number_fact("words", facts.words, "that a run meets");
    out += number_fact("strips", facts.strips, "of words");
    out += number_fact("lanes", facts.lanes, "along a strip");
    out += indices("place_index", in_order(), is(WeaveSide::run));
    out += "// What neither has.\n";
    out += number_fact("others", facts.others);
    out += indices("other_index", facts.source_order, is(WeaveSide::other));
    out += "// Lines of the source's memory.\n";
    out += number_fact("line_bytes", facts.line_bytes);
    out += number_fact("line_units", facts.line_units, "of 16 bytes that one meets");
    out += number_fact("line_count", facts.line_count);
    out += indices("line_index", facts.source_order,
                   [&](std::uint32_t d) { return !facts.spans(d) && facts.image_step[d] != 0; });
    PerDimension reach{};
    for (std::uint32_t d = 0; d < facts.rank; ++d) {
      if (facts.spans(d) && facts.box[d] > 1)
        reach[d] = static_cast<std::uint32_t>(std::abs(facts.image_step[d]));
    }
    out +=
        extent_fact("line_reach", std::span(reach).first(facts.rank), "bytes of a line from index to index");
    out += image_step_fact(facts.image());
    out += number_fact("below", facts.below, "bytes of a line before its element of index 0");
    if (facts.image_alignment >= 4) {
      out += number_fact("image_alignment", facts.image_alignment, "bytes, of columns in the image");
    }
    out += number_fact("image_bytes", facts.image_bytes);
    out += number_fact("most_tiles", most_weave_tiles, "of a CTA");
    return parts;
  }

  void classify(const Candidate& candidate, const Problem& problem, ShapeClass& shape) const override {
    shape.column = log2_of(problem.nest.shape[facts_of<WeaveFacts>(candidate).column_dimension]);
  }
};

}  // namespace

const Family& weave_family() {
  static const Weave family;
  return family;
}

TMAJIT_END
