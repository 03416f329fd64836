#pragma once

#include "plan/move_kernel.hpp"

#include <tmajit/tensor_map_spec.hpp>

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

TMAJIT_BEGIN

// Kernels through the copy engine: how the tiles of a nest become boxes of tensor maps.
//
// A nest has up to eight dimensions, a tensor map five. Where it has more, those in which a tile has a single
// index share the map's outermost dimension: its stride is the greatest common divisor of theirs, and an
// index counts for as many of it as its own stride has.

/// Bytes of the elements of a kernel's tensor maps: rows move as the widest that the copy engine knows,
/// whatever the tensor's are.
[[nodiscard]] std::uint32_t map_element_bytes(const MoveKernel& kernel) noexcept;

/// The map of one operand, and how a tile's indices become its coordinates.
struct EngineMap {
  TensorMapSpec spec;
  std::array<std::uint32_t, max_view_rank> fold{};  ///< what a dimension's index counts in the shared one
};

/// The dimensions of the nest in the order of a map's, outermost first; shared ones are not among them.
struct MapOrder {
  std::array<std::uint32_t, max_map_rank> dimension{};
  std::uint32_t count = 0;
  bool shared = false;  ///< one more, outermost, for all others
  [[nodiscard]] std::uint32_t rank() const noexcept { return count + (shared ? 1 : 0); }
  [[nodiscard]] bool has(std::uint32_t d) const noexcept;
};

/// The destination's last dimension is innermost; for a transpose's source its column is, then its row.
[[nodiscard]] MapOrder map_order(const MoveKernel& kernel) noexcept;

/// Shared memory of a CTA's tiles.
struct EngineLayout {
  std::uint32_t parts =
      1;  ///< boxes that a tile is loaded as, one beside the other in its innermost dimension
  std::uint32_t part_bytes = 0;  ///< from one to the next
  std::uint32_t load_bytes = 0;  ///< that a tile adds to its mbarrier
  std::uint32_t bytes = 0;       ///< of all tiles, what aligning the first takes included
};

[[nodiscard]] EngineLayout engine_layout(const MoveKernel& kernel) noexcept;

/// The map of operand 0, the destination, or 1, the source; nullopt if no tensor map can describe it.
[[nodiscard]] std::optional<EngineMap> engine_map(const MoveKernel& kernel, const MoveProblem& problem,
                                                  std::uint32_t operand);

/// Candidates for a problem that `rows` or, with the source's contiguous dimension, `transpose` can take;
/// none where the copy engine cannot.
[[nodiscard]] std::vector<MoveCandidate> engine_rows_candidates(const MoveProblem& problem);
[[nodiscard]] std::vector<MoveCandidate> engine_transpose_candidates(const MoveProblem& problem,
                                                                     std::uint32_t column);

/// The kernel as its source sees it: `engine_rows` knows elements of 8 bytes only, whatever the tensors' are.
/// Others are as they are.
[[nodiscard]] MoveKernel as_words(const MoveKernel& kernel) noexcept;
/// The facts of such a kernel, for its source, and the parameters and body of its entry point.
[[nodiscard]] std::string engine_facts(const MoveKernel& kernel);
[[nodiscard]] std::string engine_entry(const MoveKernel& kernel);
TMAJIT_END
