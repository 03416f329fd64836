#pragma once

#include <tmajit/tensor.hpp>

TMAJIT_BEGIN

class Runtime;
struct Operation;

namespace operation {
/// Values converted to the destination's type, by the rules of expressions' results (docs/move.md). A copy
/// where the types are equal, unless the type is tf32, which rounds; else the map "x".
[[nodiscard]] TMAJIT_API Operation cast(const Tensor& destination, const Tensor& source);
}  // namespace operation

/// One call: plan(runtime, operation::cast(…)) and a launch (docs/move.md).
TMAJIT_API void cast(const Runtime& runtime, const Tensor& destination, const Tensor& source,
                     Stream stream = nullptr);

TMAJIT_END
