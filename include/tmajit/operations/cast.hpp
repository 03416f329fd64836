#pragma once

#include <tmajit/tensor.hpp>

TMAJIT_BEGIN

class Runtime;
struct Operation;

namespace operation {
/// Converts values to the destination's type, by the rules for results of expressions (docs/move.md). If both
/// types are equal, this is a copy, except for tf32, which rounds; otherwise it is the map "x".
[[nodiscard]] TMAJIT_API Operation cast(const Tensor& destination, const Tensor& source);
}  // namespace operation

/// One call: plan(runtime, operation::cast(…)) and a launch (docs/move.md).
TMAJIT_API void cast(const Runtime& runtime, const Tensor& destination, const Tensor& source,
                     Stream stream = nullptr);

TMAJIT_END
