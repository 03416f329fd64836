#pragma once

#include <tmajit/tensor_map_spec.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>

namespace reference {

/// The copy engine on the CPU, written for clarity from the PTX ISA ("Tensors") and the documentation of
/// cuTensorMapEncodeTiled and cuTensorMapEncodeIm2col, independently of src/. Maps must be legal. Shared
/// memory is an array whose first byte stands for an address aligned to 1024 bytes; a tile begins at byte
/// `begin` of it, a multiple of 128. Coordinates are row-major and count elements.
///
/// Measured on an H200 (docs/tma.md): rows narrower than a swizzle, element strides, the NaN of the OOB fill,
/// interleaved layouts, that stores write whole 16-byte chunks, and im2col. Not yet confirmed: element
/// strides of a store, and interleave 16B under a swizzle.

/// Bytes of a tile in shared memory, the padding of rows narrower than the swizzle included.
[[nodiscard]] std::uint64_t image_bytes(const tmajit::TensorMapSpec& map);

/// Loads the tile at `coordinates`, which may be outside of the tensor. Writes the bytes that the engine
/// writes and leaves other bytes of `shared` unchanged. `shared` has at least begin + image_bytes(map) bytes;
/// `tensor` begins at the map's address. For im2col maps the coordinates of the image are inside the bounding
/// box, and `offsets` has one number for each dimension of the image.
void load(const tmajit::TensorMapSpec& map, std::span<const std::byte> tensor,
          std::span<const std::int64_t> coordinates, std::span<std::byte> shared,
          std::span<const std::int64_t> offsets = {}, std::uint64_t begin = 0);

/// Stores the tile in `shared` to `coordinates` (not negative). Elements outside the tensor are not written,
/// except the remainder of a 16-byte chunk that begins inside it. Bytes of such a remainder beyond `tensor`
/// are dropped.
void store(const tmajit::TensorMapSpec& map, std::span<std::byte> tensor,
           std::span<const std::int64_t> coordinates, std::span<const std::byte> shared,
           std::uint64_t begin = 0);

/// The operation of a reduction: updates an element of the tensor with one of the tile.
using Combine = std::function<void(std::byte* element, const std::byte* operand)>;
/// Like store(), but combines each element with the tensor's old one instead of overwriting it.
void reduce(const tmajit::TensorMapSpec& map, std::span<std::byte> tensor,
            std::span<const std::int64_t> coordinates, std::span<const std::byte> shared,
            const Combine& combine, std::uint64_t begin = 0);

/// Maps the offset of a byte in an unswizzled tile to its offset under `swizzle`.
[[nodiscard]] std::uint64_t swizzled(std::uint64_t offset, tmajit::Swizzle swizzle);

}  // namespace reference
