#pragma once

#include "families/shared/reductions.hpp"

#include <cstdint>
#include <optional>
#include <vector>

TMAJIT_BEGIN

/// A dimension of the nest as a kernel of engine_reduce counts it.
struct EngineReductionStep {
  std::uint32_t d = 0;
  std::uint64_t extent = 1;    ///< indices that it counts
  std::uint64_t elements = 1;  ///< of the dimension in each: the side that chunks cut counts chunks
};

/// How an `engine_reduce` kernel walks a problem (templates/kernels/engine_reduce.cu). Its source's elements
/// lie in chunks that have no gaps: all indices of the dimensions nearest in memory, and `side` of the next.
struct EngineReductionLayout {
  std::vector<EngineReductionStep> own;    ///< kept, of a chunk: the nearest in memory first
  std::vector<EngineReductionStep> tiles;  ///< kept, others; the side first, if it is kept
  std::vector<EngineReductionStep>
      steps;                      ///< reduced, of which a chunk has one index; the side first, likewise
  std::uint32_t side = 0;         ///< the dimension that chunks cut
  std::uint64_t side_length = 1;  ///< its indices that a chunk has
  bool side_is_kept = false;
  std::uint64_t block = 1;    ///< elements of an index of it
  std::uint64_t near = 1;     ///< outputs side by side in memory
  std::uint64_t outputs = 1;  ///< of a whole tile
  std::uint32_t inner = 0;    ///< the reduced dimension in the block; the nest's rank if there is none
  std::uint64_t inner_extent = 1;
  std::uint64_t tile_count = 1;
  std::uint64_t step_count = 1;
  std::uint64_t count = 1;  ///< elements that come together
  ReductionTeamShape team;
  std::uint32_t stages = 2;
  std::uint32_t slot_bytes = 0;
  std::uint64_t ctas = 1;

  [[nodiscard]] std::uint64_t chunk() const noexcept { return block * side_length; }  ///< elements
  [[nodiscard]] std::uint64_t units() const noexcept { return tile_count * team.parts; }
  [[nodiscard]] std::uint32_t threads() const noexcept;  ///< of a CTA
};

/// What is free to choose.
struct EngineReductionTuning {
  std::uint32_t chunk_bytes;
  std::uint32_t stages;
  std::uint32_t ctas_per_sm;
};

inline constexpr std::uint32_t engine_reduction_threads = 256;  ///< of a CTA that take elements, at most
inline constexpr std::uint32_t loading_threads = 32;            ///< and those that load
inline constexpr std::uint32_t most_engine_results = 8;         ///< of a thread

/// None where the source has more than one tensor, gaps between elements, or chunks too short for the copy
/// engine.
[[nodiscard]] std::optional<EngineReductionLayout> engine_reduction_layout(
    const Problem& problem, const EngineReductionTuning& tuning);

TMAJIT_END
