#pragma once

#include <tmajit/tensor_map_spec.hpp>
#include <tmajit/validate.hpp>

#include <cstdint>

TMAJIT_BEGIN

// Limits of sm_90, the driver and this library's kernels, for the files that share them.

inline constexpr std::uint32_t max_box = 256;      ///< extent of a box, before division by element strides
inline constexpr std::uint32_t max_pixels = 1024;  ///< pixels that a copy through an im2col map moves
inline constexpr std::uint32_t max_element_stride = 8;
inline constexpr std::uint32_t bulk_bytes = 16;          ///< the copy engine's unit of size and alignment
inline constexpr std::uint64_t max_extent = 1ULL << 32;  ///< largest extent that the driver encodes
inline constexpr std::uint64_t max_coordinate_extent = 1ULL << 31;  ///< coordinates have 32 signed bits
/// Largest tile in bytes, without padding, that the driver encodes: more than a CTA can have (docs/tma.md).
inline constexpr std::uint64_t max_encoded_tile_bytes = max_shared_bytes_per_sm;
inline constexpr std::uint64_t max_stride_bytes = 1ULL << 40;  ///< strides must be smaller
// Bounds of a TileSpec's fields.
inline constexpr std::uint32_t max_stages = 32;
inline constexpr std::uint32_t min_output_stages = 2;
inline constexpr std::uint32_t max_output_stages = 8;
inline constexpr std::uint32_t max_warps = 16;
inline constexpr std::uint32_t max_ctas_per_sm = 16;
inline constexpr std::uint32_t max_tiles_per_cta = 255;

// Limits of an SM and of a grid.
inline constexpr std::uint32_t max_threads_per_sm = 2048;
inline constexpr std::uint32_t registers_per_sm = 65536;
inline constexpr std::uint32_t max_resident_ctas = 32;       ///< resident CTAs of an SM
inline constexpr std::uint64_t max_grid = (1ULL << 31) - 1;  ///< CTAs of a grid's first dimension
inline constexpr std::uint32_t cta_reserve_bytes = 1024;     ///< shared memory that CUDA reserves per CTA
/// The pending transaction count of an mbarrier is within ±(2^20 − 1) (PTX ISA, "tx-count").
inline constexpr std::uint64_t max_transaction_bytes = (1U << 20) - 1;

/// Required alignment of a tensor map's strides and address, in bytes.
[[nodiscard]] constexpr std::uint32_t stride_unit(Interleave interleave) noexcept {
  return interleave == Interleave::b32 ? 32 : 16;
}

/// Bytes from one index of the innermost dimension to the next: an element, or in an interleaved layout a
/// slice of channels, whatever the type.
[[nodiscard]] constexpr std::uint32_t inner_unit(ElementType type, Interleave interleave) noexcept {
  switch (interleave) {
    case Interleave::b16: return 16;
    case Interleave::b32: return 32;
    default: return size_of(type);
  }
}

/// The multiple of `unit` at or below an address, at least `unit`: a tensor cannot have a null address.
[[nodiscard]] constexpr std::uint64_t nearest_aligned(std::uint64_t address, std::uint64_t unit) noexcept {
  return address < unit ? unit : address - address % unit;
}

/// The most dynamic shared memory of a CTA with which `ctas` CTAs still fit on one SM; 0 if they never do.
[[nodiscard]] constexpr std::uint32_t shared_bytes_for(std::uint32_t ctas) noexcept {
  const std::uint32_t share = max_shared_bytes_per_sm / (ctas == 0 ? 1 : ctas);
  const std::uint32_t most = share > cta_reserve_bytes ? share - cta_reserve_bytes : 0;
  return most < max_shared_bytes_per_cta ? most : max_shared_bytes_per_cta;
}

TMAJIT_END
