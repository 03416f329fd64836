#pragma once

#include <tmajit/dims.hpp>
#include <tmajit/tensor.hpp>

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

TMAJIT_BEGIN

// Shapes and types of destinations, for the operations' arguments.

/// The shape to which the sources repeat together by NumPy's rules. Extents that disagree are found when the
/// sources are repeated.
[[nodiscard]] std::vector<std::uint64_t> common_shape(std::span<const TensorView> sources);
/// The type of the first source; f32 where there is none.
[[nodiscard]] ElementType first_type(std::span<const TensorView> sources) noexcept;
/// Dense views of the first source's type.
[[nodiscard]] std::vector<TensorView> dense(std::span<const TensorView> sources,
                                            const std::vector<std::uint64_t>& shape);
/// The common shape, in the first source's type: what elementwise operations make.
[[nodiscard]] std::vector<TensorView> elementwise(std::span<const TensorView> sources);

TMAJIT_END
