#pragma once

#include <tmajit/move.hpp>

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

TMAJIT_BEGIN

/// "16x64"; "one element" for rank 0.
[[nodiscard]] std::string shape_text(std::span<const std::uint64_t> shape);
[[nodiscard]] std::string shape_text(const TensorView& view);
/// "f32 16x64 with strides 64,1".
[[nodiscard]] std::string view_text(const TensorView& view);

/// What errors call a move's tensors: "the destination", or "the destination of move 2" where there are
/// several.
[[nodiscard]] std::string destination_name(std::span<const Move> moves, std::size_t move);
[[nodiscard]] std::string source_name(std::span<const Move> moves, std::size_t move, std::size_t source);

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
