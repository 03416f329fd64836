#pragma once

#include "families/shared/views.hpp"
#include "spec/saturate.hpp"

#include <array>
#include <cstdint>
#include <optional>
#include <span>

TMAJIT_BEGIN

/// What is free to choose: bytes of a tile's part of a run, and of its columns side by side.
struct SpanTuning {
  std::uint32_t run_bytes = 256;
  std::uint32_t column_bytes = 64;
};

/// How a `spans` kernel reads a source.
struct SpanSource {
  std::uint32_t element_bytes = 1;
  bool has_image = false;   ///< it lies across the runs; else the threads that store load it
  double lines = 1;         ///< of 128 bytes that a load of a warp meets
  std::uint32_t image = 0;  ///< where its image begins in shared memory
  std::uint32_t pitch = 0;  ///< words from column to column of it

  [[nodiscard]] std::uint32_t word_bytes() const noexcept { return element_bytes < 4 ? 4 : element_bytes; }
};

/// A problem as a `spans` kernel walks it, which makes fewer and fuller tiles of some.
struct SpanWalk {
  std::uint32_t unit = 0;  ///< bytes that are one element, where whole rows are such; 0: as they are
  /// A dimension in whose place there are two, the inner one of so many indices: part of it makes up runs,
  /// the rest columns.
  std::uint32_t split = max_view_rank;
  std::uint32_t part = 1;

  /// The problem in such elements and dimensions.
  [[nodiscard]] Problem walked(const Problem& problem) const;
};

/// How a `spans` kernel works through a problem: numbers of its launch (templates/params/span_tile.cuh).
struct SpanLayout {
  SpanWalk walk{};
  std::uint32_t rank = 1;           ///< as it is walked, and so all that follows
  std::uint32_t element_bytes = 1;  ///< of the destination
  /// Dimensions: those of a run, the nearest in the destination's memory first; those of columns, the nearest
  /// in the memory of the source first that they suit; the others.
  PerDimension order{};
  std::uint32_t run_dimensions = 1;
  std::uint32_t column_dimensions = 0;
  std::uint64_t run_elements = 1;  ///< of a whole run
  std::uint64_t all_columns = 1;
  std::uint32_t run = 1;       ///< elements of a tile's part of it, whole words
  std::uint32_t columns = 1;   ///< of a tile
  std::uint32_t in_chunk = 1;  ///< elements next to each other that a thread loads at once for an image
  bool staggered = false;      ///< runs begin anywhere in their words
  bool wide_offsets = false;   ///< offsets take more than 32 bits
  std::uint32_t group = 1;     ///< tiles that follow each other along the columns
  std::uint64_t run_tiles = 1;
  std::uint64_t column_tiles = 1;
  std::uint64_t others = 1;
  std::uint32_t sources = 1;
  std::array<SpanSource, max_inputs> source{};
  std::uint32_t tables = 0;          ///< where they begin in shared memory, behind the images
  std::uint32_t stored_at_once = 4;  ///< words of the destination that a thread has under way

  [[nodiscard]] std::uint32_t in_word() const noexcept { return element_bytes < 4 ? 4 / element_bytes : 1; }
  [[nodiscard]] std::uint32_t words() const noexcept { return run / in_word(); }
  /// Of a part of a run.
  [[nodiscard]] std::uint32_t chunks() const noexcept { return (run + in_chunk - 1) / in_chunk; }
  [[nodiscard]] std::uint32_t lanes() const noexcept;
  /// Threads side by side that go along a run when they store.
  [[nodiscard]] std::uint32_t stores() const noexcept;
  [[nodiscard]] std::uint64_t groups() const noexcept { return ceil_div(column_tiles, std::uint64_t{group}); }
  [[nodiscard]] std::uint64_t tiles() const noexcept { return run_tiles * column_tiles * others; }
  [[nodiscard]] bool has_image() const noexcept;
  [[nodiscard]] bool loads_elements() const noexcept;
  /// Entries of the tables of a tile.
  [[nodiscard]] std::uint32_t entries() const noexcept { return columns + elements(); }
  [[nodiscard]] std::uint32_t shared_bytes() const noexcept;
  /// The tile as a box of the problem, about: of dimensions that its spans reach beyond all indices.
  /// `walked` is the nest that is walked.
  [[nodiscard]] PerDimension box(const Problem& problem, const CanonicalNest& walked) const noexcept;
  [[nodiscard]] std::span<const SpanSource> all_sources() const noexcept {
    return std::span(source).first(sources);
  }

 private:
  /// Of the table of a source's elements.
  [[nodiscard]] std::uint32_t elements() const noexcept;
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
