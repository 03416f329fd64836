#pragma once

#include "families/shared/blocks.hpp"
#include "families/shared/views.hpp"
#include "spec/saturate.hpp"

#include <array>
#include <cstdint>
#include <optional>
#include <span>

TMAJIT_BEGIN

// A flat kernel moves tiles of two flat index spaces: x counts elements along the destination's rows, y along
// the memory of the leading source. The leading source lies across the destination: it is contiguous in
// another dimension, or in the same one if that is short. An image is the copy of a source's tile in shared
// memory.

/// Which dimensions make up x, and how a tile is stored. A run is a part of the leading source that is
/// contiguous along y.
enum class FlatVariant : std::uint32_t {
  /// x has all dimensions after the source's contiguous one. A word has elements of one row.
  separate_rows,
  /// As `separate_rows`, but y also takes the dimensions with the source's next larger strides, until a run
  /// of the source covers a few whole sectors.
  longer_source_runs,
  /// As `separate_rows`, but a tile's extent along y is at most one run of the source.
  one_source_run,
  /// x has all dimensions after the source's contiguous one. A word may span several rows.
  joined_rows,
};

/// The free choices of a `flat` kernel.
struct FlatTuning {
  FlatVariant variant = FlatVariant::separate_rows;
  std::uint32_t x_bytes = 128;  ///< bytes of a tile's row in the destination
  std::uint32_t y_bytes = 128;  ///< bytes of a tile's column in the leading source
  std::uint32_t threads = 256;
  std::uint32_t word_bytes = 16;  ///< bytes of a store, where the destination's rows allow it
  TileOrder order = TileOrder::destination;
};

/// How a `flat` kernel reads a source.
struct FlatSource {
  std::uint32_t element_bytes = 1;
  /// Elements along y of one load. 0: the source has no image, and the threads that store load along x.
  std::uint32_t y_per_load = 0;
  /// Neighbouring threads load this many groups along x before they move to the next y.
  std::uint32_t x_lanes = 1;
  double lines = 1;         ///< lines of 128 bytes that a load of a warp touches
  std::uint32_t image = 0;  ///< byte offset of its image in shared memory
  std::uint32_t pitch = 0;  ///< words from row to row of the image

  [[nodiscard]] bool has_image() const noexcept { return y_per_load > 0; }
  [[nodiscard]] std::uint32_t word_bytes() const noexcept { return element_bytes < 4 ? 4 : element_bytes; }
};

/// How a `flat` kernel divides a problem: the launch parameters of templates/params/flat_tile.cuh.
struct FlatLayout {
  std::uint32_t rank = 1;
  std::uint32_t element_bytes = 1;  ///< element size of the destination
  /// The dimensions of x by ascending strides of the destination, then those of y by ascending strides of the
  /// leading source.
  PerDimension dimension{};
  std::uint32_t x_dimensions = 1;
  std::uint64_t x_extent = 1;
  std::uint64_t y_extent = 1;
  std::uint32_t x = 1;              ///< elements of a tile along x
  std::uint32_t y = 1;              ///< elements of a tile along y
  std::uint32_t word_elements = 1;  ///< elements of a word, which one store writes
  std::uint32_t group = 1;   ///< neighbours along x that a thread loads into an image together, one by one
  std::uint32_t loads = 1;   ///< groups that a thread has in flight
  std::uint32_t stores = 1;  ///< words that a thread has in flight
  std::uint32_t threads = 256;
  bool joined = false;        ///< a word may span several rows
  bool staggered = false;     ///< the destination's rows are not aligned to words
  bool wide_offsets = false;  ///< offsets take more than 32 bits
  TileOrder order = TileOrder::destination;
  std::uint32_t sources = 1;
  std::array<FlatSource, max_inputs> source{};
  std::uint32_t tables = 0;  ///< byte offset of the tables in shared memory, after the images

  [[nodiscard]] std::uint32_t words() const noexcept { return std::max(x / word_elements, 1U); }
  /// Threads that store a row of a tile together. Each stores one of its words, or several one after another.
  [[nodiscard]] std::uint32_t word_lanes() const noexcept;
  /// Entries of the table of x: a staggered row begins up to a word before the tile.
  [[nodiscard]] std::uint32_t columns() const noexcept {
    return x + (staggered && !joined ? std::max(word_elements, group) : 0);
  }
  [[nodiscard]] std::uint64_t x_tiles() const noexcept {
    return ceil_div(x_extent + (staggered && !joined ? word_elements - 1 : 0), std::uint64_t{x});
  }
  [[nodiscard]] std::uint64_t y_tiles() const noexcept { return ceil_div(y_extent, std::uint64_t{y}); }
  /// The number of tiles along y that successive CTAs take before the next tile along x.
  [[nodiscard]] std::uint64_t consecutive_y_tiles() const noexcept;
  [[nodiscard]] std::uint64_t ctas() const noexcept { return x_tiles() * y_tiles(); }
  [[nodiscard]] std::uint32_t shared_bytes() const noexcept;
  /// The box of the nest that approximates the tile: a flat tile may begin and end within a dimension.
  [[nodiscard]] PerDimension box(const CanonicalNest& nest) const noexcept;
  /// The dimensions in which CTAs take tiles, the fastest last.
  [[nodiscard]] PerDimension tile_order() const noexcept;
  [[nodiscard]] std::span<const FlatSource> all_sources() const noexcept {
    return std::span(source).first(sources);
  }
};

/// The layout of a candidate of the family.
[[nodiscard]] const FlatLayout& flat_layout_of(const Candidate& candidate);

/// Plans the layouts of a problem.
class FlatPlanner {
 public:
  explicit FlatPlanner(const Problem& problem);
  /// Whether the family supports the problem: whether a source lies across the destination.
  [[nodiscard]] bool supports_problem() const noexcept { return across_ != none; }
  /// The layout of a tuning; nullopt if its variant does not suit the problem, or an index or the shared
  /// memory would exceed its limit.
  [[nodiscard]] std::optional<FlatLayout> layout(const FlatTuning& tuning) const;

 private:
  static constexpr std::uint32_t none = max_view_rank;

  [[nodiscard]] std::uint32_t across_of(const PerDimension& order, std::uint32_t element_bytes) const;
  [[nodiscard]] bool choose_dimensions(FlatLayout& layout, FlatVariant variant) const;
  [[nodiscard]] bool fills_rows(const FlatLayout& layout, std::uint32_t bytes) const;
  [[nodiscard]] bool choose_word(FlatLayout& layout, const FlatTuning& tuning) const;
  [[nodiscard]] std::uint32_t elements_per_load(const FlatLayout& layout, std::uint32_t s) const;
  void choose_images(FlatLayout& layout) const;
  void choose_lanes(FlatLayout& layout, std::uint32_t s) const;
  void choose_tile(FlatLayout& layout, const FlatTuning& tuning) const;
  void place_images(FlatLayout& layout) const;
  [[nodiscard]] double lines_of_load(const FlatLayout& layout, std::uint32_t s) const;

  const Problem& problem_;
  const CanonicalNest& nest_;
  FlatLayout base_;  ///< the part that does not depend on a tuning
  /// The leading source: among the sources that lie across, the one of which a warp that loads along x
  /// touches the most memory lines.
  std::uint32_t lead_ = 0;
  /// The dimension in which the leading source has its smallest stride, or the second smallest
  /// (FlatPlanner::across_of()); none: no source lies across.
  std::uint32_t across_ = none;
  PerDimension order_{};  ///< the leading source's dimensions, the largest stride first
  bool dense_ = true;     ///< the destination has no gaps
};

/// Limit of a launch's shared memory.
inline constexpr std::uint32_t max_flat_shared_bytes = 48 * 1024;

TMAJIT_END
