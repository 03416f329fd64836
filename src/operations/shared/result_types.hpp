#pragma once

#include <tmajit/element_type.hpp>
#include <tmajit/operations/reduce.hpp>
#include <tmajit/tensor_view.hpp>

#include <span>
#include <string_view>

TMAJIT_BEGIN

// The default types of results: NumPy's rules of promotion (docs/operations.md, "Types of results").

/// The smallest type that holds the values of both: i32 of u16 and i8, f64 of i32 and f32, f32 of f16 and
/// bf16. Two equal types promote to themselves.
[[nodiscard]] ElementType promoted(ElementType a, ElementType b) noexcept;

/// The type of an expression's value: the promoted type of the sources, f32 without a source. If all sources
/// are integers, a floating-point number, function or cast counts as a further source. It is of f32 in
/// `x * 2.5f`, and of f64 in `x * 2.5`.
[[nodiscard]] ElementType value_type(std::string_view expression, std::span<const TensorView> sources);

/// The type of a sum or product of values: 64-bit integers for integers, f32 for fp8, the values' own type
/// for other floating-point types.
[[nodiscard]] ElementType sum_type(ElementType type) noexcept;
/// The type of a mean of values: f64 for integers, f32 for fp8, the values' own type for other types.
[[nodiscard]] ElementType mean_type(ElementType type) noexcept;
/// The type of a reduction's result before its epilogue, for values of type `value`.
[[nodiscard]] ElementType reduced_type(ReductionOp op, ElementType value) noexcept;

TMAJIT_END
