#pragma once

#include "reference/families.hpp"
#include "reference/random_maps.hpp"

#include <tmajit/kernel_spec.hpp>

#include <string>
#include <vector>

namespace gpu {

/// A kernel with the views it runs over; legal by validate().
struct RandomKernel {
  tmajit::KernelSpec spec;
  std::vector<tmajit::TensorView> inputs;
  tmajit::TensorView output;
  tmajit::L2Promotion l2_promotion{};
  tmajit::OobFill oob_fill{};
  reference::Function function;  ///< what the expression computes (map, bulk)
  std::uint64_t redrawn = 0;     ///< illegal draws before this one
};

/// Draws kernels until one is legal: any rank, types, swizzle, element strides, padded and permuted strides,
/// extents that boxes do not divide, and any number of stages, warps and CTAs.
[[nodiscard]] RandomKernel random_kernel(reference::Random& random, tmajit::Family family);

/// Everything needed to make the case again by hand, in a few lines.
[[nodiscard]] std::string describe(const RandomKernel& kernel);

/// A tensor of random bytes, gaps between rows included.
[[nodiscard]] reference::Tensor random_tensor(reference::Random& random, const tmajit::TensorView& view);

}  // namespace gpu
