#pragma once

#include <tmajit/dims.hpp>
#include <tmajit/version.hpp>

#include <cstdint>
#include <vector>

TMAJIT_BEGIN

/// Dimensions of an image that windows can have.
inline constexpr std::uint32_t max_window_dims = 3;

/// The windows of a filter on images [images, depth, height, width, channels], which may lack the depth, or
/// the depth and the height. Lists have a number for each dimension of an image, outermost first; where one
/// is empty, all of its numbers are what is said below. Window w of a dimension has its tap t at the pixel w
/// · stride + t · dilation − before; outside of the image everything is 0.
struct Windows {
  Dims filter = {};     ///< taps, 1 or more; never empty
  Dims strides = {};    ///< pixels from window to window, 1 or more; 1
  Dims dilations = {};  ///< pixels from tap to tap, 1 or more; 1
  Dims before = {};     ///< pixels of padding before the first, 0 or more; 0
  Dims after = {};      ///< pixels of padding behind the last, 0 or more; 0
};

/// How many windows there are in each dimension of images of `extents` pixels:
/// (extent + before + after − (filter − 1) · dilation − 1) / stride + 1, rounded down. Throws
/// Error{invalid_argument} for numbers that are no windows, or a filter that is larger than the padded image.
[[nodiscard]] TMAJIT_API std::vector<std::uint64_t> window_counts(const Windows& windows,
                                                                  const Dims& extents);

TMAJIT_END
