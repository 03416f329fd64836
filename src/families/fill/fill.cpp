#include "families/list.hpp"
#include "families/shared/chunks.hpp"

#include <array>

TMAJIT_BEGIN
namespace {

/// Tunable parameters: threads of a CTA, and chunks that each thread has in flight.
struct FillTuning {
  std::uint32_t threads;
  std::uint32_t turns;
};
constexpr std::array fill_tunings{FillTuning{256, 2}, FillTuning{256, 4}, FillTuning{256, 1},
                                  FillTuning{128, 4}, FillTuning{128, 1}, FillTuning{64, 1},
                                  FillTuning{32, 1}};

/// The facts for a tuning. They include the tile, which take_tile() moves to the choice.
ChunkFacts fill_facts(const Problem& problem, const FillTuning& tuning) {
  ChunkFacts facts = chunk_facts(problem);
  facts.turns = tuning.turns;
  set_tile_extents(facts, problem, std::uint64_t{tuning.threads} * tuning.turns, UINT64_MAX);
  facts.threads = chunk_threads(facts, tuning.threads);
  facts.wide_offsets = has_wide_offsets(problem, facts.box, facts.chunk) ? 1 : 0;
  return facts;
}

class Fill final : public TypedFamily<ChunkFacts, ChunkChoice> {
 public:
  Fill()
      : TypedFamily({.name = "fill",
                     .summary = "writes an expression of each element's coordinates; it has no input",
                     .operations = {"map"},
                     .computes = true,
                     .max_inputs = 0}) {}

  void add_candidates(const Problem& problem, std::vector<Candidate>& candidates) const override {
    if (problem.sources() != 0 || problem.expression().empty()) return;
    const std::size_t first = candidates.size();
    for (const FillTuning& tuning : fill_tunings) {
      ChunkFacts facts = fill_facts(problem, tuning);
      const ChunkChoice choice = take_tile(facts);
      add_once(candidates, candidate(facts, choice, problem.nest),
               facts.turns == (is_small(problem) ? 1U : 2U));
    }
    candidates[first].default_choice = DefaultChoice::yes;
  }

  [[nodiscard]] Footprint footprint(const Candidate& candidate, const Problem& /*problem*/) const override {
    const auto facts = with_tile<ChunkFacts>(candidate);
    // Nothing is loaded: the bytes that a CTA has in flight are those that it stores.
    return {
        .box = facts.box,
        .threads = facts.threads,
        .bytes_in_flight = std::uint64_t{facts.threads} * facts.turns * facts.chunk * facts.element_bytes};
  }

  [[nodiscard]] std::string why(const Candidate& /*candidate*/, const Problem& /*problem*/) const override {
    return "The expression reads no tensor: threads compute what they store.";
  }
  [[nodiscard]] std::vector<std::string> rewrites(const Candidate& candidate) const override {
    return chunk_rewrites(facts_of<ChunkFacts>(candidate));
  }

  void bind(const Candidate& candidate, const Problem& problem, ParameterBlock& parameters,
            LaunchShape& shape) const override {
    const auto facts = with_tile<ChunkFacts>(candidate);
    add_views(parameters, shape, problem, candidate.nest, facts.rank, chunk_tiles(facts, candidate.nest));
    add_sides(parameters, facts.rank, facts.box, facts.chunk);
  }

  [[nodiscard]] SourceParts source(const Candidate& candidate, std::string_view expression) const override {
    const auto facts = facts_of<ChunkFacts>(candidate);
    SourceParts parts{
        .why =
            "Threads compute and store chunks of a row. There is nothing for the copy engine to load, "
            "and results go from registers to memory without a stop in shared memory.",
        .max_threads = max_chunk_threads(facts),
        .call = "fill_tile(views, sides)"};
    add_chunk_parts(parts, facts, expression);
    parts.facts = chunk_fact_text(facts, {}, false);
    return parts;
  }

  void classify(const Candidate& candidate, const Problem& /*problem*/, ShapeClass& shape) const override {
    shape.staggered = facts_of<ChunkFacts>(candidate).staggered != 0;
  }
};

}  // namespace

const Family& fill_family() {
  static const Fill family;
  return family;
}

TMAJIT_END
