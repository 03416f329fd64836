#pragma once

#include "families/shared/views.hpp"

#include <cstdint>
#include <optional>

TMAJIT_BEGIN

/// What a `gather` kernel is specialised for. It moves bits to runs of the destination's memory that several
/// dimensions make up, by way of an image of the source's lines in shared memory.
struct GatherFacts {
  std::uint32_t rank = 1;
  std::uint32_t element_bytes = 1;
  std::uint32_t threads = 0;
  std::uint32_t column = 0;         ///< the dimension in which the source is contiguous, or nearly
  std::uint32_t alignment = 1;      ///< bytes, of every run's first
  std::uint32_t run_dimension = 0;  ///< with those after it one run of the destination's memory
  std::uint32_t part =
      0;  ///< indices of it in a part of a run, all of which are the same but for their place; 0: none
  Flag same_alignment = 0;  ///< a tile's runs begin equally far from multiples of 16 bytes
  Flag wide_offsets = 0;
  PerDimension box{};
  // The image:
  std::uint32_t line_alignment = 1;      ///< bytes, of every line's first
  std::uint32_t line_bytes = 0;          ///< that a line spans
  std::uint32_t line_dimensions = 0;     ///< how many, from the last of `source_order`, a line spans
  std::uint32_t skewed = max_view_rank;  ///< the dimension along which the image has gaps of 16 bytes
  std::uint32_t skew_every = 1;          ///< lines between two such gaps
  PerDimension source_order{};           ///< dimensions by the source's strides, the largest first
  PerDimension lines{};                  ///< in each dimension; 1 in those that a line spans
  std::array<std::int32_t, max_view_rank> image_step{};  ///< bytes between indices; 0 where repeated
  [[nodiscard]] std::uint32_t vector() const noexcept { return 16 / element_bytes; }
};

/// How a `gather` kernel's CTA works through its tile: what follows from the kernel's box and steps
/// (templates/kernels/gather.cu).
struct GatherLayout {
  std::uint32_t run_elements = 1;  ///< that follow each other in the destination
  std::uint32_t runs = 1;          ///< of a tile
  std::uint32_t parts = 1;         ///< of a run
  std::uint32_t slots = 1;         ///< vectors of 16 bytes that a part, or else a run, meets
  std::uint32_t slots_along = 32;  ///< that a warp stores of each part at a time
  std::uint32_t warps_along = 1;   ///< warps side by side along the runs
  std::uint32_t places = 0;        ///< in the table
  std::uint32_t place_pitch = 0;   ///< from one slot's places to the next's
  std::uint32_t line_count = 1;
  std::uint32_t image_bytes = 0;  ///< a multiple of 16
  std::uint32_t bytes = 0;        ///< of shared memory: the image, then the table

  explicit GatherLayout(const GatherFacts& facts) noexcept;
};

/// Bytes of a tile's runs in the destination, and of its lines in the source.
struct GatherTuning {
  std::uint32_t destination_run = 256;
  std::uint32_t source_run = 128;
};

/// Whether the problem moves bits to runs of several dimensions of which the last, or that in which the
/// source is contiguous, is short, from a source that does not interleave with the destination.
[[nodiscard]] bool takes_gather(const Problem& problem) noexcept;
/// Such a kernel's facts; nullopt if the image is too large.
[[nodiscard]] std::optional<GatherFacts> plan_gather(const Problem& problem, const GatherTuning& tuning);

TMAJIT_END
