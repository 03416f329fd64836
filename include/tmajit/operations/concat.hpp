#pragma once

#include <tmajit/list.hpp>
#include <tmajit/tensor.hpp>

#include <cstdint>

TMAJIT_BEGIN

class Runtime;
struct Operation;

namespace operation {
/// Joins the sources along `axis`: each source is copied to its part of the destination. With `new_axis` only
/// the destination has the dimension `axis`, and its extent there is the number of sources: source i is
/// copied to index i (NumPy's and PyTorch's `stack`). Throws Error{invalid_argument} if ranks differ or
/// extents do not add up to the destination's.
[[nodiscard]] TMAJIT_API Operation concat(const Tensor& destination, List<Tensor> sources, std::int64_t axis,
                                          bool new_axis = false);
}  // namespace operation

/// One call: plan(runtime, operation::concat(…)) and a launch for each source (docs/move.md).
TMAJIT_API void concat(const Runtime& runtime, const Tensor& destination, List<Tensor> sources,
                       std::int64_t axis, Stream stream = nullptr, bool new_axis = false);

TMAJIT_END
