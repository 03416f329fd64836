#pragma once

#include <tmajit/tensor_view.hpp>

#include <array>
#include <cstdint>
#include <string_view>

TMAJIT_BEGIN

/// Permutation of 16-byte chunks within rows of 32, 64 or 128 bytes of shared memory
/// (CUtensorMapSwizzle): `address ^= ((address >> 7) & m) << 4` with m = 1, 3, 7.
enum class Swizzle : std::uint8_t { none, b32, b64, b128 };
/// CUtensorMapInterleave: channels in slices of 16 or 32 bytes (NC/8HWC8, NC/16HWC16).
enum class Interleave : std::uint8_t { none, b16, b32 };
/// CUtensorMapL2promotion: how much a miss brings into L2.
enum class L2Promotion : std::uint8_t { none, b64, b128, b256 };
/// CUtensorMapFloatOOBfill: what a load delivers for elements outside the tensor.
enum class OobFill : std::uint8_t { zero, nan };

/// "none", "32B", "64B", "128B"; "16B", "32B"; "zero", "nan".
[[nodiscard]] TMAJIT_API std::string_view name(Swizzle) noexcept;
[[nodiscard]] TMAJIT_API std::string_view name(Interleave) noexcept;
[[nodiscard]] TMAJIT_API std::string_view name(L2Promotion) noexcept;
[[nodiscard]] TMAJIT_API std::string_view name(OobFill) noexcept;
/// The inverse of name(); throws Error{invalid_argument} that lists the legal names.
[[nodiscard]] TMAJIT_API Swizzle parse_swizzle(std::string_view);
[[nodiscard]] TMAJIT_API Interleave parse_interleave(std::string_view);
[[nodiscard]] TMAJIT_API L2Promotion parse_l2_promotion(std::string_view);
[[nodiscard]] TMAJIT_API OobFill parse_oob_fill(std::string_view);

/// Bytes of a row of the swizzle pattern: 32, 64 or 128; 0 for none.
[[nodiscard]] constexpr std::uint32_t span_bytes(Swizzle swizzle) noexcept {
  return swizzle == Swizzle::none ? 0U : 16U << static_cast<std::uint32_t>(swizzle);
}

/// Everything `cuTensorMapEncodeTiled` is told, except the address. The one truth about a tensor map: the
/// driver encodes it for a GPU, the simulator resolves its own handle to it.
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
  std::array<std::uint8_t, 2> reserved{};
  std::array<std::uint64_t, max_map_rank> shape{};            ///< elements
  std::array<std::uint64_t, max_map_rank> strides{};          ///< bytes; the innermost is its element's size
  std::array<std::uint32_t, max_map_rank> box{};              ///< elements of the tensor that a tile spans
  std::array<std::uint32_t, max_map_rank> element_strides{};  ///< 1 … 8; a tile loads box / element stride

  /// The map of `view` in boxes of `box` elements: strides in bytes, element strides 1, not interleaved. It
  /// is legal as it is; the other fields can be set afterwards, and validate() then looks again. The stride
  /// of a dimension of extent 1, which is never walked, becomes one that a tensor map may have. Throws
  /// SpecError with every rule that it breaks, Error{invalid_argument} for a negative number in `box`, or if
  /// the box has not as many dimensions as the view.
  [[nodiscard]] TMAJIT_API static TensorMapSpec of(const TensorView& view, const Dims& box,
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
  std::uint64_t transaction_bytes = 0;  ///< what a load adds to its mbarrier, OOB fill included
  std::uint32_t alignment = 0;          ///< of the shared-memory address: 128, or the swizzle's period
};

/// The shared-memory layout of a tile of `tile` elements (row-major; box over element stride). Throws
/// Error{invalid_argument} for a negative number, or one above 2^32 - 1.
[[nodiscard]] TMAJIT_API TileLayout tile_layout(ElementType type, const Dims& tile, Swizzle swizzle);
/// The layout of the tile that `spec` loads: ceil(box / element stride) elements a dimension.
[[nodiscard]] TMAJIT_API TileLayout tile_layout(const TensorMapSpec& spec) noexcept;

TMAJIT_END
