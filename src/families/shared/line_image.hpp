#pragma once

#include "kernel/facts_text.hpp"

#include <tmajit/bank_conflicts.hpp>

#include <array>
#include <cstdint>
#include <string>

TMAJIT_BEGIN

/// Bytes from line to line of an image: the least from `least` on that are `like` modulo 16 and an odd number
/// of 16 bytes besides, so that the lines meet more banks.
[[nodiscard]] std::uint64_t line_step(std::uint64_t least, std::uint64_t like) noexcept;

/// An image of a tile in shared memory, in which an element's place is a sum of steps, one for each
/// dimension.
struct LineImage {
  PerDimension box{};                              ///< of the tile
  std::array<std::int32_t, max_view_rank> step{};  ///< bytes from one index to the next
  std::uint32_t rank = 1;
  std::uint32_t run_dimension = 0;       ///< it and those after it are a run of the destination's memory
  std::uint32_t skewed = max_view_rank;  ///< the dimension with 16 bytes more ...
  std::uint32_t skew_every = 1;          ///< ... after so many indices
  std::int64_t below = 0;                ///< bytes before the element of index 0

  /// Bytes to an index of a dimension.
  [[nodiscard]] std::int64_t bytes_to(std::uint32_t d, std::uint32_t index) const noexcept;
};

/// The facts image_step, skewed and skew_every of a kernel that has such an image.
[[nodiscard]] std::string image_step_fact(const LineImage& image);

/// The indices in a tile of every `apart`-th element of a run, one for each of some lanes of a warp side by
/// side along it. After the last element comes the first again.
struct LaneIndices {
  LaneIndices(const PerDimension& box, std::uint32_t run_dimension, std::uint32_t rank,
              std::uint32_t elements_apart, std::uint32_t lanes);
  std::uint32_t along;
  std::uint32_t apart;
  std::array<std::array<std::uint32_t, warp_lanes>, max_view_rank> index;
};

/// Where those lanes find their elements in an image, whose gaps come after a power of two of indices.
class RunPlaces {
 public:
  RunPlaces(const LineImage& image, const LaneIndices& lanes);
  /// How often loads of `width` bytes, 4, 8 or 16, to which places are aligned, take the banks of shared
  /// memory, where `along` lanes of a warp go along a run (those of them that have no place do nothing), and
  /// the lanes after them do the same, each `across` bytes on: as many lanes at once as all banks together
  /// have bytes for. It counts no further than to `enough`.
  [[nodiscard]] std::uint32_t wavefronts(std::uint32_t width, std::uint32_t along, std::int64_t across,
                                         std::uint32_t enough = UINT32_MAX) const;

 private:
  std::uint32_t lanes_;  ///< that have a place
  bool even_;            ///< each is `step_` bytes after the one before
  std::int64_t step_;
  std::array<std::uint32_t, warp_lanes> place_;
};

TMAJIT_END
