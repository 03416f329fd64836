#pragma once

#include "spec/violations.hpp"

#include <tmajit/tensor_map_spec.hpp>

TMAJIT_BEGIN

// The shape and strides of a tensor map, from a view of the same rank.

/// Sets shape and strides of `map`, whose type and interleave are set. Judges nothing: a negative stride
/// becomes one far above the legal limit.
void set_view(TensorMapSpec& map, const TensorView& view) noexcept;
/// check_extents() of a map that set_view() was given this view for. Negative strides are reported as such.
void check_view(const TensorMapSpec& map, const TensorView& view, Violations& violations);

TMAJIT_END
