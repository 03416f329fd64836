#pragma once

#include "families/shared/blocks.hpp"
#include "families/shared/views.hpp"
#include "spec/saturate.hpp"

#include <array>
#include <cstdint>
#include <optional>
#include <span>

TMAJIT_BEGIN

/// Which dimensions make up x, and how a tile is stored.
enum class FlatWay : std::uint32_t {
  apart,   ///< x has all dimensions after the source's contiguous one; a word has elements of one row
  near,    ///< y also has those in which the source goes on, until loads fill sectors
  run,     ///< as `apart`, and a tile has no more rows than follow each other in the source
  joined,  ///< x has all dimensions after the source's contiguous one; a word may have elements of two rows
};

/// The free choices of a `flat` kernel.
struct FlatTuning {
  FlatWay way = FlatWay::apart;
  std::uint32_t x_bytes = 128;  ///< bytes of a tile's row in the destination
  std::uint32_t y_bytes = 128;  ///< bytes of a tile's column in the source that lies across
  std::uint32_t threads = 256;
  std::uint32_t word_bytes = 16;  ///< bytes of a store, where the destination's rows allow it
  TileOrder order = TileOrder::destination;
};

/// How a `flat` kernel reads a source.
struct FlatSource {
  std::uint32_t element_bytes = 1;
  std::uint32_t along = 0;    ///< elements of one load along y; 0: the threads that store load along x
  std::uint32_t x_lanes = 1;  ///< groups that threads load side by side along x, before the next along y
  double lines = 1;           ///< lines of 128 bytes that a load of a warp meets
  std::uint32_t image = 0;    ///< byte offset of its image in shared memory
  std::uint32_t pitch = 0;    ///< words from row to row of the image

  [[nodiscard]] std::uint32_t word_bytes() const noexcept { return element_bytes < 4 ? 4 : element_bytes; }
};

/// How a `flat` kernel divides a problem: the launch parameters of templates/params/flat_tile.cuh.
struct FlatLayout {
  std::uint32_t rank = 1;
  std::uint32_t element_bytes = 1;  ///< element size of the destination
  /// The dimensions of x, then those of y. Either begin with the one that varies fastest: along x in the
  /// destination's memory, along y in that of the source that lies across.
  PerDimension dimension{};
  std::uint32_t x_dimensions = 1;
  std::uint64_t x_extent = 1;
  std::uint64_t y_extent = 1;
  std::uint32_t x = 1;  ///< elements of a tile
  std::uint32_t y = 1;
  std::uint32_t in_word = 1;  ///< elements of a store
  std::uint32_t group = 1;    ///< neighbours along x that a thread loads together for an image
  std::uint32_t loads = 1;    ///< groups that a thread has in flight
  std::uint32_t stores = 1;   ///< words that a thread has in flight
  std::uint32_t threads = 256;
  bool joined = false;        ///< words may have elements of two rows
  bool staggered = false;     ///< rows of the destination begin anywhere in a word
  bool wide_offsets = false;  ///< offsets take more than 32 bits
  TileOrder order = TileOrder::destination;
  std::uint32_t sources = 1;
  std::array<FlatSource, max_inputs> source{};
  std::uint32_t tables = 0;  ///< byte offset of the tables in shared memory, behind the images

  [[nodiscard]] std::uint32_t words() const noexcept { return std::max(x / in_word, 1U); }
  /// Threads side by side along x that store: each does one word of a row at a time, or several in turn.
  [[nodiscard]] std::uint32_t word_lanes() const noexcept;
  /// Entries of the table of x: a staggered row begins up to a word before the tile.
  [[nodiscard]] std::uint32_t columns() const noexcept {
    return x + (staggered && !joined ? std::max(in_word, group) : 0);
  }
  [[nodiscard]] std::uint64_t x_tiles() const noexcept {
    return ceil_div(x_extent + (staggered && !joined ? in_word - 1 : 0), std::uint64_t{x});
  }
  [[nodiscard]] std::uint64_t y_tiles() const noexcept { return ceil_div(y_extent, std::uint64_t{y}); }
  /// Tiles along y that CTAs take before the next along x.
  [[nodiscard]] std::uint64_t y_first() const noexcept;
  [[nodiscard]] std::uint64_t ctas() const noexcept { return x_tiles() * y_tiles(); }
  [[nodiscard]] bool has_image() const noexcept;
  [[nodiscard]] std::uint32_t shared_bytes() const noexcept;
  /// The tile as a box of the nest, about: a flat tile begins and ends inside of dimensions.
  [[nodiscard]] PerDimension box(const CanonicalNest& nest) const noexcept;
  /// The dimensions in which CTAs take tiles, the fastest last.
  [[nodiscard]] PerDimension tile_order() const noexcept;
  [[nodiscard]] std::span<const FlatSource> all_sources() const noexcept {
    return std::span(source).first(sources);
  }
};

/// The layout of a candidate of the family.
[[nodiscard]] const FlatLayout& flat_layout_of(const Candidate& candidate);

/// Makes layouts of a problem.
class FlatPlanner {
 public:
  explicit FlatPlanner(const Problem& problem);
  /// Whether some source lies across the destination.
  [[nodiscard]] bool takes() const noexcept { return across_ != none; }
  /// The layout of a tuning; nullopt if its way does not suit the problem, or an index or the shared memory
  /// would exceed its limit.
  [[nodiscard]] std::optional<FlatLayout> layout(const FlatTuning& tuning) const;

 private:
  static constexpr std::uint32_t none = max_view_rank;

  [[nodiscard]] std::uint32_t across_of(const PerDimension& order, std::uint32_t element_bytes) const;
  [[nodiscard]] bool choose_dimensions(FlatLayout& layout, FlatWay way) const;
  [[nodiscard]] bool fills_rows(const FlatLayout& layout, std::uint32_t bytes) const;
  [[nodiscard]] bool choose_word(FlatLayout& layout, const FlatTuning& tuning) const;
  [[nodiscard]] std::uint32_t along_y(const FlatLayout& layout, std::uint32_t s) const;
  void choose_images(FlatLayout& layout) const;
  void choose_lanes(FlatLayout& layout, std::uint32_t s) const;
  void choose_tile(FlatLayout& layout, const FlatTuning& tuning) const;
  void place_images(FlatLayout& layout) const;
  [[nodiscard]] double lines_of_load(const FlatLayout& layout, std::uint32_t s) const;

  const Problem& problem_;
  const CanonicalNest& nest_;
  FlatLayout base_;         ///< the part that does not depend on a tuning
  std::uint32_t lead_ = 0;  ///< the source that lies across the destination by most
  std::uint32_t across_ =
      none;               ///< the dimension in which that source is nearest; none: no source lies across
  PerDimension order_{};  ///< the lead's dimensions, the farthest first
  bool dense_ = true;     ///< the destination has no gaps
};

/// Bytes of shared memory of any launch.
inline constexpr std::uint32_t most_flat_bytes = 48 * 1024;

TMAJIT_END
