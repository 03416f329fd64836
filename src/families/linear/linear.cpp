#include "families/linear/word_lines.hpp"
#include "families/list.hpp"
#include "families/shared/chunks.hpp"
#include "families/shared/lines_met.hpp"
#include "spec/saturate.hpp"

#include <tmajit/line.cuh>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <limits>
#include <span>

#include <spdlog/fmt/fmt.h>

TMAJIT_BEGIN
namespace {

constexpr std::uint32_t max_loaded = 32;           // elements that a thread loads at once, of all sources
constexpr std::uint32_t max_converted_bytes = 16;  // a thread converts these at once: the size of a Pack
/// Dividends of a params::Divider must be smaller.
constexpr std::uint64_t max_linear_elements = std::uint64_t{1} << 31;

/// Tunable parameters: bytes of a word of the destination, and words of a thread. The first tuning that fits
/// is within 0.5 % of the best on average. The rest are candidates for measurements.
struct LinearTuning {
  std::uint32_t word_bytes;
  std::uint32_t turns;
};
constexpr LinearTuning linear_tunings[] = {{16, 2}, {8, 2}, {4, 4}, {16, 1}, {8, 4}, {4, 2}, {8, 1}};
/// Those of words that are loaded as vectors.
constexpr LinearTuning vector_tunings[] = {{16, 2}, {8, 4}, {4, 8}, {16, 1}, {8, 2}, {4, 4}};

/// Whether a problem is not left to other families, and its elements can be counted.
bool is_supported(const Problem& problem) noexcept {
  const CanonicalNest& nest = problem.nest;
  if (nest.rank == 0 || !is_elementwise(problem)) return false;
  // The last CTA also computes indices of elements beyond the end, by less than 2^20.
  return nest.elements() < max_linear_elements - (std::uint64_t{1} << 20);
}

/// Whether the destination is contiguous, and a warp that walks along it touches few memory lines of a
/// source.
bool follows_sources(const Problem& problem) noexcept {
  if (!is_contiguous(problem.nest, 0, in_order())) return false;
  for (std::uint32_t i = 1; i < problem.nest.operands; ++i) {
    if (lines_along(problem, i, 1) > max_memory_lines) return false;
  }
  return true;
}

/// Bytes of the widest word that is a vector of the source, too, and of which rows consist; 0 if there is
/// none.
std::uint32_t vector_bytes_of_rows(const Problem& problem) noexcept {
  const CanonicalNest& nest = problem.nest;
  const std::uint32_t row = nest.rank - 1;
  if (problem.sources() != 1 || problem.numbers != 0 || !problem.reads_bits() ||
      nest.operand[1].strides[row] != 1)
    return 0;
  const std::uint64_t bits =
      nest.shape[row] * problem.element_bytes(0) | problem.alignment(0, row) | problem.alignment(1, row);
  const std::uint32_t bytes = 1U << std::countr_zero(bits | 16);
  return bytes >= std::max(4U, problem.element_bytes(0)) ? bytes : 0;
}

LinearFacts facts_of_tuning(const Problem& problem, const LinearTuning& tuning) {
  const CanonicalNest& nest = problem.nest;
  LinearFacts facts{.type = static_cast<std::uint32_t>(type_in_chunks(problem, 0)),
                    .rank = nest.rank,
                    .turns = tuning.turns,
                    .computes = problem.expression().empty() ? 0U : 1U,
                    .padded = nest.windowed ? 1U : 0U,
                    .sources = problem.sources(),
                    .numbers = problem.numbers};
  facts.word_elements = tuning.word_bytes / facts.element_bytes();
  facts.set_ends(nest.shape[nest.rank - 1], nest.rank, problem.address[0] % tuning.word_bytes == 0);
  for (std::uint32_t s = 0; s < facts.sources; ++s) {
    if (needs_wide_offsets(nest, s + 1)) facts.wide_offsets = 1;
    // The padding of a source has the destination's type.
    facts.source[s] =
        facts.padded != 0 ? facts.type : static_cast<std::uint32_t>(type_in_chunks(problem, s + 1));
  }
  return facts;
}

/// Whether a kernel with these facts is possible. A word must hold at least one element, and the destination
/// at least one word. The elements that a thread loads and converts at once must be within the limits.
bool fits(const Problem& problem, const LinearFacts& facts) noexcept {
  if (facts.word_elements == 0 || problem.nest.elements() < facts.word_elements) return false;
  if (facts.word_elements * facts.turns * facts.sources > max_loaded) return false;
  for (std::uint32_t i = 0; i < problem.nest.operands; ++i) {
    if (facts.computes != 0 && facts.word_elements * problem.element_bytes(i) > max_converted_bytes)
      return false;
  }
  return true;
}

template <class Line>
void fill_line(Line& line, const Problem& problem, const PerDimension& order) {
  const CanonicalNest& nest = problem.nest;
  set_address(line.destination, problem.address[0]);
  for (std::size_t s = 0; s < std::size(line.source); ++s)
    set_address(line.source[s], problem.address[s + 1]);
  for (std::uint32_t k = 0; k < nest.rank; ++k) {
    line.digit[k].count = make_divider<params::Divider>(nest.shape[order[k]]);
    for (std::size_t s = 0; s < std::size(line.source); ++s)
      line.digit[k].stride[s] = nest.operand[s + 1].strides[order[k]];
  }
  line.elements = static_cast<std::uint32_t>(nest.elements());
}

/// Adds the parameter of a launch: a Line, or a struct that begins with one.
template <std::uint32_t rank, std::uint32_t sources, class Line>
void add_line(ParameterBlock& parameters, ParameterType type, const Line& line) {
  using Beginning = params::Line<rank, sources>;
  const std::uint32_t at = parameters.add(type, "plan", line);
  parameters.add_address(at + offsetof(Beginning, destination), 0);
  for (std::uint32_t s = 0; s < sources; ++s) {
    parameters.add_address(
        at + static_cast<std::uint32_t>(offsetof(Beginning, source) + s * sizeof(DevicePtr)), s + 1);
  }
}

template <std::uint32_t rank>
params::PaddedLine<rank> padded_line(const Problem& problem) {
  params::PaddedLine<rank> line{};
  fill_line(line, problem, in_order());
  for (std::uint32_t d = 0; d < rank; ++d) {
    const auto extent = static_cast<std::int64_t>(problem.nest.shape[d]);
    const auto index = [&](std::int64_t i) {
      return static_cast<std::uint32_t>(std::clamp<std::int64_t>(i, 0, extent));
    };
    line.first[d] = index(problem.nest.window_first[d]);
    line.end[d] = index(problem.nest.window_end[d]);
  }
  line.value = problem.padding();
  return line;
}

/// The parameter of words of several lines. Its strides are those of the operand whose offsets threads
/// compute.
template <std::uint32_t rank>
params::Line<rank, 1> line_of_words(const Problem& problem, const LinearFacts& facts) {
  const LineSides sides = sides_of(problem, facts);
  params::Line<rank, 1> line{};
  fill_line(line, problem, sides.order);
  for (std::uint32_t k = 0; k < rank; ++k)
    line.digit[k].stride[0] = problem.nest.operand[sides.strided].strides[sides.order[k]];
  if (facts.line_move == LineMove::spread) {
    // The last digit is that of the lines of the destination: it counts the elements of a line.
    const std::int64_t elements = problem.nest.operand[0].strides[sides.order[rank - 1]];
    line.digit[rank - 1].stride[0] = elements;
    line.digit[rank - 1].count = make_divider<params::Divider>(static_cast<std::uint64_t>(elements));
  }
  return line;
}

struct LinearChoice {
  std::uint32_t word_bytes = 0;
  std::uint32_t words = 0;  ///< words of a thread
  std::uint32_t lines = 1;  ///< of a word
  static constexpr auto members() {
    return std::array{choice_number("word_bytes", &LinearChoice::word_bytes),
                      choice_number("words", &LinearChoice::words),
                      choice_number("lines", &LinearChoice::lines)};
  }
  [[nodiscard]] std::string text() const {
    const std::string several = lines > 1 ? fmt::format(" from {} lines", lines) : "";
    return fmt::format("words of {} bytes{}, {} threads of {}", word_bytes, several, linear_threads, words);
  }
};

class Linear final : public TypedFamily<LinearFacts, LinearChoice> {
 public:
  Linear()
      : TypedFamily({.name = "linear",
                     .summary = "moves, pads, converts or computes element by element, and walks the "
                                "destination's memory as a single dimension",
                     .operations = {"copy", "pad", "map"},
                     .computes = true,
                     .max_inputs = max_inputs}) {}

  void add_candidates(const Problem& problem, std::vector<Candidate>& candidates) const override {
    if (!is_supported(problem)) return;
    // A kernel of this family pays only for strided or large problems. For rows without gaps `general` is as
    // fast, and many problems share its kernels.
    const bool pays = !is_small(problem) || (layout_of(problem) == Layout::any && !is_tiny(problem));
    bool common = pays && (problem.nest.rank > 1 || repeats_row(problem));
    const auto add = [&](const LinearFacts& facts) {
      const LinearChoice choice{.word_bytes = facts.word_bytes(), .words = facts.turns, .lines = facts.lines};
      add_once(candidates, candidate(facts, choice, problem.nest), common);
    };
    for (const LinearFacts& facts : line_facts(problem)) add(facts);
    if (!follows_sources(problem)) return;
    const std::uint32_t vector_bytes = vector_bytes_of_rows(problem);
    for (const LinearTuning& tuning : vector_tunings) {
      if (tuning.word_bytes != vector_bytes) continue;
      LinearFacts facts = facts_of_tuning(problem, tuning);
      facts.vectors = 1;
      if (problem.nest.elements() >= facts.word_elements) add(facts);
    }
    // Other rows of whole vectors have families of their own.
    const std::uint64_t row_bytes = problem.nest.shape[problem.nest.rank - 1] * problem.element_bytes(0);
    if (vector_bytes != 0 || (layout_of(problem) == Layout::rows && row_bytes % 16 == 0)) return;
    for (const LinearTuning& tuning : linear_tunings) {
      const LinearFacts facts = facts_of_tuning(problem, tuning);
      if (!fits(problem, facts)) continue;
      add(facts);
      // For pads and maps only the first tuning that fits is common, so that problems share few kernels.
      if (problem.nest.windowed || facts.computes != 0) common = false;
    }
  }

  [[nodiscard]] Footprint footprint(const Candidate& candidate, const Problem& problem) const override {
    const auto facts = facts_of<LinearFacts>(candidate);
    const CanonicalNest& nest = candidate.nest;
    const std::uint32_t cta_elements = linear_threads * facts.turns * facts.word_elements;
    Footprint footprint{
        .threads = linear_threads,
        .tiles = ceil_div(nest.elements() + facts.word_elements - 1, std::uint64_t{cta_elements}),
        .registers = 32,
        .store_bytes = facts.word_bytes()};
    if (facts.lines > 1) {
      footprint.order = sides_of(problem, facts).order;
      footprint.static_shared_bytes = image_bytes(facts);
      footprint.registers = 24 + facts.word_elements;
      if (facts.line_move != LineMove::spread)
        footprint.passes = facts.turns * ((facts.word_bytes() + 15) / 16);
      footprint.store_bytes = facts.line_move == LineMove::gather ? 16
                              : facts.vectors != 0                ? facts.columns() * facts.element_bytes()
                                                                  : facts.element_bytes();
    }
    std::uint64_t remaining = cta_elements;
    for (std::uint32_t k = nest.rank; k-- > 0;) {
      const std::uint32_t d = footprint.order[k];
      footprint.box[d] = static_cast<std::uint32_t>(std::min(nest.shape[d], remaining));
      remaining = ceil_div(remaining, std::max<std::uint64_t>(nest.shape[d], 1));
    }
    const auto elements = static_cast<double>(nest.elements());
    const double words = elements / facts.word_elements;
    const double columns = elements / facts.lines;
    // Instructions of a thread, fitted to measurements (docs/model.md).
    constexpr double per_division = 3.08;  // division that splits an index of a word or column
    constexpr double per_element = 3.7;    // column of a word that may have columns of two rows
    const bool is_scatter = facts.lines > 1 && facts.line_move == LineMove::scatter;
    const bool is_spread = facts.lines > 1 && facts.line_move == LineMove::spread;
    const double accesses =
        is_spread            ? columns * (facts.run_bytes == 0 ? facts.lines
                                                               : facts.lines * facts.element_bytes() / facts.run_bytes)
        : facts.vectors != 0 ? elements / facts.columns()
                             : elements;
    const double divided = facts.short_rows != 0 ? columns : facts.wraps != 0 ? 2 * words : words;
    const double computed = facts.computes != 0 || facts.padded != 0 ? elements : 0;
    footprint.instructions = per_division * divided * (facts.rank - 1) * (1 + facts.sources) / 2 +
                             instructions_of_element * (accesses * facts.sources + computed);
    if (facts.lines == 1 && facts.vectors != 0)
      footprint.instructions = words * (12 + 8 * (facts.rank - 1.0));  // counted in the machine code
    if (facts.wraps != 0 || facts.short_rows != 0)
      footprint.instructions += per_element * columns * facts.sources;
    for (std::uint32_t i = 1; i <= facts.sources; ++i)
      footprint.lines += accesses * lines_of_access(problem, is_scatter ? 0 : i, facts);
    for (std::uint32_t i = 1; i <= facts.sources; ++i)
      footprint.bytes_in_flight += std::uint64_t{cta_elements} * problem.element_bytes(i);
    return footprint;
  }

  [[nodiscard]] std::string why(const Candidate& candidate, const Problem& /*problem*/) const override {
    const auto facts = facts_of<LinearFacts>(candidate);
    if (facts.lines > 1) return why_lines(facts);
    return fmt::format(
        "The destination is contiguous: threads store words of {} bytes along its memory, and load {}.",
        facts.word_bytes(), facts.vectors != 0 ? "them as vectors" : "the elements of a word separately");
  }

  void bind(const Candidate& candidate, const Problem& problem, ParameterBlock& parameters,
            LaunchShape& shape) const override {
    const auto facts = facts_of<LinearFacts>(candidate);
    with_constant(facts.rank, [&](auto rank) {
      if (facts.lines > 1) {
        add_line<rank, 1>(parameters, {"params::Line", rank, 1}, line_of_words<rank>(problem, facts));
      } else if (facts.padded != 0) {
        add_line<rank, 1>(parameters, {"params::PaddedLine", rank}, padded_line<rank>(problem));
      } else {
        with_constant(facts.sources, [&](auto sources) {
          params::Line<rank, sources> line{};
          fill_line(line, problem, in_order());
          add_line<rank, sources>(parameters, {"params::Line", rank, sources}, line);
        });
      }
    });
    shape.grid = grid_of(tiles_of(footprint(candidate, problem), candidate.nest));
  }

  [[nodiscard]] SourceParts source(const Candidate& candidate,
                                   std::string_view /*expression*/) const override {
    const auto facts = facts_of<LinearFacts>(candidate);
    SourceParts parts{
        .why = facts.lines > 1 ? why_lines(facts)
               : facts.vectors != 0
                   ? "Threads walk along the destination's memory and load its words, many at once, however "
                     "short the rows are."
                   : "Threads walk along the destination's memory and load its elements one by one, many at "
                     "once, so that rows may be short or odd. The copy engine is not used: it supports only "
                     "rows of a multiple of 16 bytes.",
        .max_threads = linear_threads,
        .call = facts.lines > 1 ? std::string(function_of_lines(facts)) + "(plan)" : "move_line(plan)"};
    parts.pads = facts.padded != 0;
    parts.set("vectors", facts.vectors != 0);  // a word is one vector of the source
    parts.set("lines", facts.lines > 1);  // a word has all elements of the last dimension for several columns
    parts.set("computes", facts.computes != 0);
    parts.set("wraps",
              facts.wraps != 0);  // a word may extend beyond the end of a row
    parts.facts = number_fact("rank", facts.rank) + number_fact("threads", linear_threads) +
                  number_fact("word_elements", facts.word_elements, "elements of a word") +
                  number_fact("turns", facts.turns, "words of a thread") + offset_fact(facts.wide_offsets);
    if (facts.lines > 1) parts.facts += line_fact_text(facts);
    parts.facts += fmt::format("using Plan = {};\n",
                               facts.padded != 0 ? "params::PaddedLine<rank>"
                                                 : fmt::format("params::Line<rank, {}>", facts.sources));
    parts.facts += policy_fact("Reach", facts.padded != 0 ? "InWindow" : "Everywhere", "of the sources");
    parts.facts +=
        policy_fact("Words", facts.short_rows != 0 ? "ShortRows" : "Rows", "the elements of a word");
    std::array<ElementType, max_inputs> from{};
    for (std::uint32_t s = 0; s < facts.sources; ++s) from[s] = static_cast<ElementType>(facts.source[s]);
    parts.numbers = facts.numbers;
    add_element_types(parts, facts.element_type(), std::span(from).first(facts.sources),
                      facts.computes != 0 || facts.padded != 0);
    return parts;
  }

  void classify(const Candidate& candidate, const Problem& /*problem*/, ShapeClass& shape) const override {
    const auto facts = facts_of<LinearFacts>(candidate);
    shape.sources = static_cast<std::uint8_t>(facts.sources);
  }
};

}  // namespace

const Family& linear_family() {
  static const Linear family;
  return family;
}

TMAJIT_END
