#pragma once

#include "kernel/facts_text.hpp"
#include "kernel/problem.hpp"

#include <cstdint>
#include <vector>

TMAJIT_BEGIN

/// Bytes of a tile's runs in the destination, of its lines in the source, and of the whole.
struct WeaveTuning {
  std::uint32_t destination_run = 256;
  std::uint32_t source_run = 256;
  std::uint32_t tile_bytes = 16 * 1024;
};

/// Tiles of a problem of about what tunings ask for, which grow along the destination's memory, then along
/// the source's, then wherever they can.
class WeaveBoxes {
 public:
  /// The problem must outlive it.
  explicit WeaveBoxes(const Problem& problem);
  [[nodiscard]] PerDimension box(const WeaveTuning& tuning);

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

  const Problem& problem_;
  const CanonicalNest& nest_;
  std::uint32_t bytes_;
  PerDimension order_;  ///< dimensions by the source's strides
  std::vector<Part> parts_;
};

TMAJIT_END
