#include "families/list.hpp"
#include "families/shared/blocks.hpp"

#include <algorithm>

#include <spdlog/fmt/fmt.h>

TMAJIT_BEGIN
namespace {

constexpr BlockTuning direct_tunings[] = {
    {.destination_run = 256, .source_run = 256},
    {.destination_run = 128, .source_run = 128},
    {.destination_run = 128, .source_run = 64},
    {.destination_run = 128, .source_run = 128, .vector_bytes = 8},
    {.destination_run = 128, .source_run = 64, .vector_bytes = 8},
    {.destination_run = 64, .source_run = 64, .vector_bytes = 8},
    {.destination_run = 64, .source_run = 32, .vector_bytes = 8},
};
/// For small problems with elements of one byte. Blocks of 4 × 4 bytes in place of 8 × 8 take four times the
/// threads, and each thread waits for half as many loads.
constexpr BlockTuning word_tunings[] = {
    {.destination_run = 64, .source_run = 32, .vector_bytes = 4},
    {.destination_run = 32, .source_run = 32, .vector_bytes = 4},
};
/// Neighbouring threads load at least this much of a source line together: one sector of memory, and
/// `min_line_blocks` blocks.
constexpr std::uint32_t min_line_bytes = 32;
constexpr std::uint32_t min_line_blocks = 4;

class DirectTranspose final : public BlockFamily {
 public:
  DirectTranspose()
      : BlockFamily({.name = "direct_transpose",
                     .summary =
                         "moves whole blocks between two views whose contiguous dimensions differ, through "
                         "registers alone",
                     .operations = {"copy"}}) {}

  void add_candidates(const Problem& problem, std::vector<Candidate>& candidates) const override {
    if (layout_of(problem) != Layout::blocks) return;
    const bool small = is_small(problem);
    const BlockPlanner planner(problem);
    const auto add = [&](const BlockTuning& tuning, bool common) {
      if (tuning.vector_bytes < problem.element_bytes(0) || !planner.is_whole(tuning)) return;
      add_once(candidates, candidate(planner.facts(tuning), problem.nest), common);
    };
    const std::size_t first = candidates.size();
    if (small) add(direct_tuning(problem), true);
    if (first < candidates.size()) candidates[first].default_choice = DefaultChoice::yes;
    for (const BlockTuning& tuning : direct_tunings) add(tuning, !small);
    if (small && problem.element_bytes(0) == 1) {
      for (const BlockTuning& tuning : word_tunings) add(tuning, false);
    }
  }

  [[nodiscard]] std::string why(const Candidate& candidate, const Problem& /*problem*/) const override {
    const auto facts = facts_of<BlockFacts>(candidate);
    return fmt::format(
        "The source is contiguous in dimension {}, the destination in dimension {}: blocks are transposed in "
        "registers, "
        "and each thread stores its own block.",
        facts.column, facts.rank - 1);
  }

  [[nodiscard]] SourceParts source(const Candidate& candidate,
                                   std::string_view /*expression*/) const override {
    const auto facts = facts_of<BlockFacts>(candidate);
    SourceParts parts = parts_of(facts);
    parts.why =
        "Threads load, transpose and store blocks in registers alone: without shared memory and its "
        "barrier a small tensor is moved sooner. The copy engine cannot transpose.";
    parts.call = "transpose_directly(views)";
    parts.facts += block_function(facts, std::max(min_line_blocks, min_line_bytes / facts.vector_bytes()));
    return parts;
  }
};

}  // namespace

const Family& direct_transpose_family() {
  static const DirectTranspose family;
  return family;
}

TMAJIT_END
