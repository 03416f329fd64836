#pragma once

#include "kernel/family.hpp"

#include <tmajit/tensor_map_spec.hpp>

#include <cstdint>
#include <optional>

TMAJIT_BEGIN

/// Tunable parameters of an `im2col` kernel whose boxes the copy engine moves.
struct WindowTuning {
  std::uint32_t box_bytes = 0;  ///< wanted bytes of a box
  std::uint32_t stages = 1;     ///< boxes of a CTA in flight
};

/// A tile of windows. CTAs move it in boxes, each of some channels of one tap.
struct WindowTile {
  std::uint32_t windows = 1;   ///< windows of a tile
  std::uint32_t channels = 2;  ///< channels of a box, in words of 8 bytes
  std::uint32_t stages = 1;    ///< boxes of a CTA in flight
  std::uint64_t tiles = 1;     ///< tiles of windows
  std::uint64_t steps = 1;     ///< boxes of a tile
  std::uint64_t share = 1;     ///< boxes of a tile that one CTA moves

  [[nodiscard]] std::uint32_t box_bytes() const noexcept { return windows * channels * 8; }
  [[nodiscard]] std::uint64_t shares() const noexcept { return (steps + share - 1) / share; }
};
[[nodiscard]] WindowTile window_tile(const Problem& problem, const WindowTuning& tuning);

/// The tensor maps, in words of 8 bytes: of the images, in mode im2col, and of the destination as [windows,
/// taps, channels]. Nothing if no map can describe the tensor, or if an instruction's offsets are too small
/// for the filter.
[[nodiscard]] std::optional<TensorMapSpec> images_map(const Problem& problem, const WindowTile& tile);
[[nodiscard]] std::optional<TensorMapSpec> windows_map(const Problem& problem, const WindowTile& tile);

TMAJIT_END
