#include "families/gather/gather_layout.hpp"
#include "families/list.hpp"
#include "families/shared/blocks.hpp"
#include "families/shared/line_image.hpp"
#include "spec/saturate.hpp"

#include <algorithm>
#include <cstdlib>
#include <numeric>

#include <spdlog/fmt/fmt.h>
#include <spdlog/fmt/ranges.h>

TMAJIT_BEGIN
namespace {

constexpr std::uint32_t unit = 16;  // bytes

constexpr GatherTuning tunings[] = {
    {256, 128}, {256, 256}, {512, 128}, {128, 256}, {128, 128}, {1024, 64}, {128, 64}, {64, 64},
};

/// The facts of the table of places, and of where the line or run with an index begins.
std::string place_facts(const GatherFacts& facts, const GatherLayout& layout) {
  PerDimension of_run{};
  PerDimension reach{};
  std::int64_t below = 0;
  for (std::uint32_t k = 0; k < facts.rank; ++k) {
    const std::uint32_t d = facts.source_order[k];
    of_run[d] = d < facts.run_dimension ? 0 : facts.box[d];
    if (k < facts.rank - facts.line_dimensions) continue;
    reach[d] = static_cast<std::uint32_t>(std::abs(facts.image_step[d]));
    if (facts.image_step[d] < 0) below += std::int64_t{reach[d]} * (facts.box[d] - 1);
  }
  std::string out = "// The table of places.\n";
  out += number_fact("places", layout.places);
  out += number_fact("place_pitch", layout.place_pitch);
  out += number_fact("below", static_cast<std::uint64_t>(below),
                     "bytes of a line before its element of index 0");
  out += "// Where element n of a run lies, from where the run begins.\n";
  out += "__device__ __forceinline__ i32 place(u32 n) {\n";
  out += fmt::format("  i32 at = {};\n", below);
  out +=
      take_apart(digits_of(in_order(), of_run, facts.rank), [&](const Digit& digit, std::string_view value) {
        std::string line = fmt::format("  at += static_cast<i32>({}) * {}", value, facts.image_step[digit.d]);
        if (digit.d == facts.skewed) line += fmt::format(" + {} / {} * 16", value, facts.skew_every);
        return line + ";\n";
      });
  out += "  return at;\n}\n";
  return out +
         extent_fact("line_reach", std::span(reach).first(facts.rank), "bytes from index to index of a line");
}

LineImage image_of(const GatherFacts& facts) {
  return {.box = facts.box,
          .step = facts.image_step,
          .rank = facts.rank,
          .run_dimension = facts.run_dimension,
          .skewed = facts.skewed,
          .skew_every = std::max(facts.skew_every, 1U)};
}

class Gather final : public Family {
 public:
  Gather()
      : Family({.name = "gather",
                .summary = "moves bits to runs of memory that several dimensions make up, most of them short",
                .operations = {"copy"},
                .operation = {}}) {}

  void add_candidates(const Problem& problem, std::vector<Candidate>& candidates) const override {
    if (layout_of(problem) == Layout::rows || !takes_gather(problem)) return;
    const std::size_t first = candidates.size();
    for (GatherTuning tuning : tunings) {
      // What does not fit is made smaller, twice at most.
      for (int tries = 0; tries < 3; ++tries) {
        if (const auto facts = plan_gather(problem, tuning)) {
          add_once(candidates, candidate(*facts, problem.nest), !is_tiny(problem));
          break;
        }
        (tuning.source_run > tuning.destination_run ? tuning.source_run : tuning.destination_run) /= 2;
      }
    }
    const bool suits = layout_of(problem) != Layout::blocks || has_short_unaligned_rows(problem);
    if (suits && !is_tiny(problem) && first < candidates.size()) candidates[first].usual = Usual::yes;
  }

  [[nodiscard]] Footprint footprint(const Candidate& candidate, const Problem& problem) const override {
    const auto facts = facts_of<GatherFacts>(candidate);
    const GatherLayout layout(facts);
    const auto tiles =
        static_cast<double>(product(tile_counts(problem.nest, facts.box, facts.rank), facts.rank));
    const std::uint64_t vectors = std::uint64_t{layout.runs} * layout.parts * layout.slots;
    const std::uint64_t units = std::uint64_t{layout.line_count} * (facts.line_bytes / unit + 1);
    const auto of_warps = std::min(1.0, 32.0 / (static_cast<double>(layout.slots) * layout.parts));
    Work work{.picked = tiles * static_cast<double>(vectors),
              .pick = tiles * static_cast<double>(vectors) * facts.vector(),
              .entry = tiles * layout.places,
              .image_unit = tiles * static_cast<double>(units)};
    // A thread keeps the places of a slot while it goes from run to run, where all lie alike in their
    // vectors.
    const std::uint64_t rows =
        std::max<std::uint64_t>(facts.threads / (layout.warps_along * layout.slots_along), 1);
    const std::uint64_t runs = std::uint64_t{layout.runs} * layout.parts;
    work.lookup = facts.same_alignment != 0
                      ? tiles * static_cast<double>(std::min(runs, rows) * layout.slots * facts.vector())
                      : work.pick;
    if (facts.alignment < unit) work.end = work.pick * of_warps;
    const LineImage image = image_of(facts);
    const std::int64_t across = layout.parts > 1 ? image.bytes_to(facts.run_dimension, facts.part)
                                                 : facts.image_step[facts.source_order[facts.rank - 1]];
    const auto slots = static_cast<std::uint32_t>(
        std::min<std::uint64_t>(ceil_div(layout.run_elements, facts.vector()), warp_lanes));
    const RunPlaces places(image,
                           LaneIndices(facts.box, facts.run_dimension, facts.rank, facts.vector(), slots));
    work.wavefront =
        work.pick * places.wavefronts(4, layout.slots_along, across) * std::max(facts.element_bytes / 4, 1U);
    return {.box = facts.box,
            .threads = facts.threads,
            .dynamic_shared_bytes = layout.bytes,
            .registers = 48,
            .bytes_in_flight = elements_of(facts.box, facts.rank) * facts.element_bytes,
            .passes = static_cast<std::uint32_t>(ceil_div(vectors, facts.threads)),
            .work = work};
  }

  [[nodiscard]] KernelChoice choice(const Candidate& candidate) const override {
    const auto facts = facts_of<GatherFacts>(candidate);
    return {.family = name(), .tile = facts.box, .threads = facts.threads};
  }
  [[nodiscard]] std::string why(const Candidate& candidate, const Problem& problem) const override {
    const auto facts = facts_of<GatherFacts>(candidate);
    return fmt::format(
        "Dimension {} is short: lines of the source meet in shared memory, and vectors of runs of {} "
        "elements are picked "
        "from there.",
        is_short(problem, facts.rank - 1) ? facts.rank - 1 : facts.column, GatherLayout(facts).run_elements);
  }
  [[nodiscard]] std::vector<std::string> rewrites(const Candidate& candidate) const override {
    const auto facts = facts_of<GatherFacts>(candidate);
    return run_rewrite(facts.run_dimension, facts.rank);
  }

  void bind(const Candidate& candidate, const Problem& problem, ParameterBlock& parameters,
            LaunchShape& shape) const override {
    const auto facts = facts_of<GatherFacts>(candidate);
    const TileCounts counts = tile_counts(problem.nest, facts.box, facts.rank);
    add_views(parameters, shape, problem, candidate.nest, facts.rank, counts);
  }

  [[nodiscard]] SourceParts source(const Candidate& candidate,
                                   std::string_view /*expression*/) const override {
    const auto facts = facts_of<GatherFacts>(candidate);
    const GatherLayout layout(facts);
    const std::uint32_t along = facts.run_dimension;
    PerDimension of_runs{};
    for (std::uint32_t d = 0; d < along; ++d) of_runs[d] = facts.box[d];
    std::int64_t part_step = std::int64_t{facts.image_step[along]} * facts.part;
    if (along == facts.skewed) part_step += std::int64_t{facts.part / facts.skew_every} * unit;

    SourceParts parts{
        .why =
            "Dimensions are short: whole lines of the source come to shared memory by asynchronous "
            "copies, and vectors of the destination are picked from there element by element. The copy "
            "engine is not used: its boxes would be mostly empty.",
        .element_bytes = facts.element_bytes,
        .call = "gather_tile(views)"};
    std::string& out = parts.facts;
    out += view_fact_text(facts.rank, facts.threads, facts.box, facts.wide_offsets);
    out += number_fact("element_bytes", facts.element_bytes);
    out += "// Runs of the destination's memory, and the vectors of 16 bytes that they meet.\n";
    out += number_fact("run_dimension", along, "the outermost of a run");
    out += number_fact("run_elements", layout.run_elements);
    out += number_fact("inner", layout.run_elements / facts.box[along],
                       "elements from index to index of that dimension");
    out += number_fact("runs", layout.runs);
    out += index_function("run_index", digits_of(facts.source_order, of_runs, facts.rank), facts.rank);
    out += flag_fact("aligned", facts.alignment == unit, "runs begin at multiples of 16 bytes");
    out += flag_fact("same_alignment", facts.same_alignment != 0, "or equally far from them");
    out += number_fact("parts", layout.parts, "of a run, the same but for where they lie");
    out += signed_fact("part_step", part_step, "bytes of the image from part to part");
    out += number_fact("slots", layout.slots, "of a part");
    out += number_fact("slots_along", layout.slots_along, "of a warp");
    out += number_fact("warps_along", layout.warps_along);
    out += place_facts(facts, layout);
    out += "// Lines of the source's memory.\n";
    out += flag_fact("aligned_lines", facts.line_alignment == unit, "they begin at multiples of 16 bytes");
    out += number_fact("line_bytes", facts.line_bytes);
    out += number_fact("line_units", ceil_div(facts.line_bytes + unit - facts.line_alignment, unit),
                       "of 16 bytes that one meets");
    out += number_fact("line_count", layout.line_count);
    out += index_function("line_index", digits_of(facts.source_order, facts.lines, facts.rank), facts.rank);
    out += image_step_fact({.step = facts.image_step,
                            .rank = facts.rank,
                            .skewed = facts.skewed,
                            .skew_every = std::max(facts.skew_every, 1U)});
    out += number_fact("image_bytes", layout.image_bytes);
    return parts;
  }

  void classify(const Candidate& candidate, const Problem& problem, ShapeClass& shape) const override {
    shape.column = log2_of(problem.nest.shape[facts_of<GatherFacts>(candidate).column]);
  }
};

}  // namespace

const Family& gather_family() {
  static const Gather family;
  return family;
}

TMAJIT_END
