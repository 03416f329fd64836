#include "reference/copy_engine.hpp"

#include "reference/scalar.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <stdexcept>

namespace reference {

using tmajit::ElementType;
using tmajit::Interleave;
using tmajit::max_map_rank;
using tmajit::OobFill;
using tmajit::Swizzle;
using tmajit::TensorMapSpec;

namespace {

using Index = std::array<std::uint64_t, max_map_rank>;

/// The tile that a map moves, its dimensions in elements.
struct Tile {
  Index extents{};
  std::uint64_t row_bytes = 0;     ///< elements only
  std::uint64_t padded_bytes = 0;  ///< a row as the engine writes it
  std::uint64_t pitch = 0;         ///< from row to row
  std::uint64_t rows = 1;
};

bool innermost(const TensorMapSpec& map, std::uint32_t d) {
  return d + 1U == map.rank;
}

std::uint64_t element_stride(const TensorMapSpec& map, std::uint32_t d) {
  return innermost(map, d) && map.interleave == Interleave::none ? 1 : map.element_strides[d];
}

// Not yet confirmed on hardware. The PTX ISA ("Interleave layout") says that channels come in slices of 16 or
// 32 bytes and that the last one is padded with zeros. The innermost dimension is taken for the channels of a
// slice, the outer ones and their strides as they are given.
std::uint64_t slice_bytes(Interleave interleave) {
  return interleave == Interleave::none ? 1 : interleave == Interleave::b16 ? 16 : 32;
}

Tile tile_of(const TensorMapSpec& map) {
  Tile tile;
  for (std::uint32_t d = 0; d < map.rank; ++d) {
    const auto stride = element_stride(map, d);
    tile.extents[d] = (map.box[d] + stride - 1) / stride;
    if (!innermost(map, d)) tile.rows *= tile.extents[d];
  }
  const auto slice = slice_bytes(map.interleave);
  tile.row_bytes = tile.extents[map.rank - 1U] * size_of(map.type);
  tile.padded_bytes = (tile.row_bytes + slice - 1) / slice * slice;
  tile.pitch = std::max<std::uint64_t>(tile.padded_bytes, span_bytes(map.swizzle));
  return tile;
}

// Read off an H200 (docs/tma.md): the driver calls it "a special NaN constant" and gives no bits.
void fill(const TensorMapSpec& map, std::byte* element) {
  constexpr std::array nan{std::byte{0xf7}, std::byte{0x7f}};
  for (std::uint32_t i = 0; i < size_of(map.type); ++i) {
    element[i] = map.oob_fill == OobFill::nan ? nan[i % 2] : std::byte{0};
  }
}

/// Calls visit(offset in the tile, byte offset in the tensor or −1 if out of bounds) for every element.
template <typename Visit>
void for_each_element(const TensorMapSpec& map, const Tile& tile, std::span<const std::int64_t> coordinates,
                      const Visit& visit) {
  const auto size = size_of(map.type);
  for (std::uint64_t row = 0; row < tile.rows; ++row) {
    Index index{};
    auto rest = row;
    for (auto d = map.rank - 1U; d-- > 0;) {
      index[d] = rest % tile.extents[d];
      rest /= tile.extents[d];
    }
    for (std::uint64_t column = 0; column < tile.extents[map.rank - 1U]; ++column) {
      index[map.rank - 1U] = column;
      std::int64_t address = 0;
      bool inside = true;
      for (std::uint32_t d = 0; d < map.rank; ++d) {
        const auto at = coordinates[d] + static_cast<std::int64_t>(index[d] * element_stride(map, d));
        inside = inside && at >= 0 && static_cast<std::uint64_t>(at) < map.shape[d];
        const auto stride = innermost(map, d) ? size : map.strides[d];
        address += at * static_cast<std::int64_t>(stride);
      }
      visit(row * tile.pitch + column * size, inside ? address : -1);
    }
  }
}

void check(const TensorMapSpec& map, std::span<const std::int64_t> coordinates, std::size_t shared_bytes) {
  if (map.rank < 1 || map.rank > max_map_rank || coordinates.size() != map.rank) {
    throw std::invalid_argument("reference: rank and coordinates do not agree");
  }
  if (shared_bytes < image_bytes(map))
    throw std::invalid_argument("reference: the shared image is too small");
}

}  // namespace

std::uint64_t swizzled(std::uint64_t offset, Swizzle swizzle) {
  constexpr std::uint64_t masks[] = {0, 1, 3, 7};
  return offset ^ (((offset >> 7) & masks[static_cast<std::size_t>(swizzle)]) << 4);
}

std::uint64_t image_bytes(const TensorMapSpec& map) {
  const auto tile = tile_of(map);
  return tile.rows * tile.pitch;
}

void load(const TensorMapSpec& map, std::span<const std::byte> tensor,
          std::span<const std::int64_t> coordinates, std::span<std::byte> shared) {
  check(map, coordinates, shared.size());
  const auto tile = tile_of(map);
  const auto size = size_of(map.type);
  for (std::uint64_t row = 0; row < tile.rows; ++row) {
    for (auto column = tile.row_bytes; column < tile.padded_bytes; ++column) {
      shared[swizzled(row * tile.pitch + column, map.swizzle)] = std::byte{0};
    }
  }
  for_each_element(map, tile, coordinates, [&](std::uint64_t offset, std::int64_t address) {
    // An element never crosses the 16 bytes that a swizzle moves as one.
    auto* const element = shared.data() + swizzled(offset, map.swizzle);
    if (address < 0) {
      fill(map, element);
    } else {
      std::memcpy(element, tensor.subspan(static_cast<std::size_t>(address), size).data(), size);
      convert_on_load(map.type, element);
    }
  });
}

void store(const TensorMapSpec& map, std::span<std::byte> tensor, std::span<const std::int64_t> coordinates,
           std::span<const std::byte> shared) {
  check(map, coordinates, shared.size());
  const auto size = size_of(map.type);
  for_each_element(map, tile_of(map), coordinates, [&](std::uint64_t offset, std::int64_t address) {
    if (address < 0) return;
    std::memcpy(tensor.subspan(static_cast<std::size_t>(address), size).data(),
                shared.data() + swizzled(offset, map.swizzle), size);
  });
}

}  // namespace reference
