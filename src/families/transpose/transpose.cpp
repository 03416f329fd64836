#include "families/list.hpp"
#include "families/transpose/tile_image.hpp"
#include "spec/saturate.hpp"

#include <tmajit/validate.hpp>

#include <algorithm>
#include <span>

#include <spdlog/fmt/fmt.h>

TMAJIT_BEGIN
namespace {

constexpr std::uint32_t wide_bytes = 16;
constexpr std::uint32_t narrow_bytes = 8;
// Tensors of fewer bytes have no candidates in the source's order, as all their tiles are in flight at once.
constexpr std::uint64_t min_ordered = 16 << 20;
constexpr std::size_t ordered_tunings = 2;  // the first of wide_tunings, which also have the source's order
constexpr std::uint32_t min_threads = 448;  // an SM must have registers for this many

// For tensors of up to this many bytes tiles are half as large, so that more of them are in flight.
constexpr std::uint64_t max_narrow_bytes = 512 << 10;

/// The tuning for small problems with blocks that an edge cuts.
BlockTuning small_tuning(const Problem& problem) {
  if (problem.element_bytes(0) < 4) return {.destination_run = 32, .source_run = 64, .vector_bytes = 8};
  if (problem.bytes_written() <= max_narrow_bytes) return {.destination_run = 32, .source_run = 64};
  return {.destination_run = 64, .source_run = 128};
}

/// Vectors of 8 bytes make blocks a quarter as large: small tensors have more blocks in flight, and kernels
/// compile sooner. An element of 8 bytes is a block by itself, and always aligned.
constexpr BlockTuning narrow_tunings[] = {
    {.destination_run = 128, .source_run = 128, .vector_bytes = 8},
    {.destination_run = 64, .source_run = 128, .vector_bytes = 8},
    {.destination_run = 128, .source_run = 64, .vector_bytes = 8},
    {.destination_run = 64, .source_run = 64, .vector_bytes = 8},
    {.destination_run = 64, .source_run = 32, .vector_bytes = 8},
    {.destination_run = 32, .source_run = 64, .vector_bytes = 8},
    {.destination_run = 32, .source_run = 32, .vector_bytes = 8},
};

class Transpose final : public BlockFamily {
 public:
  Transpose()
      : BlockFamily(
            {.name = "transpose",
             .summary =
                 "moves blocks between two views whose contiguous dimensions differ, through registers "
                 "and shared memory",
             .operations = {"copy"}}) {}

  void add_candidates(const Problem& problem, std::vector<Candidate>& candidates) const override {
    if (layout_of(problem) != Layout::blocks) return;
    const std::size_t first = candidates.size();
    const BlockPlanner planner(problem);
    const bool small = is_small(problem);
    const auto add = [&](const BlockFacts& facts, bool common) {
      // With short runs, a tile of many columns may exceed the shared memory of a CTA.
      if (TileImage(facts).bytes() > max_shared_bytes_per_cta) return;
      add_once(candidates, candidate(facts, problem.nest), common);
    };
    // Small problems have better kernels: direct_transpose where no block is cut, general for very few
    // elements.
    const bool is_default = !small || !(is_tiny_strided_copy(problem) || has_whole_blocks(problem));
    if (small) add(planner.facts(small_tuning(problem)), is_default);
    const auto add_other = [&](const BlockFacts& facts) { add(facts, !small); };
    if (fills_blocks(problem, contiguous_dimension(problem, 1), wide_bytes)) {
      for (const BlockTuning& tuning : wide_tunings) add_other(planner.facts(tuning));
      for (const BlockTuning& tuning : std::span(wide_tunings).first(ordered_tunings)) {
        add_source_order(problem, planner.facts(tuning), add_other);
      }
    }
    if (problem.element_bytes(0) <= narrow_bytes) {
      for (const BlockTuning& tuning : narrow_tunings) add_other(planner.facts(tuning));
    }
    if (first < candidates.size() && is_default) {
      candidates[first].default_choice =
          has_short_unaligned_rows(problem) ? DefaultChoice::fallback : DefaultChoice::yes;
    }
  }

  [[nodiscard]] Footprint footprint(const Candidate& candidate, const Problem& problem) const override {
    const auto facts = facts_of<BlockFacts>(candidate);
    Footprint footprint = BlockFamily::footprint(candidate, problem);
    footprint.static_shared_bytes = TileImage(facts).bytes();
    return footprint;
  }

  [[nodiscard]] std::string why(const Candidate& candidate, const Problem& /*problem*/) const override {
    const auto facts = facts_of<BlockFacts>(candidate);
    return fmt::format(
        "The source is contiguous in dimension {}, the destination in dimension {}: blocks are transposed in "
        "registers "
        "and meet in shared memory{}.",
        facts.column, facts.rank - 1, facts.staggered != 0 ? ", at any alignment" : "");
  }
  [[nodiscard]] std::vector<std::string> rewrites(const Candidate& candidate) const override {
    const auto facts = facts_of<BlockFacts>(candidate);
    std::vector<std::string> rewrites;
    if (facts.staggered != 0) rewrites.push_back(staggered_rewrite());
    if (facts.interleaved != 0) rewrites.push_back(interleaved_rewrite());
    return rewrites;
  }

  [[nodiscard]] SourceParts source(const Candidate& candidate,
                                   std::string_view /*expression*/) const override {
    const auto facts = facts_of<BlockFacts>(candidate);
    const TileImage image(facts);
    SourceParts parts = parts_of(facts);
    parts.set("cut", facts.whole == 0);  // an edge may cut a block
    parts.set("staggered", facts.staggered != 0);
    for (const std::uint32_t bytes : {8U, 16U})
      parts.set(fmt::format("vector{}", bytes), facts.vector_bytes() == bytes);
    parts.why =
        "Threads load vectors along the source's lines and transpose them in registers. The copy engine is "
        "not "
        "used: it cannot transpose, and here loads of threads reach the memory's speed.";
    // Threads load by words. Without this bound ptxas would save registers, and issue some loads only after
    // others have completed.
    parts.min_ctas = static_cast<std::uint32_t>(ceil_div(min_threads, facts.threads));
    parts.call = "transpose_tile(views)";
    parts.facts +=
        number_fact("swizzle", image.best_swizzle(), "banks from one block of a column to the next");
    const bool interleaved = facts.interleaved != 0;
    parts.facts += policy_fact("Lines", facts.alignment >= facts.vector_bytes() ? "AlignedLines"
                                        : interleaved                           ? "OwnLines"
                                        : facts.alignment == 8                  ? "LinesBy8"
                                        : facts.alignment == 4                  ? "LinesBy4"
                                                                                : "LinesAnywhere");
    const bool by_words = !interleaved && facts.alignment < 4;
    if (facts.whole == 0) {
      parts.facts += policy_fact("Edges", interleaved ? "OwnEdges" : by_words ? "WordEdges" : "SharedEdges");
    }
    parts.facts += number_fact("before", facts.staggered, "blocks of a row before the tile");
    if (interleaved) parts.facts += number_fact("source_alignment", facts.alignment, "bytes");
    parts.facts +=
        number_fact("image_vectors", image.bytes() / facts.vector_bytes(), "of the tile in shared memory");
    parts.facts += extent_fact("image_step", std::span(image.step()).first(facts.rank),
                               "vectors from one index to the next");
    parts.facts += number_fact("block_count", image.block_count());
    parts.facts += number_fact("stored_vectors", image.vector_count());
    const auto blocks = digits_of(facts.source_order, image.blocks(), facts.rank);
    parts.facts += "// Block n of the tile, in the order of the source's memory.\n";
    parts.facts += index_function("block_index", blocks, facts.rank);
    const auto vectors = digits_of(in_order(), image.vectors(), facts.rank);
    parts.facts += "// Vector n of the tile, in the order of the destination's.\n";
    parts.facts += index_function("vector_index", vectors, facts.rank);
    return parts;
  }

 private:
  /// Adds the same kernel with tiles in the source's order, if that differs from the destination's.
  static void add_source_order(const Problem& problem, BlockFacts facts, const auto& add) {
    if (problem.bytes_written() < min_ordered) return;
    const PerDimension order = tile_dimensions(facts);
    facts.order = TileOrder::source;
    if (!std::equal(order.begin(), order.begin() + facts.rank, facts.source_order.begin())) add(facts);
  }
};

}  // namespace

const Family& transpose_family() {
  static const Transpose family;
  return family;
}

TMAJIT_END
