#pragma once

#include "families/shared/views.hpp"

TMAJIT_BEGIN

/// Instructions by which a thread does a chunk, and an element that it loads or computes by itself, fitted to
/// measurements (docs/model.md).
inline constexpr double instructions_of_chunk = 134;
inline constexpr double instructions_of_element = 8.22;

/// Facts of kernels in which each thread processes chunks of a destination's elements, adjacent in its last
/// dimension (templates/kernels/chunks.cuh). Kernels that take tiles of any size have neither `threads` nor
/// `box` here, but in the candidate's choice.
struct ChunkFacts {
  std::uint32_t rank = 1;
  std::uint32_t type = 0;  ///< type of the destination, an ElementType
  std::uint32_t element_bytes = 1;
  std::uint32_t threads = 0;
  std::uint32_t chunk = 0;        ///< elements along the last dimension that a thread does at a time
  std::uint32_t turns = 0;        ///< chunks that it has in flight
  std::uint32_t alignment = 0;    ///< alignment of the destination's chunks, bytes
  std::uint32_t coordinates = 0;  ///< dimensions of the user's view, if the expression reads them
  Flag computes = 0;
  Flag wide_offsets = 0;
  Flag wide_coordinates = 0;  ///< coordinates take more than 32 bits
  Flag contiguous = 0;        ///< the destination's last dimension is contiguous
  Flag staggered = 0;         ///< the destination's rows begin between boundaries of chunks
  Flag whole = 0;             ///< no chunk is at an edge that cuts it
  PerDimension box{};
  PerDimension dimension_of{};  ///< the nest's dimension of each coordinate
  PerDimension backwards{};     ///< 1 where the nest walks it backwards

  [[nodiscard]] std::uint32_t row() const noexcept { return rank - 1; }
  [[nodiscard]] ElementType element_type() const noexcept { return static_cast<ElementType>(type); }
};

/// The type of an operand as such a kernel knows it: of bits that are moved as they are only the size counts.
[[nodiscard]] ElementType type_in_chunks(const Problem& problem, std::uint32_t operand) noexcept;
/// Elements of a chunk that a thread reads one by one.
inline constexpr std::uint32_t few_elements = 4;
/// All facts of a problem's chunks that do not depend on the tile. Chunks have 16 bytes of the widest
/// operand, at most so many elements; rows that are much shorter get smaller ones.
[[nodiscard]] ChunkFacts chunk_facts(const Problem& problem, std::uint32_t most_elements = 16);
/// A tile of any size of at most so many chunks: at most `along` of them along the row, then along the
/// dimensions before it.
void choose_sides(ChunkFacts& facts, const Problem& problem, std::uint64_t chunks, std::uint64_t along);
/// Threads, at most so many, that do the tile's chunks in the facts' turns.
[[nodiscard]] std::uint32_t chunk_threads(const ChunkFacts& facts, std::uint32_t most);
/// Threads of any launch of a kernel that takes tiles of any size.
[[nodiscard]] std::uint32_t most_chunk_threads(const ChunkFacts& facts) noexcept;

struct ChunkChoice {
  PerDimension tile{};
  std::uint32_t threads = 0;
  std::uint32_t chunks = 0;  ///< chunks of a thread in flight; 0 where the tile decides
  static constexpr auto members() {
    return std::array{choice_box("tile", &ChunkChoice::tile), choice_number("threads", &ChunkChoice::threads),
                      choice_number("chunks", &ChunkChoice::chunks)};
  }
  [[nodiscard]] std::string text() const;
};

/// Takes the tile out of facts, for a kernel that takes tiles of any size.
[[nodiscard]] ChunkChoice take_tile(ChunkFacts& facts) noexcept;
/// A candidate's facts with its tile in them.
template <class Facts>
[[nodiscard]] Facts with_tile(const Candidate& candidate) {
  const auto& data = TypedFamily<Facts, ChunkChoice>::data(candidate);
  Facts facts = data.facts;
  facts.box = data.choice.tile;
  facts.threads = data.choice.threads;
  return facts;
}

/// Tiles in each dimension.
[[nodiscard]] TileCounts chunk_tiles(const ChunkFacts& facts, const CanonicalNest& nest);

/// The facts by which evaluate() receives coordinates: Coordinate, coordinates, dimension_of, backwards.
[[nodiscard]] std::string coordinate_facts(const ChunkFacts& facts);
/// The facts that templates/kernels/chunks.cuh requires: rank, Offset, chunk, turns, Destination,
/// coordinates. Where the tile is one of the facts, also threads, box and `chunk_index()`, which takes the
/// tile's chunks in order of `digits`. Elements that nothing is computed from are bits.
[[nodiscard]] std::string chunk_fact_text(const ChunkFacts& facts, std::span<const Digit> digits, bool bits);
/// The tile's chunks in the destination's order.
[[nodiscard]] std::vector<Digit> chunk_digits(const ChunkFacts& facts);
/// Flags, the destination's type and what of the expression's surroundings evaluate() is handed.
void add_chunk_parts(SourceParts& parts, const ChunkFacts& facts, std::string_view expression);

/// The facts of rewriting that explanations tell.
[[nodiscard]] std::vector<std::string> chunk_rewrites(const ChunkFacts& facts);

TMAJIT_END
