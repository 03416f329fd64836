#pragma once

#include "spec/violations.hpp"

#include <tmajit/tensor_map_spec.hpp>

TMAJIT_BEGIN

// The shape and strides of a tensor map, from a view of the same rank.

/// Sets shape and strides of `map`, whose type and interleave are set. Checks nothing: a negative stride
/// becomes one far above the legal limit.
void set_view(TensorMapSpec& map, const TensorView& view) noexcept;
/// check_extents() for a map whose view set_view() has set. Reports negative strides as negative.
void check_view(const TensorMapSpec& map, const TensorView& view, Violations& violations);

TMAJIT_END
