#pragma once

#include <tmajit/tensor.hpp>

#include <cstdint>
#include <span>
#include <string_view>

TMAJIT_BEGIN

/// The view's extents. Throws Error{invalid_argument} about `what` for more than `max_view_rank`.
[[nodiscard]] std::span<const std::uint64_t> extents(const TensorView& view, std::string_view what);

/// broadcast(), whose errors speak of `what`: "source 2".
[[nodiscard]] Tensor broadcast(const Tensor& tensor, std::span<const std::uint64_t> shape,
                               std::string_view what);
/// permuted(), likewise.
[[nodiscard]] Tensor permuted(const Tensor& tensor, std::span<const std::uint32_t> axes,
                              std::string_view what);
/// sliced(), likewise.
[[nodiscard]] Tensor sliced(const Tensor& tensor, std::span<const Slice> slices, std::string_view what);

TMAJIT_END
