#pragma once

#include "kernel/family.hpp"

#include <bit>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

TMAJIT_BEGIN

/// The extent of a nest's dimension; 1 beyond its rank. A nest of a single element has rank 0, its kernel
/// rank 1.
[[nodiscard]] std::uint64_t extent_of(const CanonicalNest& nest, std::uint32_t d) noexcept;

/// The number of tiles in each dimension of a nest.
using TileCounts = std::array<std::uint64_t, max_view_rank>;
[[nodiscard]] std::uint64_t product(const TileCounts& counts, std::uint32_t rank) noexcept;
/// The number of tiles in each dimension. A row's first tile may begin up to `stagger` elements before the
/// row.
[[nodiscard]] TileCounts tile_counts(const CanonicalNest& nest, const PerDimension& box, std::uint32_t rank,
                                     std::uint32_t stagger = 0) noexcept;
/// An extent, at most `most`, as a side of a tile.
[[nodiscard]] inline std::uint32_t clamp_to(std::uint64_t extent, std::uint64_t most) noexcept {
  return static_cast<std::uint32_t>(extent < most ? extent : most);
}
/// The number of parts of `unit` elements into which tiles of `side` cut an extent. A tile's last part may be
/// shorter.
[[nodiscard]] double parts_of_extent(std::uint64_t extent, std::uint64_t side, std::uint64_t unit) noexcept;
/// Elements of a tile.
[[nodiscard]] std::uint64_t elements_of(const PerDimension& box, std::uint32_t rank) noexcept;

/// The first `rank` dimensions in the order of an operand's strides, the largest first. Broadcast dimensions,
/// of stride 0, come before all others. Dimension `nearest` comes last, even if another one has the same
/// stride, as in a source that overlaps itself.
[[nodiscard]] PerDimension farthest_first(const CanonicalNest& nest, std::uint32_t operand,
                                          std::uint32_t rank, std::uint32_t nearest = max_view_rank);

/// Adds the parameter params::ViewPair of source and destination; `counts` are the numbers of tiles, or of
/// groups of tiles, in each dimension.
void add_view_pair(ParameterBlock& parameters, const Problem& problem, std::uint32_t rank,
                   const TileCounts& counts);
/// Adds the parameter params::Views of a destination and its sources, as `nest` walks them (params::ViewsHead
/// if there is no source). Sets the grid; `counts` are the numbers of tiles in each dimension.
void add_views(ParameterBlock& parameters, LaunchShape& shape, const Problem& problem,
               const CanonicalNest& nest, std::uint32_t rank, const TileCounts& counts);
/// A side of a tile, in the units that threads process: a power of two of at most `most`, and at least
/// `least` unless the extent is shorter. It is the largest that leaves little of the last tile empty. If
/// `small` is set, it is the largest.
[[nodiscard]] std::uint32_t side_of(std::uint64_t extent, std::uint64_t most, std::uint64_t least,
                                    bool small) noexcept;
/// Adds the parameter `sides` of templates/device/tile_sides.cuh. Sides must be powers of two; along the last
/// dimension they are counted in parts of `part` elements.
void add_sides(ParameterBlock& parameters, std::uint32_t rank, const PerDimension& box, std::uint32_t part);
/// Adds the parameter params::Window of a padded problem.
void add_window(ParameterBlock& parameters, const CanonicalNest& nest, std::uint32_t rank, double value);

/// The problem with elements of `unit` bytes, 1 to 16. The rows of all operands must be whole units.
[[nodiscard]] Problem in_units(const Problem& problem, std::uint32_t unit);

/// A problem that writes at most this many bytes is small. Its time is that of a launch and a few loads: a
/// kernel specialised for its shape would gain little.
inline constexpr std::uint64_t max_small_bytes = 2 << 20;
[[nodiscard]] inline bool is_small(const Problem& problem) noexcept {
  return problem.bytes_written() <= max_small_bytes;
}

/// Whether the tiles of a problem are so few that empty parts of them cost nothing.
[[nodiscard]] inline bool has_few_tiles(const Problem& problem) noexcept {
  return problem.bytes_written() <= max_small_bytes / 16;
}

/// A problem of at most this many elements is tiny: threads may read its elements one by one, whatever the
/// strides.
inline constexpr std::uint64_t max_tiny_elements = 64 << 10;
[[nodiscard]] inline bool is_tiny(const Problem& problem) noexcept {
  return problem.nest.elements() <= max_tiny_elements;
}

/// Whether a problem is a tiny copy whose source is not contiguous along the destination's rows, so that
/// threads should read its elements one by one.
[[nodiscard]] bool is_tiny_strided_copy(const Problem& problem) noexcept;

/// Whether a problem suits kernels whose threads load elements one by one and store words of the destination.
/// The destination's last dimension must be contiguous, elements must have at most 8 bytes, and
/// an expression may only read values and coordinates. No source of an expression may interleave with the
/// destination: a thread also loads elements next to those it needs, which another thread may be writing.
[[nodiscard]] bool supports_element_loads(const Problem& problem) noexcept;
/// Whether supports_element_loads() holds and the expression reads no coordinates.
[[nodiscard]] bool is_elementwise(const Problem& problem) noexcept;

/// Whether offsets within a tile of `box`, and `beyond` elements beyond it in each dimension, need more than
/// 32 bits in any operand.
[[nodiscard]] bool has_wide_offsets(const Problem& problem, std::span<const std::uint32_t> box,
                                    std::uint32_t beyond) noexcept;
/// "using Offset = i32;", or i64 if `wide_offsets` is set.
[[nodiscard]] std::string offset_fact(Flag wide_offsets);
/// "using AllSources = Indices<0, 1>;", and the template Indices.
[[nodiscard]] std::string all_sources_fact(std::uint32_t sources);
/// "using AllNumbers = Indices<1, 2>;", for the sources from `begin` to `end` - 1.
[[nodiscard]] std::string indices_fact(std::string_view name, std::uint32_t begin, std::uint32_t end);
/// Adds the types from which words of a destination are assembled (templates/kernels/loaded_word.cuh):
/// Destination, Source<i> and AllSources. Also sets the types that the source writer requires. With `values`
/// elements have their own types, for computing; else they are unsigned integers of their size. `more` holds
/// further lines for each source's struct, `destination_more` for the destination's. The last `parts.numbers`
/// sources are numbers of the launch.
void add_element_types(SourceParts& parts, ElementType to, std::span<const ElementType> from, bool values,
                       std::span<const std::string> more = {}, std::string_view destination_more = {});
/// The first facts of kernels that are specialised for their tile: rank, threads, box and Offset.
[[nodiscard]] std::string view_fact_text(std::uint32_t rank, std::uint32_t threads, const PerDimension& box,
                                         Flag wide_offsets);

// Sentences of explanations.

/// Describes a destination whose rows begin at any alignment.
[[nodiscard]] std::string staggered_rewrite();
/// Describes a source with the destination's elements between its own.
[[nodiscard]] std::string interleaved_rewrite();
/// Says that dimensions `first` to the last are one contiguous run; nothing if that is one dimension.
[[nodiscard]] std::vector<std::string> run_rewrite(std::uint32_t first, std::uint32_t rank);

/// Writes a 64-bit address into a field of a parameter struct.
template <class Field>
void set_address(Field& field, DevicePtr address) noexcept {
  static_assert(sizeof(Field) == sizeof(DevicePtr));
  std::memcpy(&field, &address, sizeof field);
}

/// A params::Divider by `divisor`.
template <class Divider>
[[nodiscard]] Divider make_divider(std::uint64_t divisor) noexcept {
  const auto bits = static_cast<std::uint32_t>(std::bit_width(divisor - 1));
  return {static_cast<std::uint32_t>(divisor),
          static_cast<std::uint32_t>(((std::uint64_t{1} << (31 + bits)) + divisor - 1) / divisor), bits - 1};
}

TMAJIT_END
