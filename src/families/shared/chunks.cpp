#include "families/shared/chunks.hpp"

#include "spec/saturate.hpp"

#include <algorithm>
#include <limits>

#include <spdlog/fmt/fmt.h>

TMAJIT_BEGIN
namespace {

constexpr std::uint32_t vector_bytes = 16;

std::string coordinate_facts(const ChunkFacts& facts) {
  const std::uint32_t count = facts.coordinates;
  std::string out = fmt::format("using Coordinate = {};\n", facts.wide_coordinates != 0 ? "u64" : "u32");
  out += number_fact("coordinates", count, "of the user's destination");
  out += extent_fact("dimension_of", std::span(facts.dimension_of).first(count),
                     "and which of the nest's they are");
  return out + extent_fact("backwards", std::span(facts.backwards).first(count));
}

}  // namespace

ChunkFacts chunk_facts(const Problem& problem) {
  const CanonicalNest& nest = problem.nest;
  ChunkFacts facts{.rank = std::max(nest.rank, 1U),
                   .type = static_cast<std::uint32_t>(problem.type[0]),
                   .element_bytes = problem.element_bytes(0),
                   .computes = problem.expression.empty() ? 0U : 1U};
  std::fill_n(facts.box.begin(), facts.rank, 1U);
  if (problem.reads.g) {
    facts.coordinates = std::max(nest.view_rank, 1U);
    facts.dimension_of = nest.dimension_of;
    std::ranges::copy(nest.backwards, facts.backwards.begin());
    const auto is_wide = [](std::uint64_t n) { return n > std::numeric_limits<std::uint32_t>::max(); };
    facts.wide_coordinates = std::ranges::any_of(nest.shape, is_wide) ? 1 : 0;
  }

  const std::uint32_t row = facts.row();
  const std::uint64_t extent = extent_of(nest, row);
  std::uint32_t widest = 1;
  for (std::uint32_t i = 0; i < nest.operands; ++i) widest = std::max(widest, problem.element_bytes(i));
  facts.chunk = vector_bytes / widest;
  while (facts.chunk > 2 && extent <= facts.chunk / 2) facts.chunk /= 2;
  const std::int64_t stride = row < nest.rank ? nest.operand[0].strides[row] : 0;
  facts.contiguous = stride == 1 || extent == 1 ? 1 : 0;
  const std::uint32_t bytes = facts.chunk * facts.element_bytes;
  const std::uint32_t aligned = problem.alignment(0, row);
  facts.staggered = facts.contiguous != 0 && aligned < std::min(bytes, vector_bytes) ? 1 : 0;
  facts.alignment = std::min(facts.staggered != 0 ? bytes : std::min(aligned, bytes), vector_bytes);
  facts.whole = facts.staggered == 0 && !nest.windowed && extent % facts.chunk == 0 ? 1 : 0;
  return facts;
}

void fill_box(ChunkFacts& facts, const CanonicalNest& nest, std::uint64_t elements) {
  const std::uint32_t row = facts.row();
  if (facts.box[row] == 1) facts.box[row] = clamp_to(round_up(extent_of(nest, row), facts.chunk), elements);
  for (std::uint32_t d = row; d-- > 0 && elements_of(facts.box, facts.rank) * 2 <= elements;) {
    const std::uint64_t others = elements_of(facts.box, facts.rank) / facts.box[d];
    facts.box[d] = clamp_to(extent_of(nest, d), std::max<std::uint64_t>(elements / others, facts.box[d]));
  }
}

void share_chunks(ChunkFacts& facts, std::uint32_t most_threads, std::uint32_t most_turns) {
  const std::uint64_t chunks = elements_of(facts.box, facts.rank) / facts.chunk;
  facts.threads =
      static_cast<std::uint32_t>(std::clamp<std::uint64_t>(round_up(chunks, 32), 32, most_threads));
  facts.turns =
      static_cast<std::uint32_t>(std::clamp<std::uint64_t>(ceil_div(chunks, facts.threads), 1, most_turns));
}

TileCounts chunk_tiles(const ChunkFacts& facts, const CanonicalNest& nest) {
  return tile_counts(nest, facts.box, facts.rank, facts.staggered != 0 ? facts.chunk - 1 : 0);
}

std::string chunk_fact_text(const ChunkFacts& facts, std::span<const Digit> digits, bool bits) {
  const ElementType type = facts.element_type();
  std::string out = view_fact_text(facts.rank, facts.threads, facts.box, facts.wide_offsets);
  out += number_fact("chunk", facts.chunk, "elements that a thread does at a time");
  out += number_fact("turns", facts.turns, "chunks that it has in flight");
  out += "// Chunk n of the tile.\n" + index_function("chunk_index", digits, facts.rank);
  out += fmt::format(
      "struct Destination {{\n  using Element = {};\n  static constexpr u32 alignment = {};\n}};\n",
      bits ? bits_type(type) : device_type(type), facts.alignment);
  if (facts.coordinates > 0) out += coordinate_facts(facts);
  return out;
}

std::vector<Digit> chunk_digits(const ChunkFacts& facts) {
  PerDimension chunks = facts.box;
  chunks[facts.row()] /= facts.chunk;
  return digits_of(in_order(), chunks, facts.rank);
}

void add_chunk_parts(SourceParts& parts, const ChunkFacts& facts, std::string_view expression) {
  parts.elements.push_back(facts.element_type());
  parts.result = facts.element_type();
  parts.reads.g = reads_of(expression).g;
  parts.coordinates = facts.coordinates;
  parts.set("staggered", facts.staggered != 0);
  parts.set("cut", facts.whole == 0);
  parts.set("computes", facts.computes != 0);
  parts.set("contiguous", facts.contiguous != 0);
}

std::vector<std::string> chunk_rewrites(const ChunkFacts& facts) {
  if (facts.staggered == 0) return {};
  return {staggered_rewrite()};
}

TMAJIT_END
