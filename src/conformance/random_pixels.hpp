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
  bool strides = false;   ///< the traversal has element strides of 1 to 4
  bool between = false;   ///< coordinates between the positions that the traversal visits
  /// Bounding boxes begin and end inside of the image. Those of loads also begin and end outside of it.
  bool corners = false;
  bool offsets = false;  ///< loads have offsets, as for the taps of a dilated filter
  /// Every element type that the copy supports, with NaN as the fill of some; false: u32.
  bool types = false;
  bool operations = false;  ///< operations of reductions: not only sums
  bool swizzles = false;
  bool interleaved = false;
  bool hints = false;  ///< cache hints
};

/// A copy of a few kilobytes. Corners, element strides and offsets differ from dimension to dimension. The
/// copy begins at any image, or after the last one if `features` allow it.
[[nodiscard]] TileCopy random_pixels(reference::Random& random, TileCopy::Kind kind,
                                     const PixelFeatures& features);

}  // namespace conformance
