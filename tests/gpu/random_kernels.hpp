#pragma once

#include "reference/families.hpp"
#include "reference/random_maps.hpp"

#include <tmajit/device.hpp>
#include <tmajit/runtime.hpp>
#include <tmajit/tiles.hpp>

#include <string>
#include <vector>

namespace gpu {

/// Addresses of a kernel's tensors.
struct TensorAddresses {
  tmajit::DevicePtr output = 0;
  std::vector<tmajit::DevicePtr> inputs = {};  ///< empty: all 0, which stands for any address
};

/// A kernel of a tile family with its views. It is legal by validate().
struct RandomKernel {
  tmajit::FamilyInfo family;
  std::vector<tmajit::TensorView> inputs = {};
  tmajit::TensorView output = {};
  std::string expression = {};
  tmajit::CombineOp combine = tmajit::CombineOp::add;  ///< operation of families that combine
  std::vector<std::uint32_t> box = {};                 ///< empty: the library's choice
  std::vector<std::uint32_t> element_strides = {};
  tmajit::TileOptions options = {};   ///< options other than box and element strides
  reference::Function function = {};  ///< function that the expression computes
  std::uint64_t redrawn = 0;          ///< number of illegal kernels drawn before this one

  /// The request for plan_tiles(). It refers to this kernel.
  [[nodiscard]] tmajit::TileRequest request(const TensorAddresses& addresses = {}) const;
};

/// All families that plan_tiles() accepts.
[[nodiscard]] std::vector<tmajit::FamilyInfo> tile_families();
/// The seed of one family, from the seed of a run.
[[nodiscard]] std::uint64_t seed_of(const tmajit::FamilyInfo& family, std::uint64_t seed);

/// Draws random kernels until one is legal. They vary in rank, types, swizzle, element strides, padding,
/// order of dimensions, extents, box, stages, warps and CTAs.
[[nodiscard]] RandomKernel random_kernel(reference::Random& random, const tmajit::FamilyInfo& family);

/// Describes a case completely in a few lines, so that it can be repeated by hand.
[[nodiscard]] std::string describe(const RandomKernel& kernel);

/// A tensor of random bytes, gaps between rows included.
[[nodiscard]] reference::Tensor random_tensor(reference::Random& random, const tmajit::TensorView& view);

/// The kernel's expected output, in memory that was filled with `untouched`.
[[nodiscard]] reference::Tensor expected_output(const RandomKernel& kernel,
                                                const std::vector<reference::Tensor>& inputs,
                                                std::byte untouched);

/// Bytes from a fully aligned address to a tensor: 0 for families with tensor maps, any number for families
/// that take any alignment.
struct Offsets {
  std::uint64_t inputs = 0;
  std::uint64_t output = 0;
};
[[nodiscard]] Offsets random_offsets(reference::Random& random, const RandomKernel& kernel);

/// Device memory that holds `bytes` at `offset`, to test other alignments than the allocator's.
struct DeviceCopy {
  DeviceCopy(const std::shared_ptr<tmajit::Device>& device, std::span<const std::byte> bytes,
             std::uint64_t offset = 0);

  tmajit::Buffer buffer;
  tmajit::DevicePtr address;
};

inline constexpr std::byte poison{0xee};
/// Runs the kernel and returns its output, which was filled with `poison` before.
[[nodiscard]] reference::Tensor run(tmajit::Runtime& runtime, const RandomKernel& kernel,
                                    const std::vector<reference::Tensor>& inputs, Offsets offsets);

}  // namespace gpu
