#pragma once

#include "families/shared/views.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

TMAJIT_BEGIN

/// A dimension of the nest as a kernel of reductions counts it: along vectors, these.
struct ReductionStep {
  std::uint32_t d = 0;
  std::uint64_t extent = 1;
  std::uint32_t elements = 1;  ///< of an index
};

/// How a `reduce` kernel walks a problem (templates/kernels/reduce.cu): all that does not depend on how its
/// threads share the items.
struct ReductionWalk {
  bool columns = false;     ///< threads side by side take what is kept, not what is reduced
  std::uint32_t along = 0;  ///< the dimension of vectors; the nest's rank if there is none
  std::uint32_t vector = 1;
  bool staggered = false;  ///< rows begin between boundaries of vectors
  bool cut = false;        ///< a row may have part of a vector
  std::array<bool, max_inputs> is_run{};
  std::vector<ReductionStep> kept_steps;     ///< the fastest first
  std::vector<ReductionStep> reduced_steps;  ///< the fastest first
  std::uint64_t kept = 1;                    ///< items of what is kept
  std::uint64_t reduced = 1;                 ///< items that come together
  std::uint64_t count = 1;                   ///< elements that do
  std::uint32_t item_bytes = 0;              ///< of all sources

  [[nodiscard]] std::uint32_t results() const noexcept { return columns ? vector : 1; }  ///< of an item
  [[nodiscard]] bool is_flat() const noexcept { return reduced_steps.size() == 1; }
  [[nodiscard]] bool is_wide() const noexcept;
};

/// How threads share the items of a walk.
struct ReductionSharing {
  std::uint32_t turns = 1;   ///< items of a thread that are under way at once
  std::uint32_t owners = 1;  ///< items of what is kept that a CTA does
  std::uint32_t phases = 1;  ///< threads that share one
  std::uint32_t parts = 1;   ///< CTAs that share them
  std::uint64_t part = 1;    ///< items that come together in one of these
  friend bool operator==(const ReductionSharing&, const ReductionSharing&) = default;
};

struct ReductionLayout {
  std::shared_ptr<const ReductionWalk> walk;  ///< all layouts of a problem have the same
  ReductionSharing share;

  [[nodiscard]] std::uint32_t threads() const noexcept;
  [[nodiscard]] std::uint64_t tiles() const noexcept;  ///< by what is kept
  [[nodiscard]] std::uint64_t ctas() const noexcept { return tiles() * share.parts; }
};

inline constexpr std::uint32_t reduction_threads = 256;  ///< of a CTA, at most

[[nodiscard]] ReductionWalk reduction_walk(const Problem& problem);
/// The sharings that planners choose among on a chip of so many SMs. Never empty.
[[nodiscard]] std::vector<ReductionSharing> reduction_sharings(const ReductionWalk& walk,
                                                               std::uint32_t sm_count);

/// The one of them that suits most walks.
[[nodiscard]] std::size_t usual_sharing(const ReductionWalk& walk, std::span<const ReductionSharing> sharings,
                                        std::uint32_t sm_count);

TMAJIT_END
