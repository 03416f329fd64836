#pragma once

#include <tmajit/dims.hpp>
#include <tmajit/version.hpp>

#include <cstdint>
#include <vector>

TMAJIT_BEGIN

/// The most dimensions that images and windows can have.
inline constexpr std::uint32_t max_window_dims = 3;

/// The windows of a filter on images [images, depth, height, width, channels], which may lack the depth, or
/// the depth and the height. Lists have one number for each dimension of an image, outermost first; an empty
/// list stands for its default in every dimension. In each dimension, tap t of window w is the pixel
/// w · stride + t · dilation − before; pixels outside of the image are 0.
struct Windows {
  Dims filter = {};     ///< taps, 1 or more; must not be empty
  Dims strides = {};    ///< pixels from window to window, 1 or more; default 1
  Dims dilations = {};  ///< pixels from tap to tap, 1 or more; default 1
  Dims before = {};     ///< pixels of padding before the first pixel, 0 or more; default 0
  Dims after = {};      ///< pixels of padding after the last pixel, 0 or more; default 0
};

/// The number of windows in each dimension of images of `extents` pixels:
/// (extent + before + after − (filter − 1) · dilation − 1) / stride + 1, rounded down. Throws
/// Error{invalid_argument} for illegal numbers, or a filter that is larger than the padded image.
[[nodiscard]] TMAJIT_API std::vector<std::uint64_t> window_counts(const Windows& windows,
                                                                  const Dims& extents);

TMAJIT_END
