#pragma once

#include "kernel/window_problem.hpp"

#include <tmajit/device_memory.hpp>
#include <tmajit/tensor_map_spec.hpp>

#include <cstdint>
#include <optional>

TMAJIT_BEGIN

// Tensor maps with which the copy engine loads windows of images.

/// The box that an im2col load copies: one pixel of each of `windows` windows.
struct WindowBox {
  ElementType type = ElementType::u64;  ///< element type of the map, at least as wide as the tensor's
  std::uint32_t channels = 0;           ///< channels of the box, in elements of `type`
  std::uint32_t windows = 0;
  Swizzle swizzle = Swizzle::none;
};

/// The stride of a map's dimension whose indices are `step` bytes apart, in bytes; nothing if no map can have
/// it. If the dimension is not `walked`, because its extent is 1, any legal stride.
[[nodiscard]] std::optional<std::uint64_t> map_stride(std::int64_t step, bool walked) noexcept;

/// The tensor map of mode im2col for images at `address`. Nothing if no map can describe the images, or if
/// the offsets of an instruction are too small for the filter.
[[nodiscard]] std::optional<TensorMapSpec> image_map(const WindowProblem& problem, DevicePtr address,
                                                     const WindowBox& box);

TMAJIT_END
