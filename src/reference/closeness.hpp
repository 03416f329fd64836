#pragma once

#include <tmajit/tensor.hpp>

#include <cstddef>
#include <span>

namespace reference {

/// Whether an expression computes something in f32: whether the elements of a source are numbers of 32 bits
/// or fewer. Where others are f64, sums of such neighbours are rounded to f32 before they meet one.
[[nodiscard]] bool computes_in_f32(std::span<const tmajit::Tensor> sources);

/// How far sums of few numbers of up to about 2 may lie from each other for the order in which they are
/// rounded, relative to the larger of 1 and their size. `in_f32`: they were rounded to f32, whatever `type`
/// could hold.
[[nodiscard]] double sum_tolerance(tmajit::ElementType type, bool in_f32);

/// Whether elements are the same but for the roundings that sum_tolerance() allows. Kernels multiply and
/// add in one step.
[[nodiscard]] bool is_close(tmajit::ElementType type, bool in_f32, const std::byte* a, const std::byte* b);

}  // namespace reference
