#pragma once

/// The rows of a tensor copy's tile, in shared and global memory (docs/tma.md; PTX ISA, "Tensors").
#include <tmajit/tensor_map_spec.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>

TMAJIT_BEGIN
namespace sim {

/// A coordinate for each dimension of a tensor map, row-major.
using MapCoordinates = std::array<std::int64_t, max_map_rank>;

/// One row of a tile. Its bytes [first, last) are inside the tensor.
struct TileRow {
  std::uint32_t shared = 0;  ///< offset in bytes from the tile's shared address, before swizzling
  std::int64_t global = 0;   ///< offset in bytes of the row's first byte from the tensor's address
  std::uint32_t first = 0;
  std::uint32_t last = 0;
};

/// Enumerates the rows of a tile. A tiled map has one row for each index of the outer dimensions of its box,
/// an im2col map one row for each pixel. In both cases coordinates step through the dimensions from the
/// tile's origin, the last dimension first. A coordinate that reaches its end returns to its begin, and the
/// next outer one takes a step. A dimension without steps has equal begin and end.
class Tile {
 public:
  Tile(const TensorMapSpec& map, const MapCoordinates& origin, const MapCoordinates& offsets)
      : map_(map), origin_(origin), offsets_(offsets) {
    const bool interleaved = map.interleave != Interleave::none;
    unit_ = !interleaved ? size_of(map.type) : map.interleave == Interleave::b16 ? 16 : 32;
    begins_ = ends_ = origin;
    if (map.mode == MapMode::im2col) {
      walk_bounding_box(interleaved);
    } else {
      walk_box(interleaved);
    }
    row_bytes_ = width_ * unit_;
    pitch_ = interleaved ? row_bytes_ : std::max(row_bytes_, span_bytes(map.swizzle));
    mask_ = (1U << static_cast<std::uint32_t>(map.swizzle)) - 1;
  }

  [[nodiscard]] std::uint32_t rows() const noexcept { return rows_; }
  [[nodiscard]] std::uint32_t row_bytes() const noexcept { return row_bytes_; }
  /// Bytes of shared memory from the first byte of the tile to one past its last.
  [[nodiscard]] std::uint32_t span() const noexcept { return rows_ * pitch_; }
  [[nodiscard]] std::uint32_t bytes() const noexcept { return rows_ * row_bytes_; }

  /// Calls visit(TileRow) for every row in the order of shared memory.
  template <typename Visit>
  void for_each_row(const Visit& visit) const {
    const std::uint32_t inner = map_.rank - 1U;
    const auto extent = static_cast<std::int64_t>(map_.shape[inner]);
    MapCoordinates location = origin_;
    for (std::uint32_t row = 0; row < rows_; ++row) {
      const std::int64_t column = location[inner] + offsets_[inner];
      const auto clip = [&](std::int64_t at) {
        return static_cast<std::uint32_t>(std::clamp<std::int64_t>(at - column, 0, width_)) * unit_;
      };
      TileRow tile_row{row * pitch_, column * unit_, clip(0), clip(extent)};
      bool inside = true;
      for (std::uint32_t d = 0; d < inner; ++d) {
        const std::int64_t at = location[d] + offsets_[d];
        inside = inside && at >= 0 && static_cast<std::uint64_t>(at) < map_.shape[d];
        tile_row.global += at * static_cast<std::int64_t>(map_.strides[d]);
      }
      if (!inside || tile_row.last < tile_row.first) tile_row.last = tile_row.first;
      visit(tile_row);
      for (std::uint32_t d = map_.rank; d-- > 0;) {
        location[d] += steps_[d];
        if (location[d] < ends_[d]) break;
        location[d] = begins_[d];
      }
    }
  }

  /// Calls visit(shared offset, byte in the row, bytes) for the contiguous pieces of a row. `base` is the
  /// tile's offset in shared memory, whose first byte has an address that is a multiple of 1024.
  template <typename Visit>
  void for_each_piece(std::uint32_t base, const TileRow& row, const Visit& visit) const {
    const std::uint32_t start = base + row.shared;
    if (mask_ == 0) return visit(start, 0U, row_bytes_);
    for (std::uint32_t at = 0; at < row_bytes_; at += 16) {
      const std::uint32_t address = start + at;
      visit(address ^ ((address >> 7) & mask_) << 4, at, 16U);
    }
  }

 private:
  /// Sets up the rows of a tiled map's box.
  void walk_box(bool interleaved) {
    const std::uint32_t inner = map_.rank - 1U;
    const auto count = [&](std::uint32_t d, std::uint32_t step) { return (map_.box[d] + step - 1) / step; };
    width_ = count(inner, interleaved ? map_.element_strides[inner] : 1);
    for (std::uint32_t d = 0; d < inner; ++d) {
      if (interleaved && d == slices) continue;  // never takes a step, for any box (docs/tma.md)
      steps_[d] = map_.element_strides[d];
      ends_[d] = origin_[d] + map_.box[d];
      rows_ *= count(d, map_.element_strides[d]);
    }
  }

  /// Sets up the pixels from the origin on, which may extend over several images (PTX ISA, "Im2col mode").
  void walk_bounding_box(bool interleaved) {
    width_ = interleaved ? 1 : map_.pixel_box.channels;
    rows_ = map_.pixel_box.pixels;
    steps_[0] = 1;
    ends_[0] = std::numeric_limits<std::int64_t>::max();
    const std::uint32_t first = first_image_dimension(map_.interleave);
    for (std::uint32_t i = 0; i + 2U < map_.rank; ++i) {
      steps_[first + i] = map_.element_strides[first + i];
      begins_[first + i] = map_.pixel_box.lower[i];
      ends_[first + i] = static_cast<std::int64_t>(map_.shape[first + i]) + map_.pixel_box.upper[i];
    }
  }

  /// The dimension of an interleaved layout's slices of channels.
  static constexpr std::uint32_t slices = 1;

  const TensorMapSpec& map_;
  const MapCoordinates& origin_;
  const MapCoordinates& offsets_;
  MapCoordinates steps_{};
  MapCoordinates begins_{};
  MapCoordinates ends_{};    ///< exclusive
  std::uint32_t unit_ = 1;   ///< bytes of an element, or with an interleaved layout of a slice of channels
  std::uint32_t width_ = 0;  ///< width of a row, in units
  std::uint32_t row_bytes_ = 0;
  std::uint32_t pitch_ = 0;
  std::uint32_t rows_ = 1;
  std::uint32_t mask_ = 0;  ///< swizzle: address bits 7 and up under this mask are XORed into bits 4 and up
};

}  // namespace sim
TMAJIT_END
