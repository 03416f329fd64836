#pragma once

/// The rows of a tile as the copy engine moves them (docs/tma.md; PTX ISA, "Tensors").
#include <tmajit/tensor_map_spec.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>

TMAJIT_BEGIN
namespace sim {

/// One row: `bytes` in shared memory of which [first, last) are inside the tensor.
struct TileRow {
  std::uint32_t shared = 0;  ///< from the tile's address, before the swizzle
  std::int64_t global = 0;   ///< from the tensor's address, of the row's byte 0
  std::uint32_t first = 0;
  std::uint32_t last = 0;
};

class Tile {
 public:
  Tile(const TensorMapSpec& map, const std::array<std::int64_t, 5>& origin) : map_(map), origin_(origin) {
    const std::uint32_t inner = map.rank - 1U;
    const bool interleaved = map.interleave != Interleave::none;
    unit_ = !interleaved ? size_of(map.type) : map.interleave == Interleave::b16 ? 16 : 32;
    for (std::uint32_t d = 0; d < map.rank; ++d) {
      steps_[d] = d == inner && !interleaved ? 1 : map.element_strides[d];
      extents_[d] = (map.box[d] + steps_[d] - 1) / steps_[d];
    }
    row_bytes_ = extents_[inner] * unit_;
    pitch_ = interleaved ? row_bytes_ : std::max(row_bytes_, span_bytes(map.swizzle));
    for (std::uint32_t d = 0; d < inner; ++d) rows_ *= extents_[d];
    mask_ = (1U << static_cast<std::uint32_t>(map.swizzle)) - 1;
  }

  [[nodiscard]] std::uint32_t rows() const noexcept { return rows_; }
  [[nodiscard]] std::uint32_t row_bytes() const noexcept { return row_bytes_; }
  /// From the first byte to one past the last.
  [[nodiscard]] std::uint32_t span() const noexcept { return rows_ * pitch_; }
  [[nodiscard]] std::uint32_t bytes() const noexcept { return rows_ * row_bytes_; }

  /// Calls visit(TileRow) for every row in the order of shared memory.
  template <typename Visit>
  void for_each_row(const Visit& visit) const {
    const std::uint32_t inner = map_.rank - 1U;
    const std::int64_t column = origin_[inner];
    const auto width = static_cast<std::int64_t>(extents_[inner]);
    const auto extent = static_cast<std::int64_t>(map_.shape[inner]);
    const auto clip = [&](std::int64_t at) {
      return static_cast<std::uint32_t>(std::clamp<std::int64_t>(at - column, 0, width)) * unit_;
    };
    std::array<std::uint32_t, 5> index{};
    for (std::uint32_t row = 0; row < rows_; ++row) {
      TileRow r{row * pitch_, column * unit_, clip(0), clip(extent)};
      bool inside = true;
      for (std::uint32_t d = 0; d < inner; ++d) {
        const std::int64_t at = origin_[d] + static_cast<std::int64_t>(index[d]) * steps_[d];
        inside = inside && at >= 0 && static_cast<std::uint64_t>(at) < map_.shape[d];
        r.global += at * static_cast<std::int64_t>(map_.strides[d]);
      }
      if (!inside || r.last < r.first) r.last = r.first;
      visit(r);
      for (std::uint32_t d = inner; d-- > 0;) {
        if (++index[d] < extents_[d]) break;
        index[d] = 0;
      }
    }
  }

  /// Calls visit(shared offset, byte in the row, bytes) for the pieces of a row; `base` is the tile's offset
  /// in shared memory that begins at a multiple of 1024.
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
  const TensorMapSpec& map_;
  const std::array<std::int64_t, 5>& origin_;
  std::array<std::uint32_t, 5> steps_{};
  std::array<std::uint32_t, 5> extents_{};
  std::uint32_t unit_ = 1;
  std::uint32_t row_bytes_ = 0;
  std::uint32_t pitch_ = 0;
  std::uint32_t rows_ = 1;
  std::uint32_t mask_ = 0;
};

}  // namespace sim
TMAJIT_END
