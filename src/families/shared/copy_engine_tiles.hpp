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
// A nest has up to eight dimensions, a tensor map five. If the nest has more than five, the dimensions in
// which a tile has a single index share the map's outermost dimension. Its stride is the greatest common
// divisor of theirs. One index of such a dimension corresponds to `fold` indices of the shared one: its
// stride over the divisor.

/// A tile over all dimensions of a nest, as the copy engine loads it.
struct EngineTile {
  std::uint32_t rank = 1;
  std::uint32_t inner = 0;  ///< the dimension in which the maps are contiguous
  std::uint32_t element_bytes = 1;
  std::uint32_t map_element_bytes = 8;  ///< element size of the tensor maps
  std::uint32_t stages = 1;             ///< tiles that a CTA has in flight
  PerDimension box{};
};

/// The tensor map of one operand, and the factors by which a tile's indices become coordinates of its shared
/// dimension.
struct EngineMap {
  TensorMapSpec spec;
  PerDimension fold{};  ///< indices of the map's shared dimension for one index of each dimension
};

/// The nest's dimensions in the order of the map's, outermost first, without those that share one.
struct MapOrder {
  std::array<std::uint32_t, max_map_rank> dimension{};
  std::uint32_t count = 0;
  bool shared = false;  ///< the map has one more dimension, the outermost, that all other dimensions share
  [[nodiscard]] std::uint32_t rank() const noexcept { return count + (shared ? 1 : 0); }
  [[nodiscard]] bool has(std::uint32_t d) const noexcept;
};
/// The order for a tile's maps: `inner` comes last, and the nest's last dimension, if another, right before
/// it.
[[nodiscard]] MapOrder map_order(const EngineTile& tile) noexcept;

/// Shared memory of a CTA's tiles.
struct EngineLayout {
  std::uint32_t parts = 1;       ///< boxes of a tile, which divide its lines into equal parts
  std::uint32_t part_bytes = 0;  ///< bytes from one box to the next
  std::uint32_t load_bytes = 0;  ///< bytes that a tile's loads add to its mbarrier
  std::uint32_t bytes = 0;       ///< bytes of all stages, with slack for aligning the first
};
[[nodiscard]] EngineLayout engine_layout(const EngineTile& tile) noexcept;

/// The map of operand 0, the destination, or 1, the source; nullopt if no tensor map can describe it.
[[nodiscard]] std::optional<EngineMap> engine_map(const EngineTile& tile, const Problem& problem,
                                                  std::uint32_t operand);

/// Adds the parameter params::EngineGrid and sets the grid. An operand without a map has folds of 0.
void bind_engine_grid(const EngineTile& tile, const Problem& problem, const std::optional<EngineMap>& source,
                      const std::optional<EngineMap>& destination, ParameterBlock& parameters,
                      LaunchShape& shape);

/// The device function source_box() or destination_box(): the coordinates of a tile's box in the map of that
/// operand, innermost dimension first, in elements of the map.
[[nodiscard]] std::string box_function(std::string_view operand, const EngineTile& tile);

TMAJIT_END
