#pragma once

#include <tmajit/tensor_map_spec.hpp>

#include <array>
#include <cstdint>
#include <optional>
#include <span>

TMAJIT_BEGIN

/// Shared memory answers a warp from 32 banks of 4 bytes; successive words are in successive banks (CUDA C++
/// Programming Guide, "Shared Memory" of compute capability 5.x and later).
inline constexpr std::uint32_t shared_banks = 32;
inline constexpr std::uint32_t bank_bytes = 4;
/// The most dimensions of a tile: those of its box and, with an interleaved layout, the elements of a slice.
inline constexpr std::uint32_t max_tile_rank = max_map_rank + 1;

/// The bank of byte `offset` of a tile; tiles begin at bank 0.
[[nodiscard]] constexpr std::uint32_t bank_of(std::uint32_t offset) noexcept {
  return offset / bank_bytes % shared_banks;
}

/// Maps a byte's offset in a tile without a swizzle to its offset under `swizzle`. The function is its own
/// inverse. The tile begins at a multiple of TileLayout::alignment.
[[nodiscard]] constexpr std::uint32_t swizzled_offset(std::uint32_t offset, Swizzle swizzle) noexcept {
  const std::uint32_t mask = (1U << static_cast<std::uint32_t>(swizzle)) - 1;
  return offset ^ ((offset >> 7 & mask) << 4);
}

/// An element of a tile seen as a matrix. Rows are all dimensions but the innermost, counted row-major;
/// columns are elements of the innermost.
struct BoxElement {
  std::uint32_t row = 0;
  std::uint32_t column = 0;
  friend bool operator==(const BoxElement&, const BoxElement&) = default;
};

/// The offsets of a box's elements in shared memory, as the copy engine lays them out (PTX ISA, "Tensors";
/// docs/tma.md has the details that the PTX ISA leaves open). With an interleaved layout the box's innermost
/// dimension counts slices of 16 or 32 bytes, and the tile has one more dimension, the elements of a slice.
/// Dimension 1 of the tile then has an extent of 1, whatever the box says.
class TMAJIT_API BoxLayout {
 public:
  /// A box of 1 to 5 dimensions, row-major. Throws SpecError with every rule that a tensor map with this box
  /// would break, Error{invalid_argument} for a negative number or one above 2^32 - 1.
  BoxLayout(ElementType type, const Dims& box, Swizzle swizzle = Swizzle::none,
            Interleave interleave = Interleave::none);
  /// The tile that `map` loads: ceil(box / element stride) elements a dimension. For an im2col map: pixels,
  /// and channels or the elements of a slice. Throws SpecError with every rule that `map` breaks.
  explicit BoxLayout(const TensorMapSpec& map);

  [[nodiscard]] ElementType type() const noexcept { return type_; }
  [[nodiscard]] Swizzle swizzle() const noexcept { return swizzle_; }
  [[nodiscard]] Interleave interleave() const noexcept { return interleave_; }
  /// The tile's elements in each dimension.
  [[nodiscard]] std::span<const std::uint32_t> extents() const noexcept {
    return std::span(extents_).first(rank_);
  }
  [[nodiscard]] std::uint32_t rows() const noexcept { return rows_; }
  [[nodiscard]] std::uint32_t columns() const noexcept { return extents_[rank_ - 1]; }
  [[nodiscard]] std::uint32_t element_bytes() const noexcept { return size_of(type_); }
  [[nodiscard]] std::uint32_t row_bytes() const noexcept { return columns() * element_bytes(); }
  /// Bytes from one row to the next, before the swizzle: row_bytes(), or the swizzle's span if that is wider.
  [[nodiscard]] std::uint32_t pitch_bytes() const noexcept { return pitch_bytes_; }
  /// Bytes from the tile's beginning to one past the last byte that an element takes or a row reserves.
  [[nodiscard]] std::uint32_t bytes() const noexcept { return bytes_; }
  /// Required alignment of the tile's address.
  [[nodiscard]] std::uint32_t alignment() const noexcept { return alignment_; }

  /// Bytes from the tile's beginning to `element`, which must be in the tile.
  [[nodiscard]] std::uint32_t offset_of(BoxElement element) const noexcept {
    return swizzled_offset(element.row * pitch_bytes_ + element.column * element_bytes(), swizzle_);
  }
  /// The offset of the element with one index for each dimension: offset({3, 5}). Throws
  /// Error{invalid_argument} for an index outside the tile.
  [[nodiscard]] std::uint32_t offset(const Dims& index) const;

  /// The element that byte `offset` is part of; nothing for a byte in the gaps that a swizzle wider than the
  /// row leaves, or beyond the tile.
  [[nodiscard]] std::optional<BoxElement> element(std::uint32_t offset) const noexcept;
  /// One index for each dimension of extents(), then zeros.
  [[nodiscard]] std::array<std::uint32_t, max_tile_rank> index(BoxElement element) const noexcept;

 private:
  ElementType type_;
  Swizzle swizzle_;
  Interleave interleave_;
  std::uint32_t rank_ = 0;
  std::array<std::uint32_t, max_tile_rank> extents_{};
  std::uint32_t rows_ = 1;
  std::uint32_t pitch_bytes_ = 0;
  std::uint32_t bytes_ = 0;
  std::uint32_t alignment_ = 0;
};

TMAJIT_END
