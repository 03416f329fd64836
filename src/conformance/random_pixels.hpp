#pragma once

#include "conformance/tile_copy.hpp"

namespace conformance {

/// Features of random copies through im2col maps. Without any, a copy moves whole pixels of a dense u32
/// tensor, from a place of the traversal on. Cases with a single feature show which ones a device cannot do.
struct PixelFeatures {
  bool channels = false;  ///< channels begin and end outside of the tensor's, which may end within 16 bytes
  bool images = false;    ///< copies begin after the last image
  bool padding = false;   ///< gaps between rows and images
  bool prefetch = false;  ///< prefetches before loads
  bool moved = false;     ///< Trial::moved
  bool strides = false;   ///< element strides of the traversal
  bool between = false;   ///< corners that begin between places of the traversal
  bool corners = false;  ///< bounding boxes that begin inside of the image; loads' also begin and end outside
  bool offsets = false;  ///< offsets of loads
  bool types = false;    ///< every element type, and NaN as the fill; for reductions only their types
  bool operations = false;  ///< operations of reductions: not only sums
  bool swizzles = false;
  bool interleaved = false;
  bool hints = false;
};

/// A copy of a few kilobytes: corners, strides, filters and dilations that differ from dimension to
/// dimension, and places from the first to beyond the last image, as far as `features` allow.
[[nodiscard]] TileCopy random_pixels(reference::Random& random, TileCopy::Way way,
                                     const PixelFeatures& features);

}  // namespace conformance
