#pragma once

#include "families/shared/views.hpp"

TMAJIT_BEGIN

/// Instructions of a thread for a chunk, and for each element that it loads or computes separately. Fitted to
/// measurements (docs/model.md).
inline constexpr double instructions_of_chunk = 134;
inline constexpr double instructions_of_element = 8.22;

/// Facts of kernels in which each thread processes chunks of a destination's elements, adjacent in its last
/// dimension (templates/kernels/chunks.cuh). If a kernel takes tiles of any size, `threads` and `box` are 0
/// here; the candidate's choice has them.
struct ChunkFacts {
  std::uint32_t rank = 1;
  std::uint32_t type = 0;  ///< type of the destination, an ElementType
  std::uint32_t element_bytes = 1;
  std::uint32_t threads = 0;
  std::uint32_t chunk = 0;        ///< elements along the last dimension that a thread processes at a time
  std::uint32_t turns = 0;        ///< chunks that a thread has in flight
  std::uint32_t alignment = 0;    ///< alignment of the destination's chunks, in bytes
  std::uint32_t coordinates = 0;  ///< rank of the user's view if the expression reads coordinates, else 0
  Flag computes = 0;
  Flag wide_offsets = 0;
  Flag wide_coordinates = 0;  ///< coordinates take more than 32 bits
  Flag contiguous = 0;        ///< the destination's last dimension is contiguous
  Flag staggered = 0;         ///< the destination's rows are not aligned to chunks
  Flag whole = 0;             ///< no chunk extends beyond an edge
  PerDimension box{};
  PerDimension dimension_of{};  ///< the nest's dimension of each coordinate
  PerDimension backwards{};     ///< 1 for each coordinate whose dimension the nest walks backwards

  [[nodiscard]] std::uint32_t row() const noexcept { return rank - 1; }
  [[nodiscard]] ElementType element_type() const noexcept { return static_cast<ElementType>(type); }
};

/// The type of an operand's elements in such a kernel. A kernel that moves bits unchanged has unsigned
/// integers of the elements' size.
[[nodiscard]] ElementType type_in_chunks(const Problem& problem, std::uint32_t operand) noexcept;
/// Elements of a chunk in kernels whose threads read elements one by one.
inline constexpr std::uint32_t few_elements = 4;
/// All facts of a problem's chunks that do not depend on the tile. A chunk has 16 bytes of the operand with
/// the widest elements, but at most `max_elements` elements. Rows that are much shorter than this get
/// smaller chunks.
[[nodiscard]] ChunkFacts chunk_facts(const Problem& problem, std::uint32_t max_elements = 16);
/// Sets the extents of a tile (`facts.box`) of at most `chunks` chunks: at most `row_chunks` along a row, the
/// rest along the dimensions before it.
void set_tile_extents(ChunkFacts& facts, const Problem& problem, std::uint64_t chunks,
                      std::uint64_t row_chunks);
/// The number of threads, at most `most`, for the tile's chunks if each thread has `facts.turns` in flight.
[[nodiscard]] std::uint32_t chunk_threads(const ChunkFacts& facts, std::uint32_t most);
/// The most threads of a CTA in any launch of a kernel that takes tiles of any size.
[[nodiscard]] std::uint32_t max_chunk_threads(const ChunkFacts& facts) noexcept;

struct ChunkChoice {
  PerDimension tile{};
  std::uint32_t threads = 0;
  std::uint32_t chunks = 0;  ///< chunks that a thread has in flight; 0 if the tile determines it
  static constexpr auto members() {
    return std::array{choice_box("tile", &ChunkChoice::tile), choice_number("threads", &ChunkChoice::threads),
                      choice_number("chunks", &ChunkChoice::chunks)};
  }
  [[nodiscard]] std::string text() const;
};

/// Moves the tile from the facts to a choice, for a kernel that takes tiles of any size.
[[nodiscard]] ChunkChoice take_tile(ChunkFacts& facts) noexcept;
/// A candidate's facts, with the tile of its choice filled in.
template <class Facts>
[[nodiscard]] Facts with_tile(const Candidate& candidate) {
  const auto& data = TypedFamily<Facts, ChunkChoice>::data(candidate);
  Facts facts = data.facts;
  facts.box = data.choice.tile;
  facts.threads = data.choice.threads;
  return facts;
}

/// The number of tiles in each dimension.
[[nodiscard]] TileCounts chunk_tiles(const ChunkFacts& facts, const CanonicalNest& nest);

/// The facts by which evaluate() receives coordinates: Coordinate, coordinates, dimension_of, backwards.
[[nodiscard]] std::string coordinate_facts(const ChunkFacts& facts);
/// The facts that templates/kernels/chunks.cuh requires: rank, Offset, chunk, turns, Destination,
/// coordinates. If the tile is one of the facts, also threads, box and `chunk_index()`, which enumerates the
/// tile's chunks in the order of `digits`. With `bits`, elements are unsigned integers that are only moved.
[[nodiscard]] std::string chunk_fact_text(const ChunkFacts& facts, std::span<const Digit> digits, bool bits);
/// Digits that enumerate the tile's chunks in the destination's order.
[[nodiscard]] std::vector<Digit> chunk_digits(const ChunkFacts& facts);
/// Declares the template's flags, and adds the destination's type and the coordinates that evaluate()
/// receives.
void add_chunk_parts(SourceParts& parts, const ChunkFacts& facts, std::string_view expression);

/// The steps that Family::rewrites() returns for these facts.
[[nodiscard]] std::vector<std::string> chunk_rewrites(const ChunkFacts& facts);

TMAJIT_END
