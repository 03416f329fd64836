#pragma once

#include <tmajit/element_type.hpp>
#include <tmajit/tensor_view.hpp>

#include <span>
#include <string_view>

TMAJIT_BEGIN

// Which type a result has where nobody gives one: NumPy's rules of promotion (docs/operations.md, "Types of
// results").

/// The smallest type that holds the values of both: i32 of u16 and i8, f64 of i32 and f32, f32 of f16 and
/// bf16. Of two equal types that type.
[[nodiscard]] ElementType promoted(ElementType a, ElementType b) noexcept;

/// The type of an expression's value, the sources' promoted type. Of integers with floating-point numbers,
/// functions or casts it is a floating-point type: f32 and the integers' promoted for `x * 2.5f`, f64 for
/// `x * 2.5`. f32 where there is no source.
[[nodiscard]] ElementType value_type(std::string_view expression, std::span<const TensorView> sources);

/// What values of that type are added or multiplied to: integers to 64 bits, fp8 to f32, others to their own.
[[nodiscard]] ElementType sum_type(ElementType type) noexcept;
/// The mean of values of that type: f64 of integers, f32 of fp8, others their own.
[[nodiscard]] ElementType mean_type(ElementType type) noexcept;

TMAJIT_END
