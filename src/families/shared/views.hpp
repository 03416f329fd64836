#pragma once

#include "kernel/family.hpp"

#include <bit>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

TMAJIT_BEGIN

/// A nest of a single element has no dimension, its kernel one.
[[nodiscard]] std::uint64_t extent_of(const CanonicalNest& nest, std::uint32_t d) noexcept;

/// Tiles in each dimension of a nest, as CTAs count them.
using TileCounts = std::array<std::uint64_t, max_view_rank>;
[[nodiscard]] std::uint64_t product(const TileCounts& counts, std::uint32_t rank) noexcept;
/// Tiles in each dimension. Rows may begin up to `before` elements before their first tile.
[[nodiscard]] TileCounts tile_counts(const CanonicalNest& nest, const PerDimension& box, std::uint32_t rank,
                                     std::uint32_t before = 0) noexcept;
/// An extent, but at most so much, as a side of a tile.
[[nodiscard]] inline std::uint32_t clamp_to(std::uint64_t extent, std::uint64_t most) noexcept {
  return static_cast<std::uint32_t>(extent < most ? extent : most);
}
/// Parts of `unit` elements that tiles of `side` cut an extent into, the last of a tile whole or not.
[[nodiscard]] double parts_of_extent(std::uint64_t extent, std::uint64_t side, std::uint64_t unit) noexcept;
/// Elements of a tile.
[[nodiscard]] std::uint64_t elements_of(const PerDimension& box, std::uint32_t rank) noexcept;

/// The first `rank` dimensions by an operand's strides, the largest first. A broadcast dimension goes on
/// nowhere: it counts as the farthest. `nearest`, if it is one of them, is the last whatever else lies as
/// near: elements may lie on each other.
[[nodiscard]] PerDimension farthest_first(const CanonicalNest& nest, std::uint32_t operand,
                                          std::uint32_t rank, std::uint32_t nearest = max_view_rank);

/// Adds the parameter params::ViewPair of operands 1 and 0; `counts` are tiles, or groups of them, in each
/// dimension.
void add_view_pair(ParameterBlock& parameters, const Problem& problem, std::uint32_t rank,
                   const TileCounts& counts);
/// Adds the parameter params::Views of a destination and any number of sources (params::ViewsHead where there
/// is none), as `nest` walks them, and sets the grid; `counts` are tiles in each dimension.
void add_views(ParameterBlock& parameters, LaunchShape& shape, const Problem& problem,
               const CanonicalNest& nest, std::uint32_t rank, const TileCounts& counts);
/// A side of a tile of any size, in what threads count: a power of two, at most `most` and, unless all of the
/// extent is less, at least `least`, that leaves little of the last tile empty; of a small problem the
/// largest.
[[nodiscard]] std::uint32_t side_of(std::uint64_t extent, std::uint64_t most, std::uint64_t least,
                                    bool small) noexcept;
/// Adds the parameter `sides` of templates/device/tile_sides.cuh; threads count `part` elements along the
/// last dimension. Sides are powers of two.
void add_sides(ParameterBlock& parameters, std::uint32_t rank, const PerDimension& box, std::uint32_t part);
/// Adds the parameter params::Window of a padded problem.
void add_window(ParameterBlock& parameters, const CanonicalNest& nest, std::uint32_t rank, double value);

/// The problem with elements of `unit` bytes, 1 to 16. All rows are whole units, in all operands.
[[nodiscard]] Problem in_units(const Problem& problem, std::uint32_t unit);

/// Bytes that a problem writes, up to which it counts as small: its time is that of a launch and a few loads,
/// so that a kernel made for its very shape would gain little.
inline constexpr std::uint64_t most_small_bytes = 2 << 20;
[[nodiscard]] inline bool is_small(const Problem& problem) noexcept {
  return problem.bytes_written() <= most_small_bytes;
}

/// Whether the tiles of a problem are so few that empty parts of them cost nothing.
[[nodiscard]] inline bool has_few_tiles(const Problem& problem) noexcept {
  return problem.bytes_written() <= most_small_bytes / 16;
}

/// Elements up to which it is so small that threads may as well read them one by one, wherever they lie.
inline constexpr std::uint64_t most_tiny_elements = 64 << 10;
[[nodiscard]] inline bool is_tiny(const Problem& problem) noexcept {
  return problem.nest.elements() <= most_tiny_elements;
}

/// Whether threads read the elements of a small problem one by one: the source's lie apart along the
/// destination's rows.
[[nodiscard]] bool goes_by_elements(const Problem& problem) noexcept;

/// Whether kernels can do it whose threads load elements one by one and store words of the destination: its
/// last dimension is contiguous, no element has more than 8 bytes, an expression reads nothing but values and
/// coordinates, and no source reaches into the destination: elements that a thread loads beside those it
/// needs may be what another one writes.
[[nodiscard]] bool goes_element_by_element(const Problem& problem) noexcept;
/// The same where an expression reads no coordinates either.
[[nodiscard]] bool is_elementwise(const Problem& problem) noexcept;

/// Whether offsets within a tile of `box` (and up to `beyond` elements more) take more than 32 bits in any
/// operand.
[[nodiscard]] bool has_wide_offsets(const Problem& problem, std::span<const std::uint32_t> box,
                                    std::uint32_t beyond) noexcept;
/// "using Offset = i32;": i64 where `wide_offsets` is set.
[[nodiscard]] std::string offset_fact(Flag wide_offsets);
/// "using AllSources = Indices<0, 1>;", and what Indices is.
[[nodiscard]] std::string all_sources_fact(std::uint32_t sources);
/// Adds the types from which words of a destination are assembled (templates/kernels/loaded_word.cuh):
/// Destination, Source<i> and AllSources. Adds the types that the writer of sources requires, too. `values`:
/// something is computed from elements, or stands beside them; else they are bits. `more` holds further lines
/// for each source's struct, `destination_more` for the destination's.
void add_element_types(SourceParts& parts, ElementType to, std::span<const ElementType> from, bool values,
                       std::span<const std::string> more = {}, std::string_view destination_more = {});
/// The facts that kernels of views begin with which have their tile in them: rank, threads, box and Offset,
/// which is i64 where `wide_offsets` is set.
[[nodiscard]] std::string view_fact_text(std::uint32_t rank, std::uint32_t threads, const PerDimension& box,
                                         Flag wide_offsets);

// Sentences of explanations.

/// Describes a destination whose rows begin at any alignment.
[[nodiscard]] std::string staggered_rewrite();
/// Describes a source with the destination's elements between its own.
[[nodiscard]] std::string interleaved_rewrite();
/// Where the dimensions from `first` to the last are one run; nothing if that is one dimension.
[[nodiscard]] std::vector<std::string> run_rewrite(std::uint32_t first, std::uint32_t rank);

/// Writes a 64-bit address into a field of a parameter struct.
template <class Field>
void set_address(Field& field, DevicePtr address) noexcept {
  static_assert(sizeof(Field) == sizeof(DevicePtr));
  std::memcpy(&field, &address, sizeof field);
}

/// A params::Divider.
template <class Divider>
[[nodiscard]] Divider make_divider(std::uint64_t divisor) noexcept {
  const auto bits = static_cast<std::uint32_t>(std::bit_width(divisor - 1));
  return {static_cast<std::uint32_t>(divisor),
          static_cast<std::uint32_t>(((std::uint64_t{1} << (31 + bits)) + divisor - 1) / divisor), bits - 1};
}

TMAJIT_END
