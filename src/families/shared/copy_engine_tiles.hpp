#pragma once

#include "families/shared/views.hpp"

#include <tmajit/tensor_map_spec.hpp>

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

TMAJIT_BEGIN

// Kernels through the copy engine: how the tiles of a nest become boxes of tensor maps.
//
// A nest has up to eight dimensions, a tensor map five. Where it has more, those in which a tile has a single
// index share the map's outermost dimension: its stride is the greatest common divisor of theirs, and an
// index counts for as many of it as its own stride has.

/// A tile over all dimensions of a nest, as the copy engine loads it.
struct EngineTile {
  std::uint32_t rank = 1;
  std::uint32_t inner = 0;  ///< the dimension in which the maps are contiguous
  std::uint32_t element_bytes = 1;
  std::uint32_t map_element_bytes = 8;  ///< element size of the tensor maps
  std::uint32_t stages = 1;             ///< tiles that a CTA has in flight
  PerDimension box{};
};

/// The map of one operand, and how a tile's indices become its coordinates.
struct EngineMap {
  TensorMapSpec spec;
  PerDimension fold{};  ///< indices of the map's shared dimension for one index of each dimension
};

/// The dimensions of the nest in the order of a map's, outermost first; shared ones are not among them.
struct MapOrder {
  std::array<std::uint32_t, max_map_rank> dimension{};
  std::uint32_t count = 0;
  bool shared = false;  ///< one more, outermost, for all others
  [[nodiscard]] std::uint32_t rank() const noexcept { return count + (shared ? 1 : 0); }
  [[nodiscard]] bool has(std::uint32_t d) const noexcept;
};
/// `inner` is innermost; the nest's last dimension comes before it, if it is another.
[[nodiscard]] MapOrder map_order(const EngineTile& tile) noexcept;

/// Shared memory of a CTA's tiles.
struct EngineLayout {
  std::uint32_t parts =
      1;  ///< boxes that a tile is loaded as, one beside the other in its innermost dimension
  std::uint32_t part_bytes = 0;  ///< from one to the next
  std::uint32_t load_bytes = 0;  ///< bytes from one box to the next
  std::uint32_t bytes = 0;       ///< bytes that a tile adds to its mbarrier
};
[[nodiscard]] EngineLayout engine_layout(const EngineTile& tile) noexcept;

/// The map of operand 0, the destination, or 1, the source; nullopt if no tensor map can describe it.
[[nodiscard]] std::optional<EngineMap> engine_map(const EngineTile& tile, const Problem& problem,
                                                  std::uint32_t operand);

/// Adds the parameter params::EngineGrid; of operands without a map the folds are 0. Sets the grid.
void bind_engine_grid(const EngineTile& tile, const Problem& problem, const std::optional<EngineMap>& source,
                      const std::optional<EngineMap>& destination, ParameterBlock& parameters,
                      LaunchShape& shape);

/// Coordinates of a tile's box in the map of "source" or "destination", innermost dimension first, in
/// elements of the map: the fact "source_box".
[[nodiscard]] std::string box_function(std::string_view operand, const EngineTile& tile);

TMAJIT_END
