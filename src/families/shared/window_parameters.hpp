#pragma once

#include "families/shared/views.hpp"

#include <tmajit/windows.cuh>

#include <cstdint>
#include <optional>
#include <type_traits>

TMAJIT_BEGIN

/// The stride of the dimension that dimensions [first, first + count) of a view merge into; nothing if they
/// cannot be walked like one.
[[nodiscard]] std::optional<std::int64_t> joined_stride(const TensorView& view, std::uint32_t first,
                                                        std::uint32_t count) noexcept;

/// Calls `f` with a std::integral_constant of an image's dimensions, 1 to 3: the template argument of the
/// structs in templates/params/windows.cuh.
template <class F>
decltype(auto) with_image_dimensions(std::uint32_t dimensions, F&& f) {
  switch (dimensions) {
    case 1: return f(std::integral_constant<std::uint32_t, 1>{});
    case 2: return f(std::integral_constant<std::uint32_t, 2>{});
    default: return f(std::integral_constant<std::uint32_t, 3>{});
  }
}

/// The parameter params::Windows.
template <std::uint32_t dimensions>
[[nodiscard]] params::Windows<dimensions> windows_of(const WindowProblem& problem) {
  params::Windows<dimensions> windows{};
  windows.windows = static_cast<std::uint32_t>(problem.windows());
  for (std::uint32_t k = 0; k < dimensions; ++k) {
    const std::uint32_t d = dimensions - 1 - k;
    const WindowGeometry& geometry = problem.geometry;
    windows.count[k] = make_divider<params::Divider>(geometry.count[d]);
    windows.filter[k] = make_divider<params::Divider>(geometry.filter[d]);
    windows.stride[k] = static_cast<std::uint32_t>(geometry.stride[d]);
    windows.dilation[k] = static_cast<std::uint32_t>(geometry.dilation[d]);
    windows.lower[k] = -static_cast<std::int32_t>(geometry.before[d]);
  }
  return windows;
}

TMAJIT_END
