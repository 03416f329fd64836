#pragma once

#include "plan/canonical.hpp"

#include <tmajit/codegen.hpp>
#include <tmajit/device.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

TMAJIT_BEGIN

/// How a kernel moves elements from one view to another; one file each in templates/kernels/.
enum class MoveMethod : std::uint8_t {
  elements,   ///< one element a thread: any strides, any alignment
  rows,       ///< 16 bytes at a time: both views contiguous in the last dimension
  transpose,  ///< blocks through registers and shared memory: contiguous in different dimensions
};

[[nodiscard]] std::string_view name(MoveMethod) noexcept;

/// Everything that a kernel which moves a canonical nest of two operands is specialised for; extents, steps
/// and addresses are arguments of its launch.
struct MoveKernel {
  MoveMethod method = MoveMethod::elements;
  std::uint32_t element_bytes = 1;
  std::uint32_t rank =
      1;  ///< at least 1; the destination is contiguous in the last dimension but for `elements`
  std::uint32_t column = 0;  ///< transpose: the dimension in which the source is contiguous
  std::uint32_t threads = 0;
  std::array<std::uint32_t, max_view_rank> box{};           ///< elements of a tile
  std::array<std::uint32_t, max_view_rank> source_order{};  ///< transpose: dimensions by the source's strides

  friend bool operator==(const MoveKernel&, const MoveKernel&) = default;
};

/// What is free to choose for speed. The defaults were measured on an H200 (docs/performance.md).
struct MoveTuning {
  std::uint32_t destination_run =
      256;                         ///< transpose: bytes of a tile that follow each other in the destination
  std::uint32_t source_run = 256;  ///< and in the source
  std::uint32_t transpose_threads = 256;
  std::uint32_t rows_bytes = 4 * 1024;  ///< rows: bytes of a tile
  std::uint32_t rows_threads = 128;
};

/// The fastest kernel known for a nest of a destination and one source, both at addresses whose remainders by
/// 16, the nest's offsets included, are given. The nest is not empty.
[[nodiscard]] MoveKernel choose_move(const CanonicalNest& nest, std::uint32_t element_bytes,
                                     std::uint32_t destination_remainder, std::uint32_t source_remainder,
                                     const MoveTuning& tuning = {});

/// Its source: a self-contained translation unit.
[[nodiscard]] Source move_source(const MoveKernel& kernel);

/// Its one parameter, ViewPair of templates/device/view_pair.cuh, for a nest it was chosen for.
[[nodiscard]] std::vector<std::byte> move_parameter(const MoveKernel& kernel, const CanonicalNest& nest,
                                                    DevicePtr destination, DevicePtr source);

/// Its grid and block. Throws Error{unsupported} if there are more tiles than a grid has CTAs.
[[nodiscard]] LaunchShape move_shape(const MoveKernel& kernel, const CanonicalNest& nest);

TMAJIT_END
