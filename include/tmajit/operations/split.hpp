#pragma once

#include <tmajit/list.hpp>
#include <tmajit/tensor.hpp>

#include <cstdint>

TMAJIT_BEGIN

class Runtime;
struct Operation;

namespace operation {
/// The inverse of concat: cuts the source along `axis`, by the destinations' extents.
/// Throws Error{invalid_argument} if ranks differ or extents do not add up to the source's.
[[nodiscard]] TMAJIT_API Operation split(List<Tensor> destinations, const Tensor& source, std::int64_t axis);
}  // namespace operation

/// One call: plan(runtime, operation::split(…)) and a launch for each destination (docs/move.md).
TMAJIT_API void split(const Runtime& runtime, List<Tensor> destinations, const Tensor& source,
                      std::int64_t axis, Stream stream = nullptr);

TMAJIT_END
