#pragma once

#include "families/shared/views.hpp"

#include <tmajit/tensor_map_spec.hpp>

#include <array>
#include <cstdint>
#include <optional>

TMAJIT_BEGIN

/// What a `multicast` kernel is specialised for. The CTAs of a cluster have neighbouring indices of the
/// dimension `along`, and the same tile of all others.
struct MulticastFacts {
  std::uint32_t type = 0;  ///< of the destination, an ElementType
  std::uint32_t rank = 2;
  std::uint32_t along = 0;
  std::uint32_t cluster = 1;
  std::uint32_t stages = 2;
  std::uint32_t in_word = 1;    ///< elements that a thread does at a time, side by side in the last dimension
  std::uint32_t alignment = 1;  ///< of the destination's words, bytes
  Flag computes = 0;
  Flag wide_offsets = 0;
  std::uint32_t sources = 1;
  std::uint32_t coordinates = 0;  ///< dimensions of the user's view, if the expression reads them
  Flag wide_coordinates = 0;      ///< more than 32 bits
  PerDimension dimension_of{};    ///< the nest's dimension of each coordinate
  PerDimension backwards{};       ///< 1 where the nest walks it backwards
  PerDimension box{};             ///< of a CTA's tile: powers of two, 1 along `along`
  std::array<std::uint32_t, max_inputs> source{};      ///< types
  std::array<std::uint32_t, max_inputs> dimensions{};  ///< in which it does not repeat: bit d for dimension d
  std::array<std::uint32_t, max_inputs> unit{};        ///< bytes of an element of its tensor map

  [[nodiscard]] ElementType element_type() const noexcept { return static_cast<ElementType>(type); }
  [[nodiscard]] ElementType source_type(std::uint32_t s) const noexcept {
    return static_cast<ElementType>(source[s]);
  }
  [[nodiscard]] bool has(std::uint32_t s, std::uint32_t d) const noexcept {
    return (dimensions[s] >> d & 1) != 0;
  }
  /// Whether all CTAs of a cluster need the same tile of a source.
  [[nodiscard]] bool is_shared(std::uint32_t s) const noexcept { return !has(s, along); }
};

/// A source's tile in shared memory: its dimensions one inside the other, without gaps. It comes in parts,
/// each contiguous there; of a shared one each CTA brings as many.
struct MulticastImage {
  std::array<std::uint32_t, max_map_rank> dimension{};  ///< outermost first, as in its tensor map
  std::array<std::uint32_t, max_map_rank> parts{};      ///< that each is cut into
  std::array<std::uint32_t, max_map_rank> step{};       ///< bytes from one index to the next
  std::uint32_t rank = 0;
  std::uint32_t bytes = 0;
  std::uint32_t offset = 0;  ///< in the stage

  [[nodiscard]] std::uint32_t all_parts() const noexcept;
};

struct MulticastLayout {
  std::array<MulticastImage, max_inputs> image{};
  std::uint32_t stage_bytes = 0;
  std::uint32_t load_bytes = 0;   ///< that a stage adds to its mbarrier
  std::uint32_t asked_bytes = 0;  ///< of these, by the CTA itself
};
[[nodiscard]] MulticastLayout multicast_layout(const MulticastFacts& facts) noexcept;

/// The dimension along which repeating saves most bytes; nothing if there is none, or if the problem is not
/// one for such kernels.
[[nodiscard]] std::optional<std::uint32_t> multicast_dimension(const Problem& problem) noexcept;

/// A kernel of CTAs that work alone; nothing where there is none.
[[nodiscard]] std::optional<MulticastFacts> multicast_facts(const Problem& problem, std::uint32_t along);
/// The same in clusters of so many CTAs; nothing if most of them would have nothing to store, or if they
/// cannot share what a tile takes.
[[nodiscard]] std::optional<MulticastFacts> in_clusters(const MulticastFacts& facts, const Problem& problem,
                                                        std::uint32_t cluster);

/// What a source's loads move, in whole tiles or a cluster's parts; nothing if no tensor map can describe it.
[[nodiscard]] std::optional<TensorMapSpec> multicast_map(const MulticastFacts& facts, const Problem& problem,
                                                         std::uint32_t source);

/// Dynamic shared memory of a CTA: its stages, and what aligning the first takes.
[[nodiscard]] std::uint32_t multicast_shared_bytes(const MulticastFacts& facts) noexcept;

TMAJIT_END
