#pragma once

#include <tmajit/combine.hpp>
#include <tmajit/tensor.hpp>

#include <cstddef>

namespace reference {

/// Combines the element at `value` into the one at `element`, by
/// engine_reduction.hpp. `type` is one of which the copy engine does `op`, or one of the same bits.
void combine(tmajit::CombineOp op, tmajit::ElementType type, std::byte* element, const std::byte* value);

/// destination = destination op source, of tensors in host memory: `address` is a host pointer. Both have one
/// shape and type.
void combine(const tmajit::Tensor& destination, tmajit::CombineOp op, const tmajit::Tensor& source);

}  // namespace reference
