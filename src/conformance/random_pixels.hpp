#pragma once

#include "conformance/tile_copy.hpp"

namespace conformance {

/// Features of random copies through im2col maps. Without any, a copy moves whole pixels of a dense u32
/// tensor and begins at a position that the traversal visits. Cases with a single feature show which features
/// a device does not support.
struct PixelFeatures {
  /// Copies begin and end outside of the tensor's channels. Except in reductions, the tensor's channels may
  /// end between multiples of 16 bytes.
  bool channels = false;
  bool images = false;    ///< copies begin after the last image
  bool padding = false;   ///< gaps between rows and images
  bool prefetch = false;  ///< prefetches before loads
  bool moved = false;     ///< maps are encoded for another address, then moved (Trial::moved)
  bool strides = false;   ///< element strides of the traversal
  bool between = false;   ///< coordinates between the positions that the traversal visits
  /// Bounding boxes begin and end inside of the image. Those of loads also begin and end outside of it.
  bool corners = false;
  bool offsets = false;     ///< offsets of loads
  bool types = false;       ///< every element type, and NaN as the fill; for reductions only their types
  bool operations = false;  ///< operations of reductions: not only sums
  bool swizzles = false;
  bool interleaved = false;
  bool hints = false;
};

/// A copy of a few kilobytes. Corners, strides, filters and dilations differ from dimension to dimension.
/// Copies begin anywhere from the first image to beyond the last, as far as `features` allow.
[[nodiscard]] TileCopy random_pixels(reference::Random& random, TileCopy::Way way,
                                     const PixelFeatures& features);

}  // namespace conformance
