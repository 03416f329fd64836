#include "families/shared/blocks.hpp"

#include "spec/saturate.hpp"

#include <tmajit/bank_conflicts.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <vector>

#include <spdlog/fmt/fmt.h>
#include <spdlog/fmt/ranges.h>

TMAJIT_BEGIN
namespace {

constexpr std::uint32_t word_bytes = 4;
// Blocks of 16 × 16 bytes that are loaded in pieces cost additional instructions. These take time in moves of
// up to 64 MB, read and written together, and none in moves of 128 MB or more. The reason is unknown
// (docs/model.md).
constexpr double full_cost_bytes = 64e6;
constexpr double no_cost_bytes = 128e6;

/// Returns a tile's side along an extent: `most` (a multiple of `unit`), or 3/4 or 1/2 of it if much of the
/// last tile would be empty. A shorter extent is covered whole. With so few choices most extents share
/// kernels. Small problems have even fewer choices, because their extents change from call to call.
std::uint32_t tile_side(std::uint64_t extent, std::uint64_t most, std::uint64_t unit, const Problem& problem,
                        bool small) {
  const std::uint64_t units = ceil_div(std::min(extent, most), unit);
  if (small) {
    // For small problems, a half-empty tile costs almost nothing.
    const bool enough = is_tiny(problem) || units * 2 * unit > most;
    return static_cast<std::uint32_t>(enough ? most : std::bit_ceil(units) * unit);
  }
  if (extent <= most) return static_cast<std::uint32_t>(units * unit);
  // The extent that tiles cover, in eighths of the given extent.
  const auto covered_eighths = [&](std::uint64_t side) { return round_up(extent, side) * 8 / extent; };
  if (extent >= 8 * most) return static_cast<std::uint32_t>(most);  // wastes less than an eighth
  std::uint64_t best = most;
  std::uint64_t least = covered_eighths(most);
  for (const std::uint64_t side : {most / 4 * 3 / unit * unit, most / 2 / unit * unit}) {
    if (side == 0) continue;
    const std::uint64_t covered = covered_eighths(side);
    if (covered >= least) continue;
    least = covered;
    best = side;
  }
  return static_cast<std::uint32_t>(best);
}

/// Grows the tile along an operand's memory until its contiguous runs have `wanted` elements. It grows along
/// the contiguous dimension. If it covers all of that, it grows along the dimension that continues it in
/// memory. Along the two dimensions of blocks the tile grows by whole blocks.
void lengthen(BlockFacts& facts, const Problem& problem, std::uint32_t operand, const PerDimension& order,
              std::uint64_t wanted, bool small) {
  const CanonicalNest& nest = problem.nest;
  const auto& strides = nest.operand[operand].strides;
  std::uint64_t run = 1;
  std::int64_t expected = 1;
  for (std::uint32_t k = nest.rank; k-- > 0;) {
    const std::uint32_t d = order[k];
    if (strides[d] != expected) return;
    const bool has_blocks = d + 1 == facts.rank || d == facts.column;
    const std::uint64_t unit = has_blocks ? facts.vector : 1;
    const std::uint64_t side = round_up(std::max<std::uint64_t>(wanted / run, 1), unit);
    facts.box[d] = std::max(facts.box[d], tile_side(nest.shape[d], side, unit, problem, small));
    run *= facts.box[d];
    if (facts.box[d] < nest.shape[d] || run >= wanted) return;
    expected *= static_cast<std::int64_t>(nest.shape[d]);
  }
}

}  // namespace

BlockPlanner::BlockPlanner(const Problem& problem)
    : problem_(problem),
      small_(is_small(problem)),
      row_alignment_(problem.alignment(0, problem.nest.rank - 1)),
      common_{.element_bytes = problem.element_bytes(0),
              .rank = problem.nest.rank,
              .column = contiguous_dimension(problem, 1)} {
  line_alignment_ = problem.alignment(1, common_.column);
  common_.source_order = farthest_first(problem.nest, 1, common_.rank, common_.column);
  std::fill_n(common_.box.begin(), common_.rank, 1U);
}

bool BlockPlanner::is_whole(const BlockTuning& tuning) const noexcept {
  const auto& shape = problem_.nest.shape;
  const std::uint32_t vector = tuning.vector_bytes / common_.element_bytes;
  return row_alignment_ >= tuning.vector_bytes && line_alignment_ >= tuning.vector_bytes &&
         // NOLINTNEXTLINE(clang-analyzer-core.DivideZero): a vector has at least one element
         shape[common_.rank - 1] % vector == 0 && shape[common_.column] % vector == 0;
}

BlockFacts BlockPlanner::facts(const BlockTuning& tuning) const {
  BlockFacts facts = common_;
  facts.vector = tuning.vector_bytes / facts.element_bytes;
  lengthen(facts, problem_, 0, in_order(), tuning.destination_run / facts.element_bytes, small_);
  lengthen(facts, problem_, 1, facts.source_order, tuning.source_run / facts.element_bytes, small_);

  const std::uint32_t row = facts.rank - 1;
  facts.staggered = row_alignment_ < tuning.vector_bytes ? 1 : 0;
  facts.whole = is_whole(tuning) ? 1 : 0;
  facts.interleaved = facts.whole == 0 && problem_.interleaved[1] ? 1 : 0;
  // Only these alignments have kernels of their own: with more of them, kernels would hardly be faster.
  facts.alignment = line_alignment_ >= tuning.vector_bytes ? tuning.vector_bytes
                    : line_alignment_ >= 8 && !small_      ? 8U
                    : line_alignment_ >= word_bytes        ? word_bytes
                    : facts.interleaved != 0               ? facts.element_bytes
                                                           : 1;

  // Staggered rows have one block more than aligned ones.
  std::uint64_t blocks = ceil_div(facts.box[row], facts.vector) + facts.staggered;
  for (std::uint32_t d = 0; d < row; ++d) {
    blocks *= d == facts.column ? ceil_div(facts.box[d], facts.vector) : facts.box[d];
  }
  // The CTA has a thread for each block, if these are at most a quarter more than the tuning's threads.
  const std::uint64_t most = tuning.threads + tuning.threads / 4;
  facts.threads =
      static_cast<std::uint32_t>(round_up(blocks, 32) <= most ? round_up(blocks, 32) : tuning.threads);
  facts.wide_offsets = has_wide_offsets(problem_, facts.box, facts.vector) ? 1 : 0;
  return facts;
}

std::string BlockChoice::text() const {
  std::string text = box_text(tile);
  if (vector_bytes == 8 || vector_bytes == 4) text += fmt::format(" by {}", vector_bytes);
  text += fmt::format(", {} threads", threads);
  if (order == static_cast<std::uint32_t>(TileOrder::source)) text += ", source order";
  return text;
}

BlockTuning direct_tuning(const Problem& problem) noexcept {
  switch (problem.element_bytes(0)) {
    case 1: return {.destination_run = 64, .source_run = 32, .vector_bytes = 8};
    case 2: return {.destination_run = 64, .source_run = 64, .vector_bytes = 8};
    default: return {.destination_run = 128, .source_run = 128};
  }
}

bool has_whole_blocks(const Problem& problem) {
  return layout_of(problem) == Layout::blocks && BlockPlanner(problem).is_whole(direct_tuning(problem));
}

PerDimension tile_dimensions(const BlockFacts& facts) noexcept {
  return facts.order == TileOrder::source ? facts.source_order : in_order();
}

std::string tile_index_fact(std::uint32_t rank, const PerDimension& dimensions) {
  std::string out = "// The tile of CTA n: its index in each dimension.\n";
  out +=
      "__device__ __forceinline__ void tile_index(const params::Divider (&tiles)[rank], u32 n, u32 "
      "(&index)[rank]) {\n";
  for (std::uint32_t k = rank; k-- > 0;) {
    const std::uint32_t d = dimensions[k];
    out += fmt::format("  index[{}] = {};\n", d,
                       k == 0 ? std::string("n") : fmt::format("take(tiles[{}], n)", d));
  }
  return out + "}\n";
}

std::string block_fact_text(const BlockFacts& facts) {
  std::string out = view_fact_text(facts.rank, facts.threads, facts.box, facts.wide_offsets);
  out += number_fact("element_bytes", facts.element_bytes);
  out += number_fact("row", facts.rank - 1, "contiguous in the destination");
  return out + number_fact("column", facts.column, "contiguous in the source");
}

std::string block_function(const BlockFacts& facts, std::uint32_t line_blocks) {
  const std::uint32_t row = facts.rank - 1;
  const std::uint32_t chunks = facts.box[facts.column] / facts.vector;
  while (chunks % line_blocks != 0) line_blocks /= 2;
  std::vector<Digit> digits{{facts.column, line_blocks, facts.vector},
                            {row, facts.box[row] / facts.vector, facts.vector},
                            {facts.column, chunks / line_blocks, facts.vector * line_blocks}};
  for (std::uint32_t d = row; d-- > 0;) {
    if (d != facts.column) digits.push_back({d, facts.box[d], 1});
  }
  std::uint32_t blocks = 1;
  for (const Digit& digit : digits) blocks *= digit.count;
  return number_fact("blocks", blocks, "of a tile") + "// Block n of the tile.\n" +
         index_function("block_index", digits, facts.rank);
}

std::uint64_t block_tile_bytes(const BlockFacts& facts) noexcept {
  return elements_of(facts.box, facts.rank) * facts.element_bytes;
}

std::uint32_t block_registers(const BlockFacts& facts) noexcept {
  const bool by_bytes = facts.element_bytes == 1 && facts.alignment < word_bytes;
  if (facts.vector_bytes() <= 8) return by_bytes ? 48 : 32;
  if (facts.element_bytes == 1) return by_bytes && facts.threads < 256 ? 120 : 96;
  return facts.element_bytes == 2 ? 72 : 40;
}

Footprint block_footprint(const BlockFacts& facts, const Problem& problem, bool by_engine) {
  const std::uint32_t row = facts.rank - 1;
  const bool staggered = facts.staggered != 0;
  Footprint footprint{.box = facts.box,
                      .threads = facts.threads,
                      .registers = block_registers(facts),
                      .bytes_in_flight = block_tile_bytes(facts),
                      .by_engine = by_engine,
                      .stagger = staggered ? facts.vector - 1 : 0,
                      .store_bytes = staggered ? facts.vector_bytes() : 0,
                      .order = tile_dimensions(facts)};
  const std::uint64_t row_blocks = ceil_div(facts.box[row], facts.vector);
  const std::uint64_t column_blocks = ceil_div(facts.box[facts.column], facts.vector);
  const std::uint64_t planes = elements_of(facts.box, facts.rank) / facts.box[row] / facts.box[facts.column];
  const auto turns = [&](std::uint64_t n) { return static_cast<std::uint32_t>(ceil_div(n, facts.threads)); };
  footprint.rounds = by_engine ? 1 : turns((row_blocks + facts.staggered) * column_blocks * planes);
  footprint.passes = turns(row_blocks * facts.box[facts.column] * planes);

  const std::uint64_t extent = problem.nest.shape[row] + footprint.stagger;
  const auto tiles = static_cast<double>(ceil_div(extent, facts.box[row]));
  const double columns = static_cast<double>(problem.nest.shape[facts.column]);
  const double rows =
      static_cast<double>(problem.nest.elements()) / static_cast<double>(problem.nest.shape[row]) / columns;
  const double row_vectors = parts_of_extent(extent, facts.box[row], facts.vector);
  const double vectors = row_vectors * columns * rows;
  const double blocks =
      (row_vectors + facts.staggered * tiles) *
      parts_of_extent(problem.nest.shape[facts.column], facts.box[facts.column], facts.vector) * rows;
  const double lines = blocks * facts.vector;
  const double words = facts.vector_bytes() / 4.0;
  const bool unaligned = !by_engine && facts.alignment < word_bytes;
  // Instructions of a thread, fitted to measurements (docs/model.md).
  constexpr double per_load = 18.2;     // load of a line of a block, with its address
  constexpr double per_permute = 9.08;  // 4 bytes whose elements are permuted in registers
  constexpr double per_shift = 19.2;    // 4 bytes of a vector that is shifted before its store
  constexpr double per_piece = 30.9;    // 4 bytes of a line of 16 bytes that is loaded in pieces (below)
  constexpr double per_end = 15.1;      // element at a row's end, which is stored while its warp waits
  const double loads =
      lines * (by_engine   ? 0.5  // a load from shared memory costs half
               : unaligned ? words + 1
                           : std::max(1.0, static_cast<double>(facts.vector_bytes()) / facts.alignment));
  const double permuted = lines * words * (facts.element_bytes == 1 ? 2 : facts.element_bytes == 2 ? 1 : 0);
  footprint.instructions = per_load * loads + per_permute * permuted;
  // Blocks of 16 × 16 bytes leave an SM few warps, each with many loads. Moves of up to
  // full_cost_bytes take this time in full, and moves of no_cost_bytes or more take none of it.
  if (!by_engine && facts.element_bytes == 1 && facts.vector == 16 && facts.alignment < 16) {
    const auto moved = static_cast<double>(problem.bytes_read() + problem.bytes_written());
    const double cost_share =
        std::clamp((no_cost_bytes - moved) / (no_cost_bytes - full_cost_bytes), 0.0, 1.0);
    footprint.instructions += per_piece * cost_share * lines * words;
  }
  if (staggered) footprint.instructions += per_shift * vectors * (words + 2);
  if (staggered || problem.nest.shape[row] % facts.vector != 0) {
    // A warp that stores the end of a row waits for that store. If rows are long, few warps store a row's
    // end.
    const double warps = std::min(1.0, static_cast<double>(warp_lanes) / static_cast<double>(row_blocks));
    footprint.instructions +=
        per_end * vectors * facts.vector * warps * std::min(1.0, (staggered ? 2 : 1) / tiles);
  }
  return footprint;
}

Footprint BlockFamily::footprint(const Candidate& candidate, const Problem& problem) const {
  const auto facts = facts_of<BlockFacts>(candidate);
  Footprint footprint = block_footprint(facts, problem, false);
  const std::uint64_t at_once = std::uint64_t{facts.threads} * facts.vector_bytes() * facts.vector;
  footprint.bytes_in_flight = std::min(footprint.bytes_in_flight, at_once);
  return footprint;
}

Candidate BlockFamily::candidate(const BlockFacts& facts, const CanonicalNest& nest) const {
  const BlockChoice choice{facts.box, facts.threads, facts.vector_bytes(),
                           static_cast<std::uint32_t>(facts.order)};
  return TypedFamily::candidate(facts, choice, nest);
}

void BlockFamily::bind(const Candidate& candidate, const Problem& problem, ParameterBlock& parameters,
                       LaunchShape& shape) const {
  const auto facts = facts_of<BlockFacts>(candidate);
  const std::uint32_t stagger = facts.staggered != 0 ? facts.vector - 1 : 0;
  const TileCounts counts = tile_counts(problem.nest, facts.box, facts.rank, stagger);
  add_view_pair(parameters, problem, facts.rank, counts);
  shape.grid = grid_of(product(counts, facts.rank));
}

void BlockFamily::classify(const Candidate& candidate, const Problem& /*problem*/, ShapeClass& shape) const {
  shape.staggered = facts_of<BlockFacts>(candidate).staggered != 0;
}

SourceParts BlockFamily::parts_of(const BlockFacts& facts) {
  SourceParts parts{.rank = facts.rank, .element_bytes = facts.element_bytes};
  parts.facts = block_fact_text(facts);
  parts.facts += tile_index_fact(facts.rank, tile_dimensions(facts));
  parts.facts += number_fact("vector", facts.vector, "elements of a block's side");
  return parts;
}

TMAJIT_END
