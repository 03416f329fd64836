#pragma once

#include "families/shared/views.hpp"

#include <cstdint>
#include <string>

TMAJIT_BEGIN

// Kernels that transpose. A tile extends over all dimensions and consists of square blocks. One side of a
// block runs along `column`, the dimension in which the source is contiguous: along lines of the source. The
// other side runs along the last dimension, in which the destination is contiguous: along rows.

/// The order in which a transpose's CTAs take tiles. CTAs that run at the same time should access few distant
/// regions of memory.
enum class TileOrder : std::uint32_t {
  destination,  ///< order of the destination's memory
  source,       ///< order of the source's memory
};
inline constexpr auto max_tile_order = static_cast<std::uint32_t>(TileOrder::source);

/// The facts that these kernels are specialised for.
struct BlockFacts {
  std::uint32_t element_bytes = 1;
  std::uint32_t rank = 1;
  std::uint32_t column = 0;  ///< dimension in which the source is contiguous
  std::uint32_t threads = 0;
  std::uint32_t vector = 1;     ///< elements of a block's side
  std::uint32_t alignment = 1;  ///< alignment of the source's lines, in bytes
  TileOrder order = TileOrder::destination;
  Flag wide_offsets = 0;  ///< offsets in a tile take more than 32 bits
  Flag staggered = 0;     ///< the destination's rows are not aligned to vectors
  Flag whole = 0;         ///< no block extends beyond an edge of the tensors
  Flag interleaved = 0;   ///< a block does, and the memory beyond the edge may be the destination's
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
                      choice_number("order", &BlockChoice::order, max_tile_order)};
  }
  [[nodiscard]] std::string text() const;
};

/// The free choices of a kernel.
struct BlockTuning {
  std::uint32_t destination_run = 256;  ///< bytes of a tile that are contiguous in the destination
  std::uint32_t source_run = 256;       ///< bytes of a tile that are contiguous in the source
  std::uint32_t vector_bytes = 16;      ///< bytes of a block's side: 16, 8 or 4, at least an element's
  std::uint32_t threads = 256;
};

/// Tunings with blocks of 16 bytes a side. Runs of 256 bytes are best for tensors that fill the chip many
/// times over. Shorter runs are better for smaller tensors, or if a tile then crosses fewer distant rows.
inline constexpr BlockTuning wide_tunings[] = {
    {.destination_run = 256, .source_run = 256}, {.destination_run = 128, .source_run = 256},
    {.destination_run = 256, .source_run = 128}, {.destination_run = 512, .source_run = 128},
    {.destination_run = 128, .source_run = 512}, {.destination_run = 512, .source_run = 256},
    {.destination_run = 256, .source_run = 512}, {.destination_run = 128, .source_run = 128},
    {.destination_run = 64, .source_run = 128},  {.destination_run = 64, .source_run = 64},
    {.destination_run = 32, .source_run = 64},
};

/// Plans kernels for a problem whose layout is Layout::blocks. Computes once what all tunings share.
class BlockPlanner {
 public:
  /// The problem must outlive the planner.
  explicit BlockPlanner(const Problem& problem);
  [[nodiscard]] BlockFacts facts(const BlockTuning& tuning) const;
  /// Whether no block extends beyond an edge, and all are aligned.
  [[nodiscard]] bool is_whole(const BlockTuning& tuning) const noexcept;

 private:
  const Problem& problem_;
  bool small_;
  std::uint32_t row_alignment_;   ///< alignment of the destination's rows in bytes, at most 16
  std::uint32_t line_alignment_;  ///< alignment of the source's lines in bytes, at most 16
  BlockFacts common_;
};

/// The default tuning of `direct_transpose` for small problems, which depends on the element size only.
[[nodiscard]] BlockTuning direct_tuning(const Problem& problem) noexcept;
/// Whether BlockPlanner::is_whole() holds for direct_tuning().
[[nodiscard]] bool has_whole_blocks(const Problem& problem);

/// The dimensions in the order in which CTAs take tiles, the fastest last.
[[nodiscard]] PerDimension tile_dimensions(const BlockFacts& facts) noexcept;

/// The device function tile_index(): the index of a CTA's tile in each dimension.
[[nodiscard]] std::string tile_index_fact(std::uint32_t rank, const PerDimension& dimensions);
/// The facts that all these kernels have: rank, threads, box, Offset, element_bytes, row, column.
[[nodiscard]] std::string block_fact_text(const BlockFacts& facts);
/// The device function block_index() of kernels whose threads store their own blocks, and the constant
/// `blocks`, the number of blocks in a tile. Consecutive threads first take `line_blocks` blocks along a line
/// of the source, or fewer if that does not divide the line. Then they take blocks along a row of the
/// destination, where their stores coalesce.
[[nodiscard]] std::string block_function(const BlockFacts& facts, std::uint32_t line_blocks);

/// Bytes of a tile's elements.
[[nodiscard]] std::uint64_t block_tile_bytes(const BlockFacts& facts) noexcept;
/// Registers of a thread in compiled kernels of this kind.
[[nodiscard]] std::uint32_t block_registers(const BlockFacts& facts) noexcept;
/// The footprint of blocks: tiles, rounds, passes and instructions. `by_engine`: the copy engine loads them.
[[nodiscard]] Footprint block_footprint(const BlockFacts& facts, const Problem& problem, bool by_engine);

/// Base of families whose kernels take a ViewPair and whose facts are BlockFacts.
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
  /// The part of a kernel's source that all these families share.
  [[nodiscard]] static SourceParts parts_of(const BlockFacts& facts);
};

TMAJIT_END
