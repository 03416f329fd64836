#pragma once

#include "families/shared/line_image.hpp"
#include "families/shared/views.hpp"

#include <array>
#include <cstdint>
#include <optional>

TMAJIT_BEGIN

/// What a dimension of a `weave` tile is.
enum class WeaveSide : std::uint32_t {
  column,  ///< its elements follow each other in the source's memory
  run,     ///< in the destination's
  other,
};

/// What a `weave` kernel is specialised for (templates/kernels/weave.cu).
struct WeaveFacts {
  std::uint32_t rank = 1;
  std::uint32_t element_bytes = 1;
  PerDimension box{};
  std::array<WeaveSide, max_view_rank> side{};
  std::uint32_t column_dimension = 0;  ///< the outermost of the columns
  std::uint32_t columns = 1;
  std::uint32_t run_dimension = 0;  ///< the outermost of a run
  std::uint32_t run_elements = 1;
  std::uint32_t others = 1;
  // Blocks:
  std::uint32_t group_bytes = 4;      ///< of columns that a thread takes at once
  std::uint32_t groups_together = 1;  ///< that a thread takes one after the other
  std::uint32_t image_alignment = 1;  ///< bytes, of every group of columns in the image: at most 16
  std::uint32_t words = 1;            ///< of memory that a run meets
  std::uint32_t strips = 1;           ///< of words of a run, as many as lanes go along it
  std::uint32_t lanes = 32;           ///< of a warp that go along a run
  Flag staggered = 0;                 ///< runs begin between words of 4 bytes
  Flag fused = 0;                     ///< columns have several dimensions
  Flag cut = 0;                       ///< an edge cuts some tiles
  Flag wide_offsets = 0;
  // Lines of the source's memory, and where they lie in the image:
  PerDimension source_order{};        ///< dimensions by the source's strides, the largest first
  std::uint32_t line_dimensions = 0;  ///< how many, from the last of `source_order`, a line spans
  std::uint32_t line_bytes = 0;       ///< that a line spans
  std::uint32_t line_units = 1;       ///< of 16 bytes that a line meets
  std::uint32_t line_count = 1;
  std::array<std::int32_t, max_view_rank> image_step{};  ///< bytes between indices; 0 where repeated
  std::uint32_t below = 0;                               ///< bytes of a line before its element of index 0
  std::uint32_t skewed = max_view_rank;  ///< the dimension along which the image has gaps of 16 bytes
  std::uint32_t skew_every = 1;          ///< lines between two such gaps
  std::uint32_t image_bytes = 0;         ///< a multiple of 16

  [[nodiscard]] std::uint32_t in_word() const noexcept { return element_bytes < 4 ? 4 / element_bytes : 1; }
  [[nodiscard]] std::uint32_t in_group() const noexcept { return group_bytes / element_bytes; }
  [[nodiscard]] std::uint32_t groups() const noexcept { return (columns + in_group() - 1) / in_group(); }
  /// Whether a line spans dimension `d`.
  [[nodiscard]] bool spans(std::uint32_t d) const noexcept;
  [[nodiscard]] LineImage image() const noexcept;
};

/// A kernel, and how it would be launched.
struct WeaveLayout {
  WeaveFacts facts;
  std::uint32_t wavefronts = 1;  ///< of shared memory, of a warp's load of one line of its blocks
  std::uint64_t tiles = 1;
  std::uint32_t tiles_per_cta = 1;
  std::uint32_t bytes = 0;  ///< of shared memory: tables, and one image or two
};

/// What follows from a tile; nullopt if its image is too large, or its two sides do not have dimensions of
/// their own.
[[nodiscard]] std::optional<WeaveLayout> weave_layout(const Problem& problem, const PerDimension& box);

/// Threads of a CTA.
inline constexpr std::uint32_t weave_threads = 256;
/// Tiles of a CTA.
inline constexpr std::uint32_t most_weave_tiles = 16;

TMAJIT_END
