#pragma once

#include "families/shared/views.hpp"

#include <cstdint>
#include <string>

TMAJIT_BEGIN

// Transposes: tiles over all dimensions, cut into square blocks of the dimensions in which the operands are
// contiguous.

/// The order in which a transpose's CTAs take tiles. Those that run together should touch few places of
/// memory that are far apart.
enum class TileOrder : std::uint32_t {
  destination,  ///< order of the destination's memory
  source,       ///< order of the source's memory
};
inline constexpr auto most_tile_order = static_cast<std::uint32_t>(TileOrder::source);

/// Facts that block-transposing kernels are specialised for.
struct BlockFacts {
  std::uint32_t element_bytes = 1;
  std::uint32_t rank = 1;
  std::uint32_t column =
      0;  ///< the dimension in which the source is contiguous; the destination's is the last
  std::uint32_t threads = 0;
  std::uint32_t vector = 1;     ///< elements of a block's side
  std::uint32_t alignment = 1;  ///< bytes, of the source's lines
  TileOrder order = TileOrder::destination;
  Flag wide_offsets = 0;  ///< offsets in a tile take more than 32 bits
  Flag staggered = 0;     ///< the destination's rows begin between multiples of a vector
  Flag whole = 0;         ///< no block is cut by an edge
  Flag interleaved = 0;   ///< one is, and what lies behind the edge may be the destination's
  PerDimension box{};
  PerDimension source_order{};  ///< dimensions by the source's strides, the largest first
  [[nodiscard]] std::uint32_t vector_bytes() const noexcept { return vector * element_bytes; }
};

struct BlockChoice {
  PerDimension tile{};
  std::uint32_t threads = 0;
  std::uint32_t vector_bytes = 16;  ///< bytes of a block's side
  std::uint32_t order = 0;          ///< a TileOrder
  static constexpr auto members() {
    return std::array{choice_box("tile", &BlockChoice::tile), choice_number("threads", &BlockChoice::threads),
                      choice_number("vector_bytes", &BlockChoice::vector_bytes),
                      choice_number("order", &BlockChoice::order, most_tile_order)};
  }
  [[nodiscard]] std::string text() const;
};

/// Sides of a tile, and what else is free to choose.
struct BlockTuning {
  std::uint32_t destination_run = 256;  ///< bytes of a tile that follow each other in the destination
  std::uint32_t source_run = 256;       ///< bytes of a tile that are adjacent in the source
  std::uint32_t vector_bytes = 16;  ///< bytes of a block's side: 16, or 8 or 4 for elements of less than that
  std::uint32_t threads = 256;
};

/// Sides of tiles in bytes, the destination's first. 256 is best for what fills the chip many times over;
/// less for what does not, or where a side meets many rows that are far apart.
inline constexpr BlockTuning wide_tunings[] = {
    {.destination_run = 256, .source_run = 256}, {.destination_run = 128, .source_run = 256},
    {.destination_run = 256, .source_run = 128}, {.destination_run = 512, .source_run = 128},
    {.destination_run = 128, .source_run = 512}, {.destination_run = 512, .source_run = 256},
    {.destination_run = 256, .source_run = 512}, {.destination_run = 128, .source_run = 128},
    {.destination_run = 64, .source_run = 128},  {.destination_run = 64, .source_run = 64},
    {.destination_run = 32, .source_run = 64},
};

/// Plans whole blocks of a problem whose layout is Layout::blocks. Computes once what its tunings share.
class BlockPlanner {
 public:
  /// The problem must outlive it.
  explicit BlockPlanner(const Problem& problem);
  [[nodiscard]] BlockFacts facts(const BlockTuning& tuning) const;
  /// Whether no block of it is cut.
  [[nodiscard]] bool is_whole(const BlockTuning& tuning) const noexcept;

 private:
  const Problem& problem_;
  bool small_;
  std::uint32_t row_alignment_;   ///< bytes, of the destination's rows, at most 16
  std::uint32_t line_alignment_;  ///< bytes, of the source's lines, at most 16
  BlockFacts common_;
};

/// The tile that `direct_transpose` moves small problems by, one for all of a type.
[[nodiscard]] BlockTuning direct_tuning(const Problem& problem) noexcept;
/// Whether no block of it is cut.
[[nodiscard]] bool has_whole_blocks(const Problem& problem);

/// Dimensions in the order in which CTAs take tiles, the fastest last.
[[nodiscard]] PerDimension tile_dimensions(const BlockFacts& facts) noexcept;

/// The function "tile_index": the tile of a CTA.
[[nodiscard]] std::string tile_index_fact(std::uint32_t rank, const PerDimension& dimensions);
/// The facts that all of them have: rank, threads, box, Offset, element_bytes, row, column.
[[nodiscard]] std::string block_fact_text(const BlockFacts& facts);
/// `block_index()` of kernels whose threads store what they transposed, and how many `blocks` a tile has.
/// Threads that follow each other first share out `together` blocks of a line (as many as divide it), then
/// lie along the row, where their stores join.
[[nodiscard]] std::string block_function(const BlockFacts& facts, std::uint32_t together);

/// Elements of the tile, in bytes.
[[nodiscard]] std::uint64_t tile_bytes(const BlockFacts& facts) noexcept;
/// Registers of a thread, as such kernels were compiled.
[[nodiscard]] std::uint32_t block_registers(const BlockFacts& facts) noexcept;
/// The footprint of blocks: tiles, rounds, passes and work. `by_engine`: the copy engine loads them.
[[nodiscard]] Footprint block_footprint(const BlockFacts& facts, const Problem& problem, bool by_engine);

/// Base of families whose kernels take a ViewPair and whose facts begin with BlockFacts.
class BlockFamily : public TypedFamily<BlockFacts, BlockChoice> {
 public:
  using TypedFamily::TypedFamily;

  [[nodiscard]] Footprint footprint(const Candidate& candidate, const Problem& problem) const override;
  void bind(const Candidate& candidate, const Problem& problem, ParameterBlock& parameters,
            LaunchShape& shape) const override;
  void classify(const Candidate& candidate, const Problem& problem, ShapeClass& shape) const override;

 protected:
  ~BlockFamily() = default;
  [[nodiscard]] Candidate candidate(const BlockFacts& facts, const CanonicalNest& nest) const;
  /// Flags and facts of a kernel that takes tiles in `tile_order`.
  [[nodiscard]] static SourceParts parts_of(const BlockFacts& facts);
};

TMAJIT_END
