#pragma once

#include "families/shared/line_image.hpp"
#include "families/shared/views.hpp"

#include <cstdint>
#include <optional>
#include <vector>

TMAJIT_BEGIN

/// Bytes of a tile's runs in the destination, of its lines in the source, and of the whole.
struct PickTuning {
  std::uint32_t destination_run = 256;
  std::uint32_t source_run = 256;
  std::uint32_t tile_bytes = 16 * 1024;
};

/// The logarithm of lines between two gaps of an image that has none: no index is so large.
inline constexpr std::uint32_t no_skew = 31;

/// How a `pick` kernel works through a tile of a problem: numbers of its launch
/// (templates/params/pick_tile.cuh).
struct PickLayout {
  std::uint32_t rank = 1;
  std::uint32_t element_bytes = 1;
  PerDimension box{};
  // Runs:
  std::uint32_t run_dimension = 0;  ///< with those after it one run of the destination's memory
  std::uint32_t run_elements = 1;   ///< that follow each other in the destination
  std::uint32_t runs = 1;           ///< of a tile
  std::uint32_t part = 0;   ///< indices of the run dimension in a part, all of which are alike; 0: no parts
  std::uint32_t parts = 1;  ///< of a run
  std::uint32_t part_elements = 1;
  std::uint32_t words = 1;  ///< of memory that a part meets
  std::uint32_t along = 0;  ///< the dimension whose runs a chunk has, where runs have no parts
  std::uint32_t chunk = 1;  ///< runs or parts of a chunk
  std::uint32_t every = 1;  ///< how far apart they are
  std::uint32_t chunks_along = 1;
  std::uint32_t chunks = 1;       ///< of a tile
  std::uint32_t lanes_log = 5;    ///< the logarithm of the lanes of a warp that go along a run
  std::uint32_t banks_taken = 1;  ///< times that an access of a warp takes the banks of shared memory
  std::uint32_t warps_log = 0;    ///< likewise of the warps of a CTA
  // Lines:
  std::uint32_t line_alignment = 1;   ///< bytes, of every line's first
  std::uint32_t line_bytes = 0;       ///< that a line spans
  std::uint32_t line_dimensions = 0;  ///< how many, from the last of `source_order`, a line spans
  std::uint32_t line_units = 1;       ///< of 16 bytes that a line meets
  std::uint32_t lines = 1;
  PerDimension source_order{};  ///< dimensions by the source's strides, the largest first
  // The image:
  std::array<std::int32_t, max_view_rank> image_step{};  ///< bytes between indices; 0 where repeated
  std::uint32_t below = 0;                               ///< bytes of a line before its element of index 0
  std::uint32_t skewed = max_view_rank;  ///< the dimension along which the image has gaps of 16 bytes
  std::uint32_t skew_log = no_skew;      ///< the logarithm of the lines between two such gaps
  std::uint32_t image_bytes = 0;         ///< a multiple of 16
  std::uint32_t images = 1;              ///< a tile comes to one while another is stored
  std::uint32_t bytes = 0;               ///< of shared memory: the images, then the tables
  std::uint64_t tiles = 1;
  std::uint32_t tiles_per_cta = 1;

  /// Bytes of the image from one part of a run to the next, or from one run of a chunk to the next index.
  [[nodiscard]] std::int32_t along_image() const noexcept;
  [[nodiscard]] LineImage image() const noexcept;
  /// Whether a line spans dimension `d`.
  [[nodiscard]] bool spans(std::uint32_t d) const noexcept;
  friend bool operator==(const PickLayout&, const PickLayout&) = default;
};

/// Tiles of a problem of about what tunings ask for.
class PickBoxes {
 public:
  /// The problem must outlive it.
  explicit PickBoxes(const Problem& problem);
  [[nodiscard]] PerDimension box(const PickTuning& tuning);

 private:
  /// Part of an extent that was asked for: tunings ask for many of them again.
  struct Part {
    std::uint64_t extent;
    std::uint64_t wanted;
    std::uint64_t inner;
    std::uint32_t part;
  };
  [[nodiscard]] std::uint32_t part_of(std::uint64_t extent, std::uint64_t wanted, std::uint64_t inner);
  void lengthen_runs(PerDimension& box, std::uint64_t wanted);
  void lengthen_lines(PerDimension& box, std::uint64_t wanted);
  void fill_up(PerDimension& box, std::uint64_t elements);

  const CanonicalNest& nest_;
  std::uint32_t bytes_;
  PerDimension order_;
  std::vector<Part> parts_;
};
/// What follows from a tile; nullopt if its image is too large.
[[nodiscard]] std::optional<PickLayout> pick_layout(const Problem& problem, const PerDimension& box);

/// Threads of a CTA.
inline constexpr std::uint32_t pick_threads = 256;
/// Bytes of shared memory of any launch: four CTAs an SM.
inline constexpr std::uint32_t most_pick_bytes = 56 * 1024;

TMAJIT_END
