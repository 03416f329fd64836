#include "reference/copy_engine.hpp"

#include "reference/scalar.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <stdexcept>
#include <vector>

namespace reference {

using tmajit::ElementType;
using tmajit::Interleave;
using tmajit::MapMode;
using tmajit::max_map_rank;
using tmajit::OobFill;
using tmajit::Swizzle;
using tmajit::TensorMapSpec;

namespace {

using Index = std::array<std::uint64_t, max_map_rank>;

/// The tile that a copy through a map moves.
struct Tile {
  Index extents{};
  std::uint64_t unit = 0;   ///< bytes from one index of the innermost dimension to the next
  std::uint64_t pitch = 0;  ///< bytes from row to row
  std::uint64_t rows = 1;
};

bool is_innermost(const TensorMapSpec& map, std::uint32_t d) {
  return d + 1U == map.rank;
}

std::uint64_t element_stride(const TensorMapSpec& map, std::uint32_t d) {
  return is_innermost(map, d) && map.interleave == Interleave::none ? 1 : map.element_strides[d];
}

/// Bytes of one index of the innermost dimension: an element, or with an interleaved layout a slice of 16 or
/// 32 bytes.
std::uint64_t inner_unit(const TensorMapSpec& map) {
  return map.interleave == Interleave::none ? size_of(map.type) : map.interleave == Interleave::b16 ? 16 : 32;
}

/// The first dimension of an image. With an interleaved layout it follows the slices of channels.
std::uint32_t first_of_image(const TensorMapSpec& map) {
  return map.interleave == Interleave::none ? 1 : 2;
}

Tile tile_of(const TensorMapSpec& map) {
  Tile tile;
  if (map.mode == MapMode::im2col) {
    tile.rows = map.pixel_box.pixels;
    tile.extents[map.rank - 1U] = map.interleave == Interleave::none ? map.pixel_box.channels : 1;
  } else {
    for (std::uint32_t d = 0; d < map.rank; ++d) {
      const auto stride = element_stride(map, d);
      tile.extents[d] = (map.box[d] + stride - 1) / stride;
      // Measured on an H200 (docs/tma.md): a tile has one index of the slices of channels.
      if (d == 1 && map.interleave != Interleave::none) tile.extents[d] = 1;
      if (!is_innermost(map, d)) tile.rows *= tile.extents[d];
    }
  }
  tile.unit = inner_unit(map);
  tile.pitch = tile.extents[map.rank - 1U] * tile.unit;
  // Slices are contiguous; rows of elements begin at least a swizzle's span apart.
  if (map.interleave == Interleave::none)
    tile.pitch = std::max<std::uint64_t>(tile.pitch, span_bytes(map.swizzle));
  return tile;
}

// The bits of the NaN were measured on an H200 (docs/tma.md): the driver's documentation only says "a special
// NaN constant".
void fill_out_of_bounds(const TensorMapSpec& map, std::byte* element) {
  constexpr std::array nan{std::byte{0xf7}, std::byte{0x7f}};
  for (std::uint32_t i = 0; i < size_of(map.type); ++i) {
    element[i] = map.oob_fill == OobFill::nan ? nan[i % 2] : std::byte{0};
  }
}

/// The position of one index of the innermost dimension: its offsets in the tile and in the tensor, in bytes.
struct Position {
  std::uint64_t in_tile;
  std::int64_t in_tensor;
  std::int64_t column;  ///< coordinate in the innermost dimension
  bool row_inside;      ///< whether the coordinates in all other dimensions are inside the tensor
};

using Coordinates = std::array<std::int64_t, max_map_rank>;

/// The coordinates at which a row of a box begins.
Coordinates row_of_box(const TensorMapSpec& map, const Tile& tile, const Coordinates& origin,
                       std::uint64_t row) {
  auto at = origin;
  for (auto d = map.rank - 1U; d-- > 0;) {
    at[d] += static_cast<std::int64_t>(row % tile.extents[d] * element_stride(map, d));
    row /= tile.extents[d];
  }
  return at;
}

/// Moves a filter's corner to its next position. The innermost dimension of the image advances first. At its
/// end it restarts at the lower corner, and the next dimension advances. After the last position, the corner
/// moves to the next image.
void advance(const TensorMapSpec& map, Coordinates& corner) {
  for (auto i = map.rank - 2U; i-- > 0;) {
    const auto d = first_of_image(map) + i;
    corner[d] += map.element_strides[d];
    const auto last = static_cast<std::int64_t>(map.shape[d]) - 1 + map.pixel_box.upper[i];
    if (corner[d] <= last) return;
    corner[d] = map.pixel_box.lower[i];
  }
  ++corner[0];
}

/// The coordinates at which rows begin, in the order of shared memory.
std::vector<Coordinates> rows_of(const TensorMapSpec& map, const Tile& tile,
                                 std::span<const std::int64_t> coordinates,
                                 std::span<const std::int64_t> offsets) {
  Coordinates at{};
  std::ranges::copy(coordinates, at.begin());
  std::vector<Coordinates> rows;
  for (std::uint64_t row = 0; row < tile.rows; ++row) {
    if (map.mode == MapMode::im2col) {
      rows.push_back(at);
      for (std::size_t i = 0; i < offsets.size(); ++i) rows.back()[first_of_image(map) + i] += offsets[i];
      advance(map, at);
    } else {
      rows.push_back(row_of_box(map, tile, at, row));
    }
  }
  return rows;
}

template <typename Visit>
void for_each_element(const TensorMapSpec& map, const Tile& tile, const std::vector<Coordinates>& rows,
                      const Visit& visit) {
  const auto inner = map.rank - 1U;
  for (std::uint64_t row = 0; row < rows.size(); ++row) {
    std::int64_t address = 0;
    bool row_inside = true;
    for (std::uint32_t d = 0; d < inner; ++d) {
      const auto at = rows[row][d];
      row_inside = row_inside && at >= 0 && static_cast<std::uint64_t>(at) < map.shape[d];
      address += at * static_cast<std::int64_t>(map.strides[d]);
    }
    for (std::uint64_t index = 0; index < tile.extents[inner]; ++index) {
      const auto column = rows[row][inner] + static_cast<std::int64_t>(index * element_stride(map, inner));
      visit(Position{.in_tile = row * tile.pitch + index * tile.unit,
                     .in_tensor = address + column * static_cast<std::int64_t>(tile.unit),
                     .column = column,
                     .row_inside = row_inside});
    }
  }
}

bool is_inside(const TensorMapSpec& map, const Position& position) {
  return position.row_inside && position.column >= 0 &&
         static_cast<std::uint64_t>(position.column) < map.shape[map.rank - 1U];
}

/// Whether a store writes the element: the 16-byte chunk that holds it must begin inside the row.
bool is_stored(const TensorMapSpec& map, const Position& position) {
  constexpr std::uint64_t chunk = 16;
  const auto unit = inner_unit(map);
  const auto begin = static_cast<std::uint64_t>(position.column) * unit / chunk * chunk;
  return position.row_inside && position.column >= 0 && begin < map.shape[map.rank - 1U] * unit;
}

void check(const TensorMapSpec& map, std::span<const std::int64_t> coordinates, std::size_t shared_bytes,
           std::uint64_t begin) {
  if (map.rank < 1 || map.rank > max_map_rank || coordinates.size() != map.rank) {
    throw std::invalid_argument("reference: rank and coordinates do not agree");
  }
  if (shared_bytes < begin + image_bytes(map))
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
          std::span<const std::int64_t> coordinates, std::span<std::byte> shared,
          std::span<const std::int64_t> offsets, std::uint64_t begin) {
  check(map, coordinates, shared.size(), begin);
  const auto tile = tile_of(map);
  const auto size = size_of(map.type);
  for_each_element(map, tile, rows_of(map, tile, coordinates, offsets), [&](const Position& position) {
    // A slice holds several elements of the type. None of them crosses a 16-byte chunk, which a swizzle moves
    // as a whole.
    for (std::uint64_t part = 0; part < tile.unit; part += size) {
      auto* const element = shared.data() + swizzled(begin + position.in_tile + part, map.swizzle);
      if (!is_inside(map, position)) {
        fill_out_of_bounds(map, element);
        continue;
      }
      const auto from = static_cast<std::size_t>(position.in_tensor) + part;
      if (from + size > tensor.size()) throw std::invalid_argument("reference: the tensor is too small");
      std::memcpy(element, tensor.data() + from, size);
      convert_on_load(map.type, element);
    }
  });
}

void reduce(const TensorMapSpec& map, std::span<std::byte> tensor, std::span<const std::int64_t> coordinates,
            std::span<const std::byte> shared, const Combine& combine, std::uint64_t begin) {
  check(map, coordinates, shared.size(), begin);
  const auto tile = tile_of(map);
  const auto size = size_of(map.type);
  for_each_element(map, tile, rows_of(map, tile, coordinates, {}), [&](const Position& position) {
    if (!is_stored(map, position)) return;
    for (std::uint64_t part = 0; part < tile.unit; part += size) {
      const auto to = static_cast<std::size_t>(position.in_tensor) + part;
      if (to + size > tensor.size()) {
        if (is_inside(map, position)) throw std::invalid_argument("reference: the tensor is too small");
        continue;
      }
      combine(tensor.data() + to, shared.data() + swizzled(begin + position.in_tile + part, map.swizzle));
    }
  });
}

void store(const TensorMapSpec& map, std::span<std::byte> tensor, std::span<const std::int64_t> coordinates,
           std::span<const std::byte> shared, std::uint64_t begin) {
  const auto size = size_of(map.type);
  const auto copy = [size](std::byte* to, const std::byte* from) { std::memcpy(to, from, size); };
  reduce(map, tensor, coordinates, shared, copy, begin);
}

}  // namespace reference
