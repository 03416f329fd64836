#pragma once

/// Copies through im2col maps on any device, each by a kernel of one CTA, held against the reference.
#include "reference/random_maps.hpp"

#include <tmajit/device.hpp>
#include <tmajit/runtime.hpp>
#include <tmajit/tensor_map_spec.hpp>

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace gpu {

enum class PixelCopy : std::uint8_t { load, store, add };

/// What random cases have beyond the plainest: whole pixels of a u32 tensor that lies densely, from a place
/// of the traversal on. One alone tells which of them a device cannot do.
struct PixelFeatures {
  bool channels = false;  ///< begin and end outside of the tensor's, which may end within 16 bytes
  bool images = false;    ///< begin behind the last
  bool padding = false;   ///< gaps between rows and images
  bool prefetch = false;  ///< before a load
  bool moved = false;     ///< maps
  bool strides = false;   ///< traversal
  bool between = false;   ///< corners that begin between places of the traversal
  bool corners = false;   ///< bounding boxes that begin inside of the image, or end outside
  bool offsets = false;   ///< of loads
  bool types = false;     ///< every element type, and NaN as the fill
  bool swizzles = false;
  bool outside = false;  ///< stores from places outside of the image
  bool interleaved = false;
};
/// A class of random cases.
struct PixelCopies {
  const char* name;
  PixelCopy copy;
  PixelFeatures features;
};
/// From the plainest to all at once: loads, stores, reductions, interleaved images.
[[nodiscard]] std::vector<PixelCopies> pixel_copies();

struct Im2colCase {
  PixelCopy copy = PixelCopy::load;
  tmajit::TensorMapSpec map;
  std::array<std::int64_t, tmajit::max_map_rank> at{};           ///< row-major
  std::array<std::int64_t, tmajit::max_map_rank - 2> offsets{};  ///< of loads; outermost first
  bool moved = false;     ///< the map was encoded for another address, and is given this one
  bool prefetch = false;  ///< before the load
};

/// A case of a few kilobytes: corners, strides, filters and dilations that differ from dimension to
/// dimension, and places from the first to beyond the last image, as far as `features` allow.
[[nodiscard]] Im2colCase random_im2col_case(reference::Random& random, PixelCopy copy,
                                            const PixelFeatures& features);
/// Loads of 8 pixels from the place (0, 1, 2, 3) of [2, 4, 5, 6] slices of 16 and of 32 bytes, by maps of
/// different types and channels.
[[nodiscard]] std::vector<Im2colCase> slices_cases();
/// What Im2colRuns::origins() finds where a device does what the reference does.
[[nodiscard]] std::vector<std::uint32_t> expected_origins(const Im2colCase& c);
[[nodiscard]] std::string describe(const Im2colCase& c);

class Im2colRuns {
 public:
  explicit Im2colRuns(std::shared_ptr<tmajit::Device> device) : device_(std::move(device)) {}
  /// What differs from the reference, in the tile or in the tensor: "byte 17 is 3, not 5 …"; empty if
  /// nothing.
  [[nodiscard]] std::string difference(const Im2colCase& c, std::uint64_t seed);

  /// Where each 16 bytes of the tile of a load came from, in 16 bytes from the tensor's begin; `untouched` or
  /// `filled` where from nowhere. Waits for `expected` bytes; where it is not known how many a load moves, 0:
  /// a while.
  [[nodiscard]] std::vector<std::uint32_t> origins(const Im2colCase& c, std::uint32_t expected = 0);
  static constexpr std::uint32_t untouched = 0xffff'ffff;
  static constexpr std::uint32_t filled = 0;  ///< the tensor's first 16 bytes are number 1

 private:
  tmajit::LoadedKernel& kernel(PixelCopy copy, std::uint32_t rank);
  void launch(const Im2colCase& c, std::uint64_t image_bytes, tmajit::DevicePtr image,
              tmajit::DevicePtr tensor, std::uint32_t expected);

  std::shared_ptr<tmajit::Device> device_;
  std::map<std::pair<PixelCopy, std::uint32_t>, std::unique_ptr<tmajit::LoadedKernel>> kernels_;
};

}  // namespace gpu
