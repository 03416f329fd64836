#pragma once

#include "families/shared/views.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

TMAJIT_BEGIN

// A `reduce` kernel processes items: vectors of elements along one dimension, or single elements. Reduced
// dimensions are those that the destination lacks; its own dimensions are those of the results.

/// A dimension of the nest, counted in items.
struct ReductionStep {
  std::uint32_t d = 0;         ///< dimension of the nest
  std::uint64_t extent = 1;    ///< items
  std::uint32_t elements = 1;  ///< elements of an item along the dimension
};

/// How a `reduce` kernel walks a problem (templates/kernels/reduce.cu), whatever threads share the items.
struct ReductionWalk {
  bool columns = false;                      ///< neighbouring threads take result items, not reduced ones
  std::uint32_t vector_dimension = 0;        ///< the dimension of vectors; the nest's rank if there is none
  std::uint32_t vector = 1;                  ///< elements of a vector
  bool staggered = false;                    ///< rows are not aligned to vectors
  bool cut = false;                          ///< a row may have part of a vector
  std::array<bool, max_inputs> is_run{};     ///< whether a source's vectors are contiguous
  std::vector<ReductionStep> result_steps;   ///< the fastest first
  std::vector<ReductionStep> reduced_steps;  ///< the fastest first
  std::uint64_t result_items = 1;            ///< items of the destination
  std::uint64_t reduced = 1;                 ///< items reduced to one result
  std::uint64_t count = 1;                   ///< elements reduced to one result
  std::uint32_t item_bytes = 0;              ///< bytes of an item in all sources

  /// The number of results that an item contributes to.
  [[nodiscard]] std::uint32_t results() const noexcept { return columns ? vector : 1; }
  /// Whether there is one reduced dimension.
  [[nodiscard]] bool is_flat() const noexcept { return reduced_steps.size() == 1; }
  /// Whether items must be counted in 64 bits.
  [[nodiscard]] bool is_wide() const noexcept;
};

/// How threads share the items of a walk.
struct ReductionSharing {
  std::uint32_t turns = 1;             ///< items of a thread in flight at once
  std::uint32_t tile_items = 1;        ///< result items of a CTA
  std::uint32_t threads_per_item = 1;  ///< threads that share a result item
  std::uint32_t parts = 1;             ///< CTAs that share a result item
  std::uint64_t part = 1;              ///< items that one of these CTAs reduces
  friend bool operator==(const ReductionSharing&, const ReductionSharing&) = default;
};

struct ReductionLayout {
  std::shared_ptr<const ReductionWalk> walk;  ///< shared by all layouts of a problem
  ReductionSharing share;

  [[nodiscard]] std::uint32_t threads() const noexcept;
  [[nodiscard]] std::uint64_t tiles() const noexcept;  ///< tiles of the result items
  [[nodiscard]] std::uint64_t ctas() const noexcept { return tiles() * share.parts; }
};

inline constexpr std::uint32_t reduction_threads = 256;  ///< threads of a CTA, at most

[[nodiscard]] ReductionWalk reduction_walk(const Problem& problem);
/// The sharings from which a planner chooses on a chip of `sm_count` SMs. Never empty.
[[nodiscard]] std::vector<ReductionSharing> reduction_sharings(const ReductionWalk& walk,
                                                               std::uint32_t sm_count);

/// The index of the default sharing in the list that reduction_sharings() returns.
[[nodiscard]] std::size_t default_sharing(const ReductionWalk& walk,
                                          std::span<const ReductionSharing> sharings, std::uint32_t sm_count);

TMAJIT_END
