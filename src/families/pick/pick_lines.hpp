#pragma once

#include "families/shared/source_lines.hpp"

#include <cstdint>
#include <optional>

TMAJIT_BEGIN

/// What the sources of a tile have in common: which elements follow each other in the destination.
struct PickRun {
  std::uint32_t dimension = 0;  ///< with those after it one run of the destination's memory
  std::uint32_t elements = 1;   ///< that follow each other in the destination
  std::uint32_t in_word = 1;    ///< elements of a word, which a thread picks at once
  friend bool operator==(const PickRun&, const PickRun&) = default;
};

/// Which lines of a source a tile takes, and where they lie among those of all sources.
struct PickLines : SourceLines {
  std::uint32_t alignment = 1;  ///< bytes, of every line's first
  std::uint32_t image = 0;      ///< where its image begins among those of all sources
  std::uint32_t first = 0;      ///< the first line's number among those of all sources
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
