#include "families/linear/word_lines.hpp"

#include "families/shared/chunks.hpp"
#include "families/shared/lines_met.hpp"
#include "families/shared/views.hpp"
#include "kernel/facts_text.hpp"
#include "spec/saturate.hpp"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <limits>
#include <span>

#include <spdlog/fmt/fmt.h>

TMAJIT_BEGIN
namespace {

constexpr std::uint32_t most_lines = 32;
constexpr std::uint32_t most_run_elements = 16;
constexpr std::uint32_t most_run_word_bytes = 64;  // of the runs that a thread moves
constexpr std::uint32_t most_elements = 32;        // of a thread's words that are accessed one by one
constexpr std::uint32_t image_alignment =
    16;  // of the contiguous tensor, which a warp accesses by 16 bytes a lane
// Shorter rows are moved as fast or faster by other kernels.
constexpr std::uint32_t least_columns = 32;               // if the elements of a line are no vector
constexpr std::uint32_t least_row_bytes = 17;             // if they are
constexpr std::uint32_t least_scattered_row_bytes = 128;  // of rows that are stored

/// Bytes of a word in one line; tunable.
constexpr std::uint32_t line_tunings[] = {8, 4, 16};
constexpr std::uint32_t run_tunings[] = {4, 8, 2, 1};
// Larger words have 4 bytes of a line: the more shared memory CTAs need, the fewer sectors the L1 cache holds
// for the next line.
constexpr std::uint32_t most_word_bytes = 64;

/// The facts of words with `line_bytes` bytes of each line, at least one element.
LinearFacts facts_of_lines(const Problem& problem, const LineSides& sides, LineMove kind,
                           std::uint32_t line_bytes) {
  const CanonicalNest& nest = problem.nest;
  LinearFacts facts{.type = static_cast<std::uint32_t>(type_in_chunks(problem, 0)),
                    .rank = nest.rank,
                    .lines = static_cast<std::uint32_t>(nest.shape[sides.order[nest.rank - 1]]),
                    .line_move = kind,
                    .wide_offsets = needs_wide_offsets(nest, sides.strided) ? 1U : 0U,
                    .sources = 1};
  facts.source[0] = facts.type;
  facts.word_elements = line_bytes / facts.element_bytes() * facts.lines;
  facts.turns = kind != LineMove::spread && facts.word_bytes() > most_word_bytes ? 2 : 1;
  facts.set_ends(nest.shape[sides.order[nest.rank - 2]], nest.rank - 1, true);
  return facts;
}

/// Whether a kernel of exchanged words is possible, and worth its place. Sets the facts that depend on
/// alignment. Words of up to 16 bytes are left to other kernels of the family.
bool fits_exchange(const Problem& problem, const LineSides& sides, LinearFacts& facts) {
  const std::uint32_t bytes = facts.word_bytes();
  const std::uint32_t line_bytes = bytes / facts.lines;
  const std::uint32_t column = sides.order[problem.nest.rank - 2];
  const std::uint64_t columns = problem.nest.shape[column];
  const std::uint32_t alignment = problem.alignment(sides.strided, column);
  facts.piece_bytes = 1U << std::countr_zero(image_alignment | bytes);
  facts.vectors = columns % facts.columns() == 0 && alignment >= line_bytes ? 1 : 0;
  if (bytes <= 16 || facts.piece_bytes < 4 || (bytes > most_word_bytes && line_bytes > 4)) return false;
  const bool has_long_rows =
      facts.vectors != 0 ? columns * facts.element_bytes() >= least_row_bytes
                         : columns >= least_columns && facts.word_elements * facts.turns <= most_elements;
  if (!has_long_rows) return false;
  // Parts of sectors are expensive to store, and `transpose` is as fast for wide elements.
  const bool scatters_well = facts.vectors != 0 && facts.element_bytes() <= 2 && alignment == 16 &&
                             columns * facts.element_bytes() >= least_scattered_row_bytes;
  if (facts.line_move == LineMove::scatter && !scatters_well) return false;
  return problem.nest.elements() >= facts.word_elements &&
         lines_of_access(problem, sides.strided, facts) <= max_memory_lines;
}

/// Whether a kernel of spread runs is possible. Sets the facts that depend on alignment.
bool fits_runs(const Problem& problem, const LineSides& sides, std::uint64_t line, LinearFacts& facts) {
  const std::uint32_t line_bytes = facts.word_bytes() / facts.lines;
  const std::uint32_t run = sides.order[problem.nest.rank - 1];
  const std::uint32_t run_bytes = facts.lines * facts.element_bytes();
  const std::uint32_t alignment = std::min(problem.alignment(1, run), 1U << std::countr_zero(run_bytes | 16));
  facts.run_bytes = alignment >= std::max(4U, facts.element_bytes()) ? alignment : 0;
  facts.vectors = 1;
  // Words of less than 4 bytes in a line are for lines that consist of nothing wider.
  const std::uint64_t bits = (line * facts.element_bytes()) | problem.address[0];
  const bool fills_lines = bits % line_bytes == 0 && (line_bytes >= 4 || bits % (2ULL * line_bytes) != 0);
  // `transpose` and `flat` are as fast for wider elements.
  return fills_lines && facts.element_bytes() <= 2 && facts.word_bytes() <= most_run_word_bytes &&
         problem.nest.elements() >= facts.word_elements;
}

}  // namespace

std::optional<LineSides> line_sides(const Problem& problem, LineMove kind) {
  const CanonicalNest& nest = problem.nest;
  if (nest.rank < 2 || !is_elementwise(problem) || !problem.reads_bits() || problem.sources() != 1 ||
      problem.numbers != 0 || problem.element_bytes(0) > 8 || problem.type[0] != problem.type[1])
    return std::nullopt;
  const std::uint32_t last = nest.rank - 1;
  LineSides sides{.order = in_order()};
  if (kind == LineMove::spread) {
    const std::uint32_t run = contiguous_dimension(problem, 1);
    if (run >= last || nest.operand[1].strides[run] != 1 || nest.shape[run] < 2 ||
        nest.shape[run] > most_run_elements || !is_contiguous(nest, 0, sides.order))
      return std::nullopt;
    std::rotate(sides.order.begin() + run, sides.order.begin() + run + 1, sides.order.begin() + nest.rank);
    return sides;
  }
  if (kind == LineMove::scatter)
    sides = {1, 0, farthest_first(nest, 1, nest.rank, contiguous_dimension(problem, 1))};
  const std::uint64_t lines = nest.shape[sides.order[last]];
  const bool has_lines =
      lines > 1 && lines <= most_lines && nest.operand[sides.strided].strides[sides.order[last - 1]] == 1;
  if (!has_lines || problem.address[sides.contiguous] % image_alignment != 0 ||
      !is_contiguous(nest, sides.contiguous, sides.order))
    return std::nullopt;
  return sides;
}

LineSides sides_of(const Problem& problem, const LinearFacts& facts) {
  return line_sides(problem, facts.line_move).value();
}

std::vector<LinearFacts> line_facts(const Problem& problem) {
  std::vector<LinearFacts> all;
  for (const LineMove kind : {LineMove::gather, LineMove::scatter, LineMove::spread}) {
    const std::optional<LineSides> sides = line_sides(problem, kind);
    if (!sides) continue;
    const auto line =
        static_cast<std::uint64_t>(problem.nest.operand[0].strides[sides->order[problem.nest.rank - 1]]);
    for (const std::uint32_t line_bytes :
         kind == LineMove::spread ? std::span<const std::uint32_t>(run_tunings) : line_tunings) {
      if (line_bytes < problem.element_bytes(0)) continue;
      LinearFacts facts = facts_of_lines(problem, *sides, kind, line_bytes);
      const bool fits = kind == LineMove::spread ? fits_runs(problem, *sides, line, facts)
                                                 : fits_exchange(problem, *sides, facts);
      if (fits) all.push_back(facts);
    }
    if (!all.empty()) break;
  }
  return all;
}

bool is_contiguous(const CanonicalNest& nest, std::uint32_t operand, const PerDimension& order) noexcept {
  std::int64_t expected = 1;
  for (std::uint32_t k = nest.rank; k-- > 0;) {
    if (nest.operand[operand].strides[order[k]] != expected) return false;
    expected *= static_cast<std::int64_t>(nest.shape[order[k]]);
  }
  return true;
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
  if (facts.line_move == LineMove::spread) return 0;
  const std::uint32_t pieces = facts.word_bytes() / facts.piece_bytes;
  const std::uint32_t turns = facts.line_move == LineMove::scatter ? facts.turns : 1;
  return turns * linear_threads * (pieces | 1U) * facts.piece_bytes;
}

std::string_view function_of_lines(const LinearFacts& facts) noexcept {
  switch (facts.line_move) {
    case LineMove::gather: return "gather_lines";
    case LineMove::scatter: return "scatter_lines";
    case LineMove::spread: return "spread_runs";
  }
  return {};
}

std::string line_fact_text(const LinearFacts& facts) {
  std::string text = number_fact("lines", facts.lines, "of a word: each has one element of a column") +
                     number_fact("columns", facts.columns(), "of a word");
  if (facts.line_move != LineMove::spread) {
    return text +
           number_fact("piece_bytes", facts.piece_bytes, "of a word, accessed in shared memory at once") +
           policy_fact("Lines", facts.vectors != 0 ? "LinesOfVectors" : "AnyLines", "of a word");
  }
  if (facts.run_bytes != 0) text += number_fact("run_bytes", facts.run_bytes, "of a load");
  return text + policy_fact("Runs", facts.run_bytes != 0 ? "RunsOfVectors" : "AnyRuns", "of a word");
}

std::string why_lines(const LinearFacts& facts) {
  if (facts.line_move == LineMove::spread) {
    return fmt::format(
        "The source is contiguous in a short dimension: a thread loads its {0} elements for {1} neighbours "
        "in the "
        "destination's memory, and stores them to {0} lines.",
        facts.lines, facts.columns());
  }
  const bool scatters = facts.line_move == LineMove::scatter;
  return fmt::format(
      "The {0} is contiguous, and its last dimension is short: its {1} elements are in {1} lines of the {2}, "
      "along "
      "which threads move {3} neighbours each.",
      scatters ? "source" : "destination", facts.lines, scatters ? "destination" : "source", facts.columns());
}

TMAJIT_END
