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
struct Places {
  tmajit::DevicePtr output = 0;
  std::vector<tmajit::DevicePtr> inputs = {};  ///< empty: all 0, which stands for any address
};

/// A kernel of tiles with the views it runs over; legal by validate().
struct RandomKernel {
  tmajit::FamilyInfo family;
  std::vector<tmajit::TensorView> inputs = {};
  tmajit::TensorView output = {};
  std::string expression = {};
  tmajit::CombineOp combine = tmajit::CombineOp::add;  ///< operation of families that combine
  std::vector<std::uint32_t> box = {};                 ///< empty: the library's choice
  std::vector<std::uint32_t> element_strides = {};
  tmajit::TileOptions options = {};   ///< except box and element strides
  reference::Function function = {};  ///< function that the expression computes
  std::uint64_t redrawn = 0;          ///< illegal draws before this one

  /// The request for plan_tiles(). It refers to this kernel.
  [[nodiscard]] tmajit::TileRequest request(const Places& places = {}) const;
};

/// Every family that plan_tiles() makes kernels of.
[[nodiscard]] std::vector<tmajit::FamilyInfo> tile_families();
/// The seed of one family, from the seed of a run.
[[nodiscard]] std::uint64_t seed_of(const tmajit::FamilyInfo& family, std::uint64_t seed);

/// Draws kernels until one is legal: any rank, types, swizzle, element strides, padded and permuted strides,
/// extents that boxes do not divide, and any number of stages, warps and CTAs.
[[nodiscard]] RandomKernel random_kernel(reference::Random& random, const tmajit::FamilyInfo& family);

/// Describes a case completely in a few lines, so that it can be repeated by hand.
[[nodiscard]] std::string describe(const RandomKernel& kernel);

/// A tensor of random bytes, gaps between rows included.
[[nodiscard]] reference::Tensor random_tensor(reference::Random& random, const tmajit::TensorView& view);

/// The expected output of the kernel, in memory whose bytes were all `untouched`.
[[nodiscard]] reference::Tensor expected_output(const RandomKernel& kernel,
                                                const std::vector<reference::Tensor>& inputs,
                                                std::byte untouched);

/// Bytes from an address of full alignment to a tensor: 0 where tensor maps need that, any number where a
/// family takes any alignment.
struct Offsets {
  std::uint64_t inputs = 0;
  std::uint64_t output = 0;
};
[[nodiscard]] Offsets random_offsets(reference::Random& random, const RandomKernel& kernel);

/// Device memory that holds `bytes` from `offset` on, to test alignments other than the allocator's.
struct DeviceCopy {
  DeviceCopy(const std::shared_ptr<tmajit::Device>& device, std::span<const std::byte> bytes,
             std::uint64_t offset = 0);

  tmajit::Buffer buffer;
  tmajit::DevicePtr address;
};

inline constexpr std::byte poison{0xee};
/// Runs the kernel; returns its output, which held `poison` before.
[[nodiscard]] reference::Tensor run(tmajit::Runtime& runtime, const RandomKernel& kernel,
                                    const std::vector<reference::Tensor>& inputs, Offsets offsets);

}  // namespace gpu
