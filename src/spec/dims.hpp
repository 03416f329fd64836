#pragma once

#include <tmajit/tensor_view.hpp>

#include <cstdint>
#include <span>
#include <string_view>

TMAJIT_BEGIN

/// Number d of `numbers` as one of 32 bits. Throws Error{invalid_argument} that names it by `field`,
/// "box[1] is -3", if it is negative or larger.
[[nodiscard]] std::uint32_t as_u32(const Dims& numbers, std::size_t d, std::string_view field);

/// TensorView::contiguous() for at most `max_view_rank` extents of any size, also above 2^63 - 1, because
/// rules check such views.
[[nodiscard]] TensorView dense_view(ElementType type, std::span<const std::uint64_t> shape) noexcept;

TMAJIT_END
