#pragma once

#include "families/shared/chunks.hpp"

#include <tmajit/operations/stencil.hpp>
#include <tmajit/tensor_map_spec.hpp>

#include <array>
#include <cstdint>
#include <optional>

TMAJIT_BEGIN

// A `stencil` kernel computes tiles of the destination. Each thread computes a strip: some rows that follow
// each other along dimension `column`. If neighbours are in further dimensions, a tile reads several planes,
// its window. The planes are in shared memory, with the halo that neighbours need.

/// A source of a `stencil` kernel. A number has a type alone.
struct StencilSource {
  std::uint32_t type = 0;  ///< an ElementType
  /// Elements of a row that are one element of its tensor map, so that a box can be wider.
  std::uint32_t unit = 1;
  PerDimension before{};  ///< most indices of a neighbour before an element, in each dimension
  PerDimension after{};   ///< most indices of a neighbour after an element
  [[nodiscard]] ElementType element_type() const noexcept { return static_cast<ElementType>(type); }
};

/// Facts that a `stencil` kernel is specialised for. Dimensions are those of the nest as the kernel walks it.
struct StencilFacts : ChunkFacts {
  std::uint32_t sources = 1;                               ///< tensors
  std::uint32_t numbers = 0;                               ///< sources after them, which the launch passes
  std::uint32_t offsets = 0;                               ///< offsets of a call
  std::array<std::uint32_t, max_stencil_dims> dim{};       ///< dimension of each offset
  std::array<std::uint32_t, max_stencil_dims> reversed{};  ///< 1 if the nest walks that dimension backwards
  std::uint32_t boundary = 0;                              ///< a Boundary
  std::uint32_t march = 0;   ///< dimension along which a CTA processes tile after tile
  std::uint32_t column = 0;  ///< dimension that strips run along
  std::uint32_t plane = 0;   ///< dimension from plane to plane of a window; the rank if there is one plane
  std::uint32_t strip = 1;   ///< rows that a thread computes
  std::uint32_t stages = 1;  ///< planes in shared memory
  Flag engine = 0;           ///< the copy engine loads
  Flag wide_index = 0;       ///< indices need more than 32 bits
  std::array<StencilSource, max_inputs> source{};

  [[nodiscard]] Boundary boundary_kind() const noexcept { return static_cast<Boundary>(boundary); }
  /// Planes of a tile's window before the tile's own plane.
  [[nodiscard]] std::uint32_t planes_before() const noexcept;
  /// All planes of a tile's window.
  [[nodiscard]] std::uint32_t window_planes() const noexcept;
};

/// Image of a source's plane in shared memory: a box of elements, row by row.
struct StencilImage {
  PerDimension box{};
  PerDimension before{};           ///< elements of the box before the tile's first
  std::uint32_t offset = 0;        ///< offset in a stage, bytes
  std::uint32_t pitch = 0;         ///< bytes of a row
  std::uint32_t bytes = 0;         ///< bytes of a load
  std::uint32_t parts = 1;         ///< boxes by which it is loaded, which divide its rows
  std::uint32_t part_columns = 0;  ///< elements of a part's row
};

/// One plane of all sources in shared memory.
struct StencilStage {
  std::array<StencilImage, max_inputs> image{};
  std::uint32_t bytes = 0;
};
[[nodiscard]] StencilStage stage_of(const StencilFacts& facts);
/// Dynamic shared memory of a CTA.
[[nodiscard]] std::uint64_t shared_bytes(const StencilFacts& facts);

/// The tensor map of a source, operand `source` + 1; nothing if no map can describe it.
[[nodiscard]] std::optional<TensorMapSpec> stencil_map(const StencilFacts& facts, const Problem& problem,
                                                       const CanonicalNest& nest, std::uint32_t source);

/// The number of tiles in each dimension.
[[nodiscard]] TileCounts stencil_tiles(const StencilFacts& facts, const CanonicalNest& nest);
/// The number of tiles that a CTA processes along `march`.
[[nodiscard]] std::uint32_t tiles_of_cta(const StencilFacts& facts, const Problem& problem,
                                         const CanonicalNest& nest);
/// The part of a kernel's footprint that follows from its facts.
[[nodiscard]] Footprint stencil_footprint(const StencilFacts& facts);

TMAJIT_END
