#pragma once

#include "families/pick/pick_lines.hpp"
#include "families/shared/line_boxes.hpp"

#include <array>
#include <cstdint>
#include <optional>

TMAJIT_BEGIN

/// How a `pick` kernel works through a tile of a problem: numbers of its launch
/// (templates/params/pick_tile.cuh).
struct PickLayout {
  std::uint32_t rank = 1;
  std::uint32_t element_bytes = 1;  ///< of the destination
  PerDimension box{};
  PickRun run{};
  std::uint32_t runs = 1;   ///< of a tile
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
  std::uint32_t banks_taken = 1;  ///< times that a warp's accesses for an element take the banks of shared
                                  ///< memory, of all sources together
  std::uint32_t warps_log = 0;    ///< likewise of the warps of a CTA
  // Sources:
  std::uint32_t sources = 1;
  std::uint32_t lead = 0;  ///< the source whose memory decides in which order runs are done
  std::array<PickLines, max_inputs> source{};
  std::uint32_t lines = 1;        ///< of all sources
  std::uint32_t image_bytes = 0;  ///< of all sources; a multiple of 16
  std::uint32_t images = 1;       ///< a tile comes to one while another is stored
  std::uint32_t bytes = 0;        ///< of shared memory: the images, then the tables
  std::uint64_t tiles = 1;
  std::uint32_t tiles_per_cta = 1;
  bool wide_offsets = false;  ///< offsets in a tile take more than 32 bits

  /// Bytes of a source's image from one part of a run to the next, or from one run of a chunk to the next
  /// index.
  [[nodiscard]] std::int32_t along_image(std::uint32_t s) const noexcept;
  /// A source's image.
  [[nodiscard]] LineImage image(std::uint32_t s) const noexcept;
  /// Units of 16 bytes that all lines meet.
  [[nodiscard]] std::uint64_t line_units() const noexcept;
  friend bool operator==(const PickLayout&, const PickLayout&) = default;
};

/// Whether a source's elements along the destination's rows lie apart, or what follows a short row of the
/// destination's memory lies elsewhere in the source's: threads would load it element by element.
[[nodiscard]] bool lies_across(const Problem& problem, std::uint32_t operand) noexcept;
/// What follows from a tile; nullopt if its images are too large.
[[nodiscard]] std::optional<PickLayout> pick_layout(const Problem& problem, const PerDimension& box);

/// Threads of a CTA.
inline constexpr std::uint32_t pick_threads = 256;
/// Bytes of shared memory of any launch: four CTAs an SM.
inline constexpr std::uint32_t most_pick_bytes = 56 * 1024;

TMAJIT_END
