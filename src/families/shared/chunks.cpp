#include "families/shared/chunks.hpp"

#include "spec/saturate.hpp"

#include <tmajit/bank_conflicts.hpp>

#include <algorithm>
#include <limits>
#include <utility>

#include <spdlog/fmt/fmt.h>

TMAJIT_BEGIN
namespace {

constexpr std::uint32_t chunk_vector_bytes = 16;
constexpr std::uint64_t min_row_chunks = 8;  // chunks of a tile along a row, if the row has this many

}  // namespace

ElementType type_in_chunks(const Problem& problem, std::uint32_t operand) noexcept {
  if (problem.reads_bits()) return unsigned_of(problem.element_bytes(operand));
  // These types differ from the plain type only in a tensor map.
  switch (problem.type[operand]) {
    case ElementType::f32_ftz: return ElementType::f32;
    case ElementType::tf32_ftz: return ElementType::tf32;
    default: return problem.type[operand];
  }
}

ChunkFacts chunk_facts(const Problem& problem, std::uint32_t max_elements) {
  const CanonicalNest& nest = problem.nest;
  ChunkFacts facts{.rank = std::max(nest.rank, 1U),
                   .type = static_cast<std::uint32_t>(type_in_chunks(problem, 0)),
                   .element_bytes = problem.element_bytes(0),
                   .computes = problem.expression().empty() ? 0U : 1U};
  std::fill_n(facts.box.begin(), facts.rank, 1U);
  if (problem.reads().g) {
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
  facts.chunk = std::min(chunk_vector_bytes / widest, max_elements);
  // A nest of a single short row is too small to be worth a kernel with smaller chunks.
  const bool shrinks = nest.rank > 1 && max_elements > few_elements;
  while (shrinks && facts.chunk > 2 && extent <= facts.chunk / 2) facts.chunk /= 2;
  const std::int64_t stride = row < nest.rank ? nest.operand[0].strides[row] : 0;
  facts.contiguous = stride == 1 || extent == 1 ? 1 : 0;
  const std::uint32_t bytes = facts.chunk * facts.element_bytes;
  const std::uint32_t aligned = problem.alignment(0, row);
  facts.staggered = facts.contiguous != 0 && aligned < std::min(bytes, chunk_vector_bytes) ? 1 : 0;
  // Stores of single elements need the alignment of one element only.
  facts.alignment = facts.contiguous != 0 ? std::min(bytes, chunk_vector_bytes) : facts.element_bytes;
  facts.whole = facts.staggered == 0 && !nest.windowed && extent % facts.chunk == 0 ? 1 : 0;
  return facts;
}

void set_tile_extents(ChunkFacts& facts, const Problem& problem, std::uint64_t chunks,
                      std::uint64_t row_chunks) {
  const CanonicalNest& nest = problem.nest;
  const bool few = has_few_tiles(problem);
  const std::uint32_t row = facts.row();
  facts.box[row] =
      side_of(ceil_div(extent_of(nest, row), facts.chunk), std::min(chunks, row_chunks), min_row_chunks, few);
  chunks /= facts.box[row];
  facts.box[row] *= facts.chunk;
  for (std::uint32_t d = row; d-- > 0; chunks /= facts.box[d]) {
    facts.box[d] = side_of(extent_of(nest, d), chunks, 1, few);
  }
}

std::uint32_t chunk_threads(const ChunkFacts& facts, std::uint32_t most) {
  const std::uint64_t chunks = elements_of(facts.box, facts.rank) / facts.chunk;
  return static_cast<std::uint32_t>(
      std::clamp<std::uint64_t>(round_up(ceil_div(chunks, facts.turns), warp_lanes), warp_lanes, most));
}

std::uint32_t max_chunk_threads(const ChunkFacts& facts) noexcept {
  return facts.turns == 1 ? 512 : 256;
}

std::string ChunkChoice::text() const {
  const std::string of_thread =
      chunks == 0 ? std::string() : fmt::format(" of {} chunk{}", chunks, chunks == 1 ? "" : "s");
  return fmt::format("{}, {} threads{}", box_text(tile), threads, of_thread);
}

ChunkChoice take_tile(ChunkFacts& facts) noexcept {
  return {.tile = std::exchange(facts.box, {}),
          .threads = std::exchange(facts.threads, 0),
          .chunks = facts.turns};
}

TileCounts chunk_tiles(const ChunkFacts& facts, const CanonicalNest& nest) {
  return tile_counts(nest, facts.box, facts.rank, facts.staggered != 0 ? facts.chunk - 1 : 0);
}

std::string coordinate_facts(const ChunkFacts& facts) {
  const std::uint32_t count = facts.coordinates;
  std::string out = fmt::format("using Coordinate = {};\n", facts.wide_coordinates != 0 ? "u64" : "u32");
  out += number_fact("coordinates", count, "dimensions of the user's destination");
  out += extent_fact("dimension_of", std::span(facts.dimension_of).first(count),
                     "the nest's dimension of each coordinate");
  return out + extent_fact("backwards", std::span(facts.backwards).first(count));
}

std::string chunk_fact_text(const ChunkFacts& facts, std::span<const Digit> digits, bool bits) {
  const ElementType type = facts.element_type();
  std::string out = facts.threads > 0
                        ? view_fact_text(facts.rank, facts.threads, facts.box, facts.wide_offsets)
                        : number_fact("rank", facts.rank) + offset_fact(facts.wide_offsets);
  out += number_fact("chunk", facts.chunk, "elements that a thread processes at a time");
  out += number_fact("turns", facts.turns, "chunks that a thread has in flight");
  if (!digits.empty()) out += "// Chunk n of the tile.\n" + index_function("chunk_index", digits, facts.rank);
  out += flag_fact("cut", facts.whole == 0);
  out += policy_fact("Stores", facts.contiguous == 0 ? "StridedChunks"
                               : facts.whole != 0    ? "WholeChunks"
                                                     : "CutChunks");
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
  parts.rank = facts.rank;
  parts.elements.push_back(facts.element_type());
  parts.result = facts.element_type();
  parts.reads.g = reads_of(expression).g;
  parts.coordinates = facts.coordinates;
  parts.set("staggered", facts.staggered != 0);  // rows begin between boundaries of chunks
  parts.set("cut", facts.whole == 0);            // an edge may cut a chunk
  parts.set("computes", facts.computes != 0);
  parts.set("contiguous", facts.contiguous != 0);
}

std::vector<std::string> chunk_rewrites(const ChunkFacts& facts) {
  if (facts.staggered == 0) return {};
  return {staggered_rewrite()};
}

TMAJIT_END
