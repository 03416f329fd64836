#pragma once

#include <tmajit/list.hpp>
#include <tmajit/tensor.hpp>

TMAJIT_BEGIN

class Runtime;
struct Operation;

namespace operation {
/// destination = source[slices]: a copy of a sliced view, broadcast to the destination's shape where its
/// extents are 1. Throws Error{invalid_argument} for more slices than dimensions or a step of 0.
[[nodiscard]] TMAJIT_API Operation slice(const Tensor& destination, const Tensor& source, List<Slice> slices);
}  // namespace operation

/// One call: plan(runtime, operation::slice(…)) and a launch (docs/move.md).
TMAJIT_API void slice(const Runtime& runtime, const Tensor& destination, const Tensor& source,
                      List<Slice> slices, Stream stream = nullptr);

TMAJIT_END
