#pragma once

#include <tmajit/list.hpp>
#include <tmajit/tensor.hpp>

TMAJIT_BEGIN

class Runtime;
struct Operation;

namespace operation {
/// destinations[i] = sources[i] for every i, bits as they are, all in one launch. Shapes and strides differ
/// from pair to pair. Throws Error{invalid_argument} if there are not as many sources as destinations.
[[nodiscard]] TMAJIT_API Operation copy_ragged(List<Tensor> destinations, List<Tensor> sources);
}  // namespace operation

TMAJIT_END
