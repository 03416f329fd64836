#pragma once

#include "kernel/window_problem.hpp"

#include <tmajit/device_memory.hpp>
#include <tmajit/tensor_map_spec.hpp>

#include <cstdint>
#include <optional>

TMAJIT_BEGIN

// Windows of images through the copy engine.

/// Box that an im2col load copies: the pixels of `windows` windows.
struct WindowBox {
  ElementType type = ElementType::u64;  ///< type of the map; as wide as the tensor's or wider
  std::uint32_t channels = 0;           ///< in elements of that type
  std::uint32_t windows = 0;
  Swizzle swizzle = Swizzle::none;
};

/// A map's stride in bytes where a dimension's indices are `step` bytes apart; none where no map can have it.
/// One that is never walked is any.
[[nodiscard]] std::optional<std::uint64_t> map_stride(std::int64_t step, bool walked) noexcept;

/// The tensor map by which windows are gathered in im2col mode, at an address. None where no map describes
/// the images, or an instruction does not reach a window.
[[nodiscard]] std::optional<TensorMapSpec> image_map(const WindowProblem& problem, DevicePtr address,
                                                     const WindowBox& box);

TMAJIT_END
