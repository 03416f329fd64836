#pragma once

#include <tmajit/windows.hpp>

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

TMAJIT_BEGIN

/// Sliding windows over images of known extents. Arrays have one number for each dimension of an image,
/// outermost first.
struct WindowGeometry {
  using Numbers = std::array<std::uint64_t, max_window_dims>;
  std::uint32_t dims = 0;
  Numbers extent{};  ///< pixels of an image
  Numbers filter{};  ///< taps of a window
  Numbers stride{};
  Numbers dilation{};
  Numbers before{};  ///< padding before the first pixel
  Numbers count{};   ///< windows on an image
};

/// A violation of a rule by windows; `rule` is empty if they are legal.
struct WindowMistake {
  std::string_view rule = {};
  std::string subject = {};
  std::string found = {};
  std::string need = {};
  std::string legal = {};
};

/// Computes the geometry of `windows` on images. `extents` are those of an image, without the numbers of
/// images and channels.
[[nodiscard]] WindowMistake read_windows(const Windows& windows, std::span<const std::uint64_t> extents,
                                         WindowGeometry& geometry);

/// [images, windows…, taps…, channels]: every pixel of every window.
[[nodiscard]] std::vector<std::uint64_t> windows_shape(const WindowGeometry& geometry, std::uint64_t images,
                                                       std::uint64_t channels);
/// [images, windows…, outputs]: the results of a filter on each window.
[[nodiscard]] std::vector<std::uint64_t> outputs_shape(const WindowGeometry& geometry, std::uint64_t images,
                                                       std::uint64_t outputs);

TMAJIT_END
