#pragma once

#include <tmajit/tensor.hpp>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

TMAJIT_BEGIN

/// The view's extents. If there are more than `max_view_rank`, throws Error{invalid_argument} that names the
/// tensor `what`.
[[nodiscard]] std::span<const std::uint64_t> extents(const TensorView& view, std::string_view what);

/// The dimension that `axis` names among `rank` dimensions; a negative axis counts from the end. Nothing if
/// there is no such dimension.
[[nodiscard]] std::optional<std::uint32_t> dimension_of(std::int64_t axis, std::size_t rank) noexcept;
/// The legal axes of a tensor of `rank` dimensions, for errors: "0 to 3, or -1 to -4 from the end".
[[nodiscard]] std::string legal_axes(std::size_t rank);

/// broadcast(), whose errors name the tensor `what`, such as "source 2".
[[nodiscard]] Tensor broadcast(const Tensor& tensor, std::span<const std::uint64_t> shape,
                               std::string_view what);
/// permuted(), whose errors name the tensor `what`.
[[nodiscard]] Tensor permuted(const Tensor& tensor, const Dims& axes, std::string_view what);
/// sliced(), whose errors name the tensor `what`.
[[nodiscard]] Tensor sliced(const Tensor& tensor, std::span<const Slice> slices, std::string_view what);

/// How many of the sources are numbers.
[[nodiscard]] inline std::uint32_t count_numbers(std::span<const TensorView> sources) noexcept {
  return static_cast<std::uint32_t>(std::ranges::count_if(sources, &TensorView::is_number));
}
[[nodiscard]] inline std::uint32_t count_numbers(std::span<const Tensor> sources) noexcept {
  return static_cast<std::uint32_t>(
      std::ranges::count_if(sources, [](const Tensor& source) { return source.view.is_number; }));
}

TMAJIT_END
