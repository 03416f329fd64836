#pragma once

#include <tmajit/list.hpp>
#include <tmajit/tensor.hpp>

#include <cstdint>

TMAJIT_BEGIN

class Runtime;
struct Operation;

namespace operation {
/// The inverse of concat: cuts the source along `axis`, by the destinations' extents. With `drop_axis`, the
/// destinations lack the dimension `axis` of the source, whose extent there is their number: index i is
/// copied to destination i (NumPy's `unstack`, PyTorch's `unbind`). Throws Error{invalid_argument} if ranks
/// differ or extents do not add up to the source's.
[[nodiscard]] TMAJIT_API Operation split(List<Tensor> destinations, const Tensor& source, std::int64_t axis,
                                         bool drop_axis = false);
}  // namespace operation

/// One call: plan(runtime, operation::split(…)) and a launch for each destination (docs/move.md).
TMAJIT_API void split(const Runtime& runtime, List<Tensor> destinations, const Tensor& source,
                      std::int64_t axis, Stream stream = nullptr, bool drop_axis = false);

TMAJIT_END
