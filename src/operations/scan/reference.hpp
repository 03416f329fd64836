#pragma once

#include "operations/shared/fronts_reference.hpp"
#include "reference/walk.hpp"

#include <tmajit/operation.hpp>

#include <cstdint>
#include <span>

namespace reference {

/// Writes a part of the result of a scan. Tensors are in host memory: `address` is a host pointer. Each row
/// is computed from its beginning. Sources have the destination's shape; the axis is not negative. Sums and
/// products of floating point accumulate as doubles, and each result is rounded once; those of integers wrap
/// at 64 bits. `front` computes what is scanned, of the sources' elements.
void scan(const tmajit::Tensor& destination, std::span<const tmajit::Tensor> sources,
          const tmajit::Scan& what, const FrontFunction& front, const Part& part);

}  // namespace reference
