#pragma once

#include "kernel/facts_text.hpp"

#include <tmajit/bank_conflicts.hpp>

#include <array>
#include <cstdint>

TMAJIT_BEGIN

/// An image of a tile in shared memory, in which an element's place is a sum of steps, one for each
/// dimension.
struct TileImageSteps {
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

/// How often an access takes the banks of shared memory in which `along` lanes side by side read every
/// `apart`-th element of a run's first `elements`, and the lanes after them the same, each `across` bytes on.
[[nodiscard]] std::uint32_t banks_taken(const TileImageSteps& image, std::uint32_t element_bytes,
                                        std::uint32_t along, std::uint32_t apart, std::uint32_t elements,
                                        std::int64_t across);

TMAJIT_END
