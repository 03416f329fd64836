#include "families/list.hpp"
#include "families/shared/blocks.hpp"
#include "spec/saturate.hpp"

#include <tmajit/bank_conflicts.hpp>

#include <algorithm>
#include <array>

#include <spdlog/fmt/fmt.h>

TMAJIT_BEGIN
namespace {

constexpr std::uint32_t row_vector_bytes = 16;

struct RowsFacts {
  std::uint32_t element_bytes = 1;  ///< 16 if rows consist of whole vectors: each vector is one element
  std::uint32_t rank = 1;
  std::uint32_t turns = 1;  ///< vectors that a thread has in flight: 1 or `max_turns`
  Flag wide_offsets = 0;
  [[nodiscard]] bool whole() const noexcept { return element_bytes == row_vector_bytes; }
};

struct RowsChoice {
  PerDimension tile{};
  std::uint32_t threads = 0;
  static constexpr auto members() {
    return std::array{choice_box("tile", &RowsChoice::tile), choice_number("threads", &RowsChoice::threads)};
  }
  [[nodiscard]] std::string text() const { return fmt::format("{}, {} threads", box_text(tile), threads); }
};
constexpr std::uint32_t max_turns = 4;
constexpr std::uint32_t max_small_threads = 128;  // most threads of common kernels for small problems
constexpr std::uint32_t min_row_vectors = 8;      // a tile has this many along a row, if the row has them

struct RowsTuning {
  std::uint32_t threads;
  std::uint32_t turns;
  std::uint32_t source_run;  ///< contiguous bytes of a tile in the source, if short rows are adjacent there
};
constexpr RowsTuning rows_tunings[] = {
    {128, 2, 0}, {128, 1, 0}, {256, 1, 0}, {256, 2, 0},   {512, 1, 0},    {256, 4, 0},
    {128, 4, 0}, {64, 1, 0},  {32, 1, 0},  {256, 1, 512}, {256, 1, 1024}, {256, 1, 2048},
};
/// The most threads of any launch: with four vectors in flight a thread needs more registers.
constexpr std::uint32_t max_row_threads(std::uint32_t turns) {
  return turns == 1 ? 512 : 256;
}

/// The dimension along which the source's rows follow each other without a gap. The last dimension if there
/// is none.
std::uint32_t dense_dimension(const CanonicalNest& nest) {
  const auto& strides = nest.operand[1].strides;
  const auto end = strides.begin() + nest.rank - 1;
  const auto row = static_cast<std::int64_t>(nest.shape[nest.rank - 1]);
  return static_cast<std::uint32_t>(std::find(strides.begin(), end, row) - strides.begin());
}

/// A tile for the tuning's threads and turns.
PerDimension rows_box(const Problem& problem, const RowsTuning& tuning) {
  const CanonicalNest& nest = problem.nest;
  const std::uint32_t element_bytes = problem.element_bytes(0);
  const bool few = has_few_tiles(problem);
  PerDimension box{};
  const std::uint32_t unit = row_vector_bytes / element_bytes;
  const std::uint32_t row = nest.rank - 1;
  std::uint64_t remaining = std::uint64_t{tuning.threads} * tuning.turns;
  box[row] = side_of(ceil_div(nest.shape[row], unit), remaining, min_row_vectors, few) * unit;
  remaining /= box[row] / unit;
  const auto set_side = [&](std::uint32_t d, std::uint64_t wanted) {
    box[d] = side_of(nest.shape[d], std::max<std::uint64_t>(std::min(remaining, wanted), 1), 1, few);
    remaining /= box[d];
  };
  const std::uint32_t dense = dense_dimension(nest);
  if (dense < row) set_side(dense, tuning.source_run / (box[row] * element_bytes));
  for (std::uint32_t d = row; d-- > 0;) {
    if (d != dense) set_side(d, remaining);
  }
  return box;
}

class Rows final : public TypedFamily<RowsFacts, RowsChoice> {
 public:
  Rows()
      : TypedFamily(
            {.name = "rows",
             .summary = "moves vectors between two views that share their contiguous dimension, by loads and "
                        "stores of threads",
             .operations = {"copy"}}) {}

  void add_candidates(const Problem& problem, std::vector<Candidate>& candidates) const override {
    if (layout_of(problem) != Layout::rows) return;
    const std::size_t first = candidates.size();
    const CanonicalNest& nest = problem.nest;
    const std::uint32_t unit = row_vector_bytes / problem.element_bytes(0);
    const bool whole = nest.shape[nest.rank - 1] % unit == 0;
    RowsFacts facts{.element_bytes = whole ? row_vector_bytes : problem.element_bytes(0), .rank = nest.rank};
    for (const RowsTuning& tuning : rows_tunings) {
      RowsChoice choice{.tile = rows_box(problem, tuning)};
      const std::uint64_t vectors = elements_of(choice.tile, nest.rank) / unit;
      // Kernels have one turn or four. Two vectors a thread become one vector for twice as many threads.
      const bool one_turn = vectors <= max_row_threads(1) && vectors <= 2 * std::uint64_t{tuning.threads};
      facts.turns = one_turn ? 1 : max_turns;
      choice.threads = static_cast<std::uint32_t>(
          std::max<std::uint64_t>(round_up(ceil_div(vectors, facts.turns), warp_lanes), warp_lanes));
      facts.wide_offsets = has_wide_offsets(problem, choice.tile, 0) ? 1 : 0;
      add_once(candidates, candidate(facts, choice, nest),
               !is_small(problem) || (one_turn && choice.threads <= max_small_threads));
    }
    std::find_if(candidates.begin() + static_cast<std::ptrdiff_t>(first), candidates.end(),
                 [](const Candidate& one) { return one.common; })
        ->default_choice = DefaultChoice::yes;
  }

  [[nodiscard]] Footprint footprint(const Candidate& candidate, const Problem& problem) const override {
    const auto facts = facts_of<RowsFacts>(candidate);
    const auto& [tile, threads] = data(candidate).choice;
    const std::uint64_t bytes = elements_of(tile, facts.rank) * problem.element_bytes(0);
    const std::uint64_t at_once = std::uint64_t{threads} * row_vector_bytes * facts.turns;
    Footprint footprint{.box = tile, .threads = threads, .bytes_in_flight = std::min(bytes, at_once)};
    // Instructions of a thread, counted in the machine code of kernels of ranks 2 to 5.
    const double first = 7 + 35.0 * facts.rank;    // the tile, and the first vector
    const double further = 8 + 11.0 * facts.rank;  // each further vector
    footprint.instructions = static_cast<double>(tiles_of(footprint, candidate.nest)) * threads *
                             (first + further * (facts.turns - 1));
    return footprint;
  }

  [[nodiscard]] std::string why(const Candidate& /*candidate*/, const Problem& /*problem*/) const override {
    return "Both views are contiguous in the last dimension and aligned to 16 bytes: vectors are loaded and "
           "stored as "
           "they are.";
  }

  void bind(const Candidate& candidate, const Problem& problem, ParameterBlock& parameters,
            LaunchShape& shape) const override {
    const auto facts = facts_of<RowsFacts>(candidate);
    const Problem units = facts.whole() ? in_units(problem, row_vector_bytes) : problem;
    PerDimension box = data(candidate).choice.tile;
    std::uint32_t& row_elements = box[facts.rank - 1];
    row_elements = row_elements * problem.element_bytes(0) / facts.element_bytes;
    const TileCounts counts = tile_counts(units.nest, box, facts.rank);
    add_view_pair(parameters, units, facts.rank, counts);
    add_sides(parameters, facts.rank, box, row_vector_bytes / facts.element_bytes);
    shape.grid = grid_of(product(counts, facts.rank));
  }

  [[nodiscard]] SourceParts source(const Candidate& candidate,
                                   std::string_view /*expression*/) const override {
    const auto facts = facts_of<RowsFacts>(candidate);
    SourceParts parts{
        .why = "Both views are contiguous in the last dimension: vectors of 16 bytes are moved as they are.",
        .rank = facts.rank,
        .element_bytes = facts.whole() ? 0 : facts.element_bytes,
        .max_threads = max_row_threads(facts.turns),
        .call = "move_rows(views, sides)"};
    parts.facts = number_fact("rank", facts.rank) + offset_fact(facts.wide_offsets);
    parts.facts += number_fact("element_bytes", facts.element_bytes);
    parts.facts += number_fact("turns", facts.turns, "vectors that a thread has in flight");
    parts.facts += policy_fact("Edges", facts.whole() ? "WholeVectors" : "CutVectors");
    parts.facts += tile_index_fact(facts.rank, in_order());
    return parts;
  }
};

}  // namespace

const Family& rows_family() {
  static const Rows family;
  return family;
}

TMAJIT_END
