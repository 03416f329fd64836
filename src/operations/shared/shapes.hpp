#pragma once

#include <tmajit/dims.hpp>
#include <tmajit/tensor.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

TMAJIT_BEGIN

// Shapes and types of destinations, for the operations' arguments, and views of other shapes.

/// The shape to which the sources are broadcast together, by NumPy's rules. Extents that disagree are
/// reported later, when each source is broadcast.
[[nodiscard]] std::vector<std::uint64_t> common_shape(std::span<const TensorView> sources);
/// The type of the first source; f32 without sources.
[[nodiscard]] ElementType first_type(std::span<const TensorView> sources) noexcept;
/// One dense view of the first source's type.
[[nodiscard]] std::vector<TensorView> dense(std::span<const TensorView> sources,
                                            const std::vector<std::uint64_t>& shape);
/// The destination of an elementwise operation: a dense view of the common shape, in the first source's type.
[[nodiscard]] std::vector<TensorView> elementwise(std::span<const TensorView> sources);
/// Which of `rank` dimensions `axes` names. Other axes count as absent.
[[nodiscard]] std::array<bool, max_view_rank> row_dimensions(const Dims& axes, std::size_t rank) noexcept;
/// The view at index 0 of dimension `d`, without that dimension.
[[nodiscard]] TensorView without_dimension(TensorView view, std::uint32_t d);

TMAJIT_END
