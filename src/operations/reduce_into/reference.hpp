#pragma once

#include <tmajit/combine.hpp>
#include <tmajit/tensor.hpp>

#include <cstddef>

namespace reference {

/// Combines the element at `value` into the element at `element`, as engine_reduction.hpp does. The copy
/// engine must support `op` for `type`, or for a type of the same bits.
void combine(tmajit::CombineOp op, tmajit::ElementType type, std::byte* element, const std::byte* value);

/// destination = destination op source, for tensors in host memory, whose `address` is a host pointer. Both
/// have the same shape and type.
void combine(const tmajit::Tensor& destination, tmajit::CombineOp op, const tmajit::Tensor& source);

}  // namespace reference
