#pragma once

#include "operations/shared/fronts_reference.hpp"
#include "reference/walk.hpp"

#include <tmajit/operation.hpp>

#include <cstdint>
#include <span>

namespace reference {

/// A scan of tensors in host memory, where the tensors' addresses are, of which a part of the destination is
/// written; rows are computed from their beginnings. Sources have the destination's shape; the
/// axis is not negative. Sums and products of floating point accumulate as doubles, and each result is
/// rounded once; those of integers wrap at 64 bits. `front` computes what is scanned, of the sources'
/// elements.
void scan(const tmajit::Tensor& destination, std::span<const tmajit::Tensor> sources,
          const tmajit::Scan& what, const FrontFunction& front, const Part& part);

}  // namespace reference
