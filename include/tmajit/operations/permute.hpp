#pragma once

#include <tmajit/tensor.hpp>

TMAJIT_BEGIN

class Runtime;
struct Operation;

namespace operation {
/// Dimension d of the destination is dimension axes[d] of the source. The permuted source is broadcast to the
/// destination's shape where its extents are 1. This is a copy of a permuted view.
/// Throws Error{invalid_argument} unless `axes` names every dimension once.
[[nodiscard]] TMAJIT_API Operation permute(const Tensor& destination, const Tensor& source, const Dims& axes);
}  // namespace operation

/// One call: plan(runtime, operation::permute(…)) and a launch (docs/move.md).
TMAJIT_API void permute(const Runtime& runtime, const Tensor& destination, const Tensor& source,
                        const Dims& axes, Stream stream = nullptr);

TMAJIT_END
