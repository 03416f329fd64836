#pragma once

#include <tmajit/names.hpp>
#include <tmajit/tensor_view.hpp>

#include <array>
#include <cstdint>
#include <string_view>

TMAJIT_BEGIN

/// How copies walk a tensor (PTX ISA, "Tensor Access Modes"): box by box, or pixel by pixel of images, as a
/// convolution reads them.
enum class MapMode : std::uint8_t { tiled, im2col };
/// Permutation of 16-byte chunks within rows of 32, 64 or 128 bytes of shared memory
/// (CUtensorMapSwizzle): `address ^= ((address >> 7) & m) << 4` with m = 1, 3, 7.
enum class Swizzle : std::uint8_t { none, b32, b64, b128 };
/// CUtensorMapInterleave: channels in slices of 16 or 32 bytes (NC/8HWC8, NC/16HWC16).
enum class Interleave : std::uint8_t { none, b16, b32 };
/// CUtensorMapL2promotion: bytes that a miss brings into L2.
enum class L2Promotion : std::uint8_t { none, b64, b128, b256 };
/// CUtensorMapFloatOOBfill: the value that a load delivers for elements outside the tensor.
enum class OobFill : std::uint8_t { zero, nan };

/// "tiled", "im2col"; "none", "32B", "64B", "128B"; "16B", "32B"; "zero", "nan".
[[nodiscard]] TMAJIT_API std::string_view name(MapMode) noexcept;
[[nodiscard]] TMAJIT_API std::string_view name(Swizzle) noexcept;
[[nodiscard]] TMAJIT_API std::string_view name(Interleave) noexcept;
[[nodiscard]] TMAJIT_API std::string_view name(L2Promotion) noexcept;
[[nodiscard]] TMAJIT_API std::string_view name(OobFill) noexcept;
/// The inverse of name(); throws Error{invalid_argument} that lists the legal names.
template <>
[[nodiscard]] TMAJIT_API MapMode parse<MapMode>(std::string_view name);
template <>
[[nodiscard]] TMAJIT_API Swizzle parse<Swizzle>(std::string_view name);
template <>
[[nodiscard]] TMAJIT_API Interleave parse<Interleave>(std::string_view name);
template <>
[[nodiscard]] TMAJIT_API L2Promotion parse<L2Promotion>(std::string_view name);
template <>
[[nodiscard]] TMAJIT_API OobFill parse<OobFill>(std::string_view name);

/// Bytes of a row of the swizzle pattern: 32, 64 or 128; 0 for none.
[[nodiscard]] constexpr std::uint32_t span_bytes(Swizzle swizzle) noexcept {
  return swizzle == Swizzle::none ? 0U : 16U << static_cast<std::uint32_t>(swizzle);
}

/// The pixels that a copy through an im2col map moves (PTX ISA, "Im2col mode"): `channels` channels of
/// `pixels` pixels, which are contiguous in shared memory.
///
/// The tensor is [images, depth, height, width, channels], without depth, or without depth and height, where
/// it has fewer dimensions. A copy names the first channel, a filter's first corner, and the image. The
/// corner then moves by the element strides over the bounding box, which in each dimension of the image is
/// lower … extent − 1 + upper. The innermost dimension advances first. At its end it restarts from its lower
/// corner and the next dimension advances; after all dimensions, the image. At each corner the copy moves the
/// pixel at the corner plus the load's offsets, or the fill value if that pixel is outside of the image. With
/// padding p before and q after, a filter of extent k and a dilation d, lower is −p and upper q − (k − 1) ·
/// d, and tap i has the offset i · d.
///
/// With an interleaved layout the tensor is [images, slices of channels, depth, height, width], without
/// depth, or without depth and height, where it has fewer dimensions. A copy moves one slice of each pixel,
/// the slice that it names, whatever `channels` says (docs/tma.md).
struct PixelBox {
  std::array<std::int32_t, max_map_rank - 2> lower{};  ///< pixels, outermost first; zero beyond rank − 2
  std::array<std::int32_t, max_map_rank - 2> upper{};  ///< like `lower`, but from the image's last pixel
  std::uint32_t channels = 0;  ///< channels of a pixel: 1 … 256, a multiple of 16 bytes
  std::uint32_t pixels = 0;    ///< pixels of a copy, in all images, whatever the strides: 1 … 1024
  friend bool operator==(const PixelBox&, const PixelBox&) = default;
};

/// Bits of an im2col map's corners (signed) and of a load's offsets (unsigned), for a tensor of 3, 4 or 5
/// dimensions; 0 for other ranks.
[[nodiscard]] constexpr std::uint32_t pixel_offset_bits(std::uint32_t rank) noexcept {
  return rank == 3 ? 16 : rank == 4 ? 8 : rank == 5 ? 5 : 0;
}

/// The index of an image's outermost dimension in the tensor of an im2col map. It follows the dimension of
/// the images and, with an interleaved layout, that of the slices.
[[nodiscard]] constexpr std::uint32_t first_image_dimension(Interleave interleave) noexcept {
  return interleave == Interleave::none ? 1 : 2;
}

/// All arguments of `cuTensorMapEncodeTiled` or `cuTensorMapEncodeIm2col` except the address. The one
/// description of a tensor map: the driver encodes it for a GPU, the simulator resolves its own handle to it.
///
/// Row-major, outermost dimension first; entries beyond `rank` are zero. The reversal to the driver's
/// innermost-first order happens in one place, the encoder. With an interleaved layout the elements of the
/// innermost dimension are slices of 16 or 32 bytes, whatever the type.
struct TensorMapSpec {
  ElementType type = ElementType::f32;
  std::uint8_t rank = 0;
  Interleave interleave = Interleave::none;
  Swizzle swizzle = Swizzle::none;
  L2Promotion l2_promotion = L2Promotion::none;
  OobFill oob_fill = OobFill::zero;
  MapMode mode = MapMode::tiled;
  std::uint8_t reserved = 0;
  std::array<std::uint64_t, max_map_rank> shape{};    ///< elements
  std::array<std::uint64_t, max_map_rank> strides{};  ///< bytes; the innermost is its element's size
  std::array<std::uint32_t, max_map_rank> box{};      ///< elements of the tensor in a tile's span; tiled only
  /// 1 … 8. A tile loads box / element stride elements; an im2col copy moves `pixel_box.pixels` all the same.
  std::array<std::uint32_t, max_map_rank> element_strides{};
  PixelBox pixel_box{};  ///< im2col only

  /// The map of `view` in boxes of `box` elements: strides in bytes, element strides 1, not interleaved. The
  /// map is legal; after setting other fields, call validate(). The stride of a dimension of extent 1, which
  /// no copy uses, becomes one that a tensor map may have. Throws SpecError with every rule that the map
  /// breaks, Error{invalid_argument} for a negative number in `box`, or if box and view differ in rank.
  [[nodiscard]] TMAJIT_API static TensorMapSpec of(const TensorView& view, const Dims& box,
                                                   Swizzle swizzle = Swizzle::none);
  /// The map of `view` with the boxes and all other members of `options` but type, rank, shape and strides;
  /// element strides of 0 become 1. With an interleaved layout the view's innermost dimension counts slices,
  /// and its stride is a slice's elements. Throws SpecError with every rule that the map breaks.
  [[nodiscard]] TMAJIT_API static TensorMapSpec of(const TensorView& view, const TensorMapSpec& options);
  /// The im2col map of `images`, of 3 to 5 dimensions, by `pixel_box`; other fields as above. Throws
  /// SpecError with every rule that it breaks.
  [[nodiscard]] TMAJIT_API static TensorMapSpec im2col(const TensorView& images, const PixelBox& pixel_box,
                                                       Swizzle swizzle = Swizzle::none);

  friend bool operator==(const TensorMapSpec&, const TensorMapSpec&) = default;
};

/// A tile in shared memory as the copy engine lays it out: `rows` rows of `row_bytes`, each starting
/// `pitch_bytes` after the one before.
struct TileLayout {
  std::uint64_t rows = 0;
  std::uint32_t row_bytes = 0;
  std::uint32_t pitch_bytes = 0;        ///< the swizzle's span where a row is narrower than it
  std::uint64_t bytes = 0;              ///< rows · pitch
  std::uint64_t transaction_bytes = 0;  ///< bytes that a load adds to its mbarrier, OOB fill included
  std::uint32_t alignment = 0;  ///< alignment of the shared-memory address: 128, or the swizzle's period
};

/// The shared-memory layout of a tile of `tile` elements (row-major; box over element stride). Throws
/// Error{invalid_argument} for a negative number, or one above 2^32 - 1.
[[nodiscard]] TMAJIT_API TileLayout tile_layout(ElementType type, const Dims& tile, Swizzle swizzle);
/// The layout of the tile that `spec` loads: ceil(box / element stride) elements a dimension, or a row a
/// pixel. With an interleaved layout a tile has one index of dimension 1, whatever the box says: measured on
/// an H200 (docs/tma.md).
[[nodiscard]] TMAJIT_API TileLayout tile_layout(const TensorMapSpec& spec) noexcept;

TMAJIT_END
