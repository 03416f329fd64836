#include "families/linear/word_lines.hpp"

#include "families/shared/chunks.hpp"
#include "families/shared/lines_met.hpp"
#include "families/shared/views.hpp"
#include "spec/saturate.hpp"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <limits>
#include <span>

TMAJIT_BEGIN
namespace {

constexpr std::uint32_t most_lines = 32;
constexpr std::uint32_t most_elements = 32;  // of a thread's words that are accessed one by one
constexpr std::uint32_t image_alignment =
    16;  // of the contiguous tensor, which a warp accesses by 16 bytes a lane
// Shorter rows are moved as fast or faster by other kernels.
constexpr std::uint32_t least_columns = 32;               // if the elements of a line are no vector
constexpr std::uint32_t least_row_bytes = 17;             // if they are
constexpr std::uint32_t least_scattered_row_bytes = 128;  // of rows that are stored

/// Bytes of a word in one line; tunable.
constexpr std::uint32_t line_tunings[] = {8, 4, 16};
// Larger words have 4 bytes of a line: the more shared memory CTAs need, the fewer sectors the L1 cache holds
// for the next line.
constexpr std::uint32_t most_word_bytes = 64;

/// The facts of words with `line_bytes` bytes of each line, at least one element.
LinearFacts facts_of_lines(const Problem& problem, const LineSides& sides, std::uint32_t line_bytes) {
  const CanonicalNest& nest = problem.nest;
  const std::uint32_t column = sides.order[nest.rank - 2];
  LinearFacts facts{.type = static_cast<std::uint32_t>(type_in_chunks(problem, 0)),
                    .rank = nest.rank,
                    .lines = static_cast<std::uint32_t>(nest.shape[sides.order[nest.rank - 1]]),
                    .scatters = sides.contiguous == 0 ? 0U : 1U,
                    .wide_offsets = needs_wide_offsets(nest, sides.lined) ? 1U : 0U,
                    .sources = 1};
  facts.source[0] = facts.type;
  const std::uint32_t columns = line_bytes / facts.element_bytes();
  facts.word_elements = columns * facts.lines;
  facts.turns = facts.word_bytes() > most_word_bytes ? 2 : 1;
  facts.piece_bytes = 1U << std::countr_zero(image_alignment | facts.word_elements * facts.element_bytes());
  facts.set_ends(nest.shape[column], nest.rank - 1, true);
  const bool is_aligned =
      nest.shape[column] % columns == 0 && problem.alignment(sides.lined, column) >= line_bytes;
  facts.vectors = is_aligned ? 1 : 0;
  return facts;
}

/// Whether a kernel with these facts is possible, and worth its place. Words of up to 16 bytes are left to
/// other kernels of the family.
bool fits_lines(const Problem& problem, const LineSides& sides, const LinearFacts& facts) {
  const std::uint32_t bytes = facts.word_bytes();
  const std::uint32_t line_bytes = bytes / facts.lines;
  if (bytes <= 16 || facts.piece_bytes < 4 || (bytes > most_word_bytes && line_bytes > 4)) return false;
  const std::uint32_t column = sides.order[problem.nest.rank - 2];
  const std::uint64_t columns = problem.nest.shape[column];
  const bool has_long_rows =
      facts.vectors != 0 ? columns * facts.element_bytes() >= least_row_bytes
                         : columns >= least_columns && facts.word_elements * facts.turns <= most_elements;
  if (!has_long_rows) return false;
  // Parts of sectors are expensive to store, and `transpose` is as fast for wide elements.
  const bool scatters_well = facts.vectors != 0 && facts.element_bytes() <= 2 &&
                             columns * facts.element_bytes() >= least_scattered_row_bytes &&
                             problem.alignment(sides.lined, column) == 16;
  if (facts.scatters != 0 && !scatters_well) return false;
  return problem.nest.elements() >= facts.word_elements &&
         lines_of_access(problem, sides.lined, facts) <= max_memory_lines;
}

}  // namespace

std::optional<LineSides> line_sides(const Problem& problem, bool scatters) {
  const CanonicalNest& nest = problem.nest;
  if (nest.rank < 2 || !is_elementwise(problem) || !problem.reads_bits() || problem.sources() != 1 ||
      problem.numbers != 0 || problem.element_bytes(0) > 8 || problem.type[0] != problem.type[1])
    return std::nullopt;
  LineSides sides{.contiguous = scatters ? 1U : 0U, .lined = scatters ? 0U : 1U, .order = in_order()};
  if (scatters) sides.order = farthest_first(nest, 1, nest.rank, contiguous_dimension(problem, 1));
  const std::uint64_t lines = nest.shape[sides.order[nest.rank - 1]];
  const bool has_lines =
      lines > 1 && lines <= most_lines && nest.operand[sides.lined].strides[sides.order[nest.rank - 2]] == 1;
  if (!has_lines || problem.address[sides.contiguous] % image_alignment != 0 ||
      !is_contiguous(nest, sides.contiguous, sides.order))
    return std::nullopt;
  return sides;
}

bool is_contiguous(const CanonicalNest& nest, std::uint32_t operand, const PerDimension& order) noexcept {
  std::int64_t expected = 1;
  for (std::uint32_t k = nest.rank; k-- > 0;) {
    if (nest.operand[operand].strides[order[k]] != expected) return false;
    expected *= static_cast<std::int64_t>(nest.shape[order[k]]);
  }
  return true;
}

LineSides sides_of(const Problem& problem, const LinearFacts& facts) {
  return line_sides(problem, facts.scatters != 0).value();
}

std::vector<LinearFacts> line_facts(const Problem& problem) {
  std::vector<LinearFacts> all;
  for (const bool scatters : {false, true}) {
    const std::optional<LineSides> sides = line_sides(problem, scatters);
    if (!sides) continue;
    for (const std::uint32_t line_bytes : line_tunings) {
      if (line_bytes < problem.element_bytes(0)) continue;
      const LinearFacts facts = facts_of_lines(problem, *sides, line_bytes);
      if (fits_lines(problem, *sides, facts)) all.push_back(facts);
    }
    if (!all.empty()) break;
  }
  return all;
}

bool needs_wide_offsets(const CanonicalNest& nest, std::uint32_t operand) noexcept {
  std::uint64_t reach = 0;
  for (std::uint32_t d = 0; d < nest.rank; ++d) {
    const auto stride = static_cast<std::uint64_t>(std::abs(nest.operand[operand].strides[d]));
    reach = sat_add(reach, sat_mul(stride, nest.shape[d]));
  }
  return reach > std::numeric_limits<std::int32_t>::max();
}

double lines_of_access(const Problem& problem, std::uint32_t operand, const LinearFacts& facts) {
  const PerDimension order = facts.lines > 1 ? sides_of(problem, facts).order : in_order();
  const std::uint32_t rank = problem.nest.rank - (facts.lines > 1 ? 1 : 0);
  PerDimension walked{};  // dimensions of columns, the fastest first
  std::reverse_copy(order.begin(), order.begin() + rank, walked.begin());
  return lines_met(problem, operand, std::span(walked).first(rank), facts.columns(),
                   problem.nest.elements() / facts.lines);
}

std::uint32_t image_bytes(const LinearFacts& facts) {
  const std::uint32_t pieces = facts.word_elements * facts.element_bytes() / facts.piece_bytes;
  const std::uint32_t turns = facts.scatters != 0 ? facts.turns : 1;
  return turns * linear_threads * (pieces | 1U) * facts.piece_bytes;
}

TMAJIT_END
