#include "families/list.hpp"
#include "families/shared/blocks.hpp"
#include "spec/saturate.hpp"

#include <algorithm>

TMAJIT_BEGIN
namespace {

constexpr std::uint32_t vector_bytes = 16;

struct RowsFacts {
  std::uint32_t element_bytes = 1;
  std::uint32_t rank = 1;
  std::uint32_t threads = 0;
  std::uint32_t turns = 1;  ///< vectors that a thread has in flight
  Flag wide_offsets = 0;
  Flag whole = 0;  ///< no vector is cut by an edge
  PerDimension box{};
};

struct RowsTuning {
  std::uint32_t threads;
  std::uint32_t turns;
  std::uint32_t source_run;  ///< bytes that a tile takes where short rows follow each other in the source
};
constexpr RowsTuning tunings[] = {
    {128, 2, 0}, {256, 1, 0}, {256, 2, 0}, {512, 1, 0},   {256, 4, 0},    {128, 4, 0},
    {128, 1, 0}, {64, 1, 0},  {32, 1, 0},  {256, 1, 512}, {256, 1, 1024}, {256, 1, 2048},
};

/// The dimension that goes on where the source's rows end; the last if there is none.
std::uint32_t after_row(const CanonicalNest& nest) {
  const auto& strides = nest.operand[1].strides;
  const auto end = strides.begin() + nest.rank - 1;
  const auto row = static_cast<std::int64_t>(nest.shape[nest.rank - 1]);
  return static_cast<std::uint32_t>(std::find(strides.begin(), end, row) - strides.begin());
}

RowsFacts rows_facts(const Problem& problem, const RowsTuning& tuning) {
  const CanonicalNest& nest = problem.nest;
  RowsFacts facts{.element_bytes = problem.element_bytes(0), .rank = nest.rank, .threads = tuning.threads};
  const std::uint32_t unit = vector_bytes / facts.element_bytes;
  std::uint64_t left = std::uint64_t{tuning.threads} * tuning.turns * unit;
  const auto take = [&](std::uint32_t d, std::uint64_t wanted) {
    const std::uint64_t most = std::max<std::uint64_t>(std::min(left, wanted), 1);
    const std::uint64_t whole = round_up(nest.shape[d], d + 1 == nest.rank ? unit : 1);
    facts.box[d] = static_cast<std::uint32_t>(std::min(whole, most));
    left /= facts.box[d];
  };
  const std::uint32_t row = nest.rank - 1;
  const std::uint32_t beside = after_row(nest);
  take(row, left);
  if (beside < row) take(beside, tuning.source_run / (facts.box[row] * facts.element_bytes));
  for (std::uint32_t d = row; d-- > 0;) {
    if (d != beside) take(d, left);
  }
  const std::uint64_t vectors = elements_of(facts.box, facts.rank) / unit;
  facts.whole = nest.shape[row] % unit == 0 ? 1 : 0;
  // What the tile needs, not what was allowed: else one kernel would have several keys.
  facts.turns = static_cast<std::uint32_t>(ceil_div(vectors, tuning.threads));
  facts.wide_offsets = has_wide_offsets(problem, facts.box, 0) ? 1 : 0;
  return facts;
}

class Rows final : public Family {
 public:
  Rows()
      : Family({.name = "rows",
                .summary =
                    "moves vectors between two views that share their contiguous dimension, by loads and "
                    "stores of threads",
                .operation = {}}) {}

  void add_candidates(const Problem& problem, std::vector<Candidate>& candidates) const override {
    if (layout_of(problem) != Layout::rows) return;
    const std::size_t first = candidates.size();
    for (const RowsTuning& tuning : tunings) {
      add_once(candidates, candidate(rows_facts(problem, tuning), problem.nest));
    }
    candidates[first].usual = Usual::yes;
  }

  [[nodiscard]] Footprint footprint(const Candidate& candidate, const Problem& /*problem*/) const override {
    const auto facts = facts_of<RowsFacts>(candidate);
    const std::uint64_t tile = elements_of(facts.box, facts.rank) * facts.element_bytes;
    const std::uint64_t at_once = std::uint64_t{facts.threads} * vector_bytes * facts.turns;
    return {.box = facts.box, .threads = facts.threads, .bytes_in_flight = std::min(tile, at_once)};
  }

  [[nodiscard]] KernelChoice choice(const Candidate& candidate) const override {
    const auto facts = facts_of<RowsFacts>(candidate);
    return {.family = name(), .tile = facts.box, .threads = facts.threads};
  }
  [[nodiscard]] std::string why(const Candidate& /*candidate*/, const Problem& /*problem*/) const override {
    return "Both views are contiguous in the last dimension and aligned to 16 bytes: vectors are loaded and "
           "stored as "
           "they are.";
  }

  void bind(const Candidate& candidate, const Problem& problem, ParameterBlock& parameters,
            LaunchShape& shape) const override {
    const auto facts = facts_of<RowsFacts>(candidate);
    const TileCounts counts = tile_counts(problem.nest, facts.box, facts.rank);
    add_view_pair(parameters, problem, facts.rank, counts);
    shape.grid = grid_of(product(counts, facts.rank));
  }

  [[nodiscard]] SourceParts source(const Candidate& candidate,
                                   std::string_view /*expression*/) const override {
    const auto facts = facts_of<RowsFacts>(candidate);
    SourceParts parts{
        .why = "Both views are contiguous in the last dimension: vectors of 16 bytes are moved as they are.",
        .element_bytes = facts.element_bytes,
        .call = "move_rows(views)"};
    parts.set("cut", facts.whole == 0);
    parts.facts += view_fact_text(facts.rank, facts.threads, facts.box, facts.wide_offsets);
    parts.facts += number_fact("element_bytes", facts.element_bytes);
    parts.facts += tile_order_fact(facts.rank, in_order(), 0, 1);
    PerDimension vectors = facts.box;
    vectors[facts.rank - 1] /= vector_bytes / facts.element_bytes;
    parts.facts += "// Vector n of the tile.\n";
    parts.facts += index_function("vector_index", digits_of(in_order(), vectors, facts.rank), facts.rank);
    return parts;
  }
};

}  // namespace

const Family& rows_family() {
  static const Rows family;
  return family;
}

TMAJIT_END
