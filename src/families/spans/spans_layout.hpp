#pragma once

#include "families/shared/views.hpp"
#include "spec/saturate.hpp"

#include <array>
#include <cstdint>
#include <optional>

TMAJIT_BEGIN

/// What is free to choose: bytes of a tile's part of a run, and of its columns side by side.
struct SpanTuning {
  std::uint32_t run_bytes = 256;
  std::uint32_t column_bytes = 64;
};

/// How a `spans` kernel works through a problem: numbers of its launch (templates/params/span_tile.cuh).
struct SpanLayout {
  std::uint32_t rank = 1;
  std::uint32_t element_bytes = 1;
  /// Dimensions: those of a run, the nearest in the destination's memory first; those of columns, the nearest
  /// in the source's first; the others.
  PerDimension order{};
  std::uint32_t run_dimensions = 1;
  std::uint32_t column_dimensions = 0;
  std::uint64_t run_elements = 1;  ///< of a whole run
  std::uint64_t all_columns = 1;
  std::uint32_t run = 1;            ///< elements of a tile's part of it, whole words
  std::uint32_t columns = 1;        ///< of a tile
  std::uint32_t words_at_once = 1;  ///< next to each other, whose elements a thread loads at once
  bool staggered = false;           ///< runs begin anywhere in their words
  bool wide_offsets = false;        ///< offsets take more than 32 bits
  std::uint32_t group = 1;          ///< tiles that follow each other along the columns
  std::uint64_t run_tiles = 1;
  std::uint64_t column_tiles = 1;
  std::uint64_t others = 1;

  [[nodiscard]] std::uint32_t in_word() const noexcept { return element_bytes < 4 ? 4 / element_bytes : 1; }
  [[nodiscard]] std::uint32_t words() const noexcept { return run / in_word(); }
  /// Words from column to column of the image: an odd number, so that columns side by side meet all banks.
  [[nodiscard]] std::uint32_t pitch() const noexcept { return (chunks() * words_at_once) | 1; }
  /// Chunks of such words of a part of a run.
  [[nodiscard]] std::uint32_t chunks() const noexcept {
    return (words() + words_at_once - 1) / words_at_once;
  }
  [[nodiscard]] std::uint32_t lanes() const noexcept;
  /// Threads side by side that go along a run when they store.
  [[nodiscard]] std::uint32_t stores() const noexcept;
  /// Lines of 128 bytes that a load of a warp meets.
  [[nodiscard]] double lines_met(const Problem& problem) const noexcept;
  [[nodiscard]] std::uint64_t groups() const noexcept { return ceil_div(column_tiles, std::uint64_t{group}); }
  [[nodiscard]] std::uint64_t tiles() const noexcept { return run_tiles * column_tiles * others; }
  /// Entries of the tables of a tile.
  [[nodiscard]] std::uint32_t entries() const noexcept;
  [[nodiscard]] std::uint32_t shared_bytes() const noexcept;
  /// The tile as a box, about: of dimensions that its spans reach beyond all indices.
  [[nodiscard]] PerDimension box(const CanonicalNest& nest) const noexcept;
};

/// Whether a problem is one for such kernels.
[[nodiscard]] bool takes_spans(const Problem& problem) noexcept;
/// What follows from a tuning; nullopt if there is too much of something to count.
[[nodiscard]] std::optional<SpanLayout> span_layout(const Problem& problem, const SpanTuning& tuning);

/// Threads of a CTA.
inline constexpr std::uint32_t span_threads = 256;
/// Bytes of shared memory of any launch.
inline constexpr std::uint32_t most_span_bytes = 48 * 1024;

TMAJIT_END
