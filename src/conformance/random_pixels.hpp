#pragma once

#include "conformance/tile_copy.hpp"

namespace conformance {

/// Features of random copies through im2col maps beyond the plainest: whole pixels of a u32 tensor that lies
/// densely, from a place of the traversal on. One alone tells which of them a device cannot do.
struct PixelFeatures {
  bool channels = false;    ///< begin and end outside of the tensor's, which may end within 16 bytes
  bool images = false;      ///< begin behind the last
  bool padding = false;     ///< gaps between rows and images
  bool prefetch = false;    ///< before a load
  bool moved = false;       ///< maps
  bool strides = false;     ///< traversal
  bool between = false;     ///< corners that begin between places of the traversal
  bool corners = false;     ///< boxes that begin inside of the image; of loads outside, too, and end there
  bool offsets = false;     ///< offsets of loads
  bool types = false;       ///< every element type, and NaN as the fill; of reductions those that they have
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
