#pragma once

#include <tmajit/tensor_view.hpp>

#include <cstdint>
#include <span>
#include <string_view>

TMAJIT_BEGIN

/// numbers[d] as a 32-bit number. If it is negative or larger, throws Error{invalid_argument} that names it
/// by `field`: "box[1] is -3".
[[nodiscard]] std::uint32_t as_u32(const Dims& numbers, std::size_t d, std::string_view field);

/// TensorView::contiguous() for at most `max_view_rank` extents of any size. They may exceed 2^63 - 1,
/// because rules check such views, too.
[[nodiscard]] TensorView dense_view(ElementType type, std::span<const std::uint64_t> shape) noexcept;

TMAJIT_END
