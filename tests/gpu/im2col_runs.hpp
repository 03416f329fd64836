#pragma once

/// Copies through im2col maps on any device, each by a kernel of one CTA, held against the reference.
#include "reference/random_maps.hpp"

#include <tmajit/device.hpp>
#include <tmajit/tensor_map_spec.hpp>

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>

namespace gpu {

enum class PixelCopy : std::uint8_t { load, store, add };

struct Im2colCase {
  PixelCopy copy = PixelCopy::load;
  tmajit::TensorMapSpec map;
  std::array<std::int64_t, tmajit::max_map_rank> at{};           ///< row-major
  std::array<std::int64_t, tmajit::max_map_rank - 2> offsets{};  ///< of loads; outermost first
  bool moved = false;  ///< the map was encoded for another address, and is given this one
};

/// A case of a few kilobytes: corners, strides, filters and dilations that differ from dimension to
/// dimension, and places from the first to beyond the last image. Interleaved maps only where asked for.
[[nodiscard]] Im2colCase random_im2col_case(reference::Random& random, PixelCopy copy,
                                            bool interleaved = false);
[[nodiscard]] std::string describe(const Im2colCase& c);

class Im2colRuns {
 public:
  explicit Im2colRuns(std::shared_ptr<tmajit::Device> device) : device_(std::move(device)) {}
  /// What differs from the reference, in the tile or in the tensor: "byte 17 is 3, not 5 …"; empty if
  /// nothing.
  [[nodiscard]] std::string difference(const Im2colCase& c, std::uint64_t seed);

 private:
  tmajit::LoadedKernel& kernel(PixelCopy copy, std::uint32_t rank);

  std::shared_ptr<tmajit::Device> device_;
  std::map<std::pair<PixelCopy, std::uint32_t>, std::unique_ptr<tmajit::LoadedKernel>> kernels_;
};

}  // namespace gpu
