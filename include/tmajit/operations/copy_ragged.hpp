#pragma once

#include <tmajit/list.hpp>
#include <tmajit/tensor.hpp>

TMAJIT_BEGIN

class Runtime;
struct Operation;

namespace operation {
/// destinations[i] = sources[i] for every i, bit for bit, all in one launch. Each pair has its own shape and
/// strides. A plan's first launch at new addresses on a stream first copies a table to the device; a graph
/// that captures the launch has a table of its own. Throws Error{invalid_argument} if there are not as many
/// sources as destinations.
[[nodiscard]] TMAJIT_API Operation copy_ragged(List<Tensor> destinations, List<Tensor> sources);
}  // namespace operation

/// One call: plan(runtime, operation::copy_ragged(…)) and a launch, asynchronous on the stream
/// (docs/ragged.md). Throws what plan_ragged() throws; Error{unavailable} without a device.
TMAJIT_API void copy_ragged(const Runtime& runtime, List<Tensor> destinations, List<Tensor> sources,
                            Stream stream = nullptr);

TMAJIT_END
