#pragma once

#include "families/shared/line_image.hpp"
#include "families/shared/views.hpp"

#include <cstdint>
#include <optional>

TMAJIT_BEGIN

/// The logarithm of lines between two gaps of an image that has none: no index is so large.
inline constexpr std::uint32_t no_skew = 31;

/// What the sources of a tile have in common: which elements follow each other in the destination.
struct PickRun {
  std::uint32_t dimension = 0;  ///< with those after it one run of the destination's memory
  std::uint32_t elements = 1;   ///< that follow each other in the destination
  std::uint32_t in_word = 1;    ///< elements of a word, which a thread picks at once
  friend bool operator==(const PickRun&, const PickRun&) = default;
};

/// Which lines of a source a tile takes, and where they lie in its image.
struct PickLines {
  std::uint32_t operand = 1;
  std::uint32_t rank = 1;
  std::uint32_t element_bytes = 1;
  std::uint32_t alignment = 1;   ///< bytes, of every line's first
  std::uint32_t bytes = 0;       ///< that a line spans
  std::uint32_t dimensions = 0;  ///< how many, from the last of `order`, a line spans
  std::uint32_t units = 1;       ///< of 16 bytes that a line meets
  std::uint32_t count = 1;
  PerDimension order{};  ///< dimensions by the source's strides, the largest first
  // The image:
  std::array<std::int32_t, max_view_rank> image_step{};  ///< bytes between indices; 0 where repeated
  std::uint32_t below = 0;                               ///< bytes of a line before its element of index 0
  std::uint32_t skewed = max_view_rank;  ///< the dimension along which the image has gaps of 16 bytes
  std::uint32_t skew_log = no_skew;      ///< the logarithm of the lines between two such gaps
  std::uint32_t image_bytes = 0;         ///< a multiple of 16
  std::uint32_t image = 0;               ///< where it begins among those of all sources
  std::uint32_t first = 0;               ///< the first line's number among those of all sources

  /// Whether a line spans dimension `d`.
  [[nodiscard]] bool spans(std::uint32_t d) const noexcept;
  /// Its image of a tile.
  [[nodiscard]] LineImage layout(const PerDimension& box, const PickRun& run) const noexcept;
  friend bool operator==(const PickLines&, const PickLines&) = default;
};

/// The same, and where the first lanes along a run find its elements: those of a part do so, too.
struct PlacedLines {
  PickLines lines;
  RunPlaces places;
};

/// The lines of a tile's source; nullopt if their image is too large.
[[nodiscard]] std::optional<PlacedLines> pick_lines(const Problem& problem, std::uint32_t operand,
                                                    const PerDimension& box, const PickRun& run);

TMAJIT_END
