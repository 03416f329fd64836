#pragma once

#include <tmajit/combine.hpp>
#include <tmajit/tensor.hpp>

#include <string_view>

TMAJIT_BEGIN

class Runtime;
struct Operation;

/// destination = destination op source, by the copy engine's reductions.
struct ReduceInto {
  static constexpr std::string_view operation = "reduce_into";
  CombineOp op = CombineOp::add;
};

namespace operation {
/// destination = destination op source, by the copy engine. Both tensors have the same type, for which
/// combined_as(op, type) returns a type. Each element is combined atomically at the scope of the GPU, so that
/// several launches may be in flight on one destination. Both tensors have a contiguous dimension in common;
/// all other strides and the addresses are multiples of 16 bytes.
[[nodiscard]] TMAJIT_API Operation reduce_into(const Tensor& destination, CombineOp op, const Tensor& source);
}  // namespace operation

/// One call: plan(runtime, operation::reduce_into(…)) and a launch (docs/reduce_into.md).
TMAJIT_API void reduce_into(const Runtime& runtime, const Tensor& destination, CombineOp op,
                            const Tensor& source, Stream stream = nullptr);

TMAJIT_END
