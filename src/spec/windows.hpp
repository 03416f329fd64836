#pragma once

#include <tmajit/windows.hpp>

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

TMAJIT_BEGIN

/// Windows on images of known extents. Arrays have one number for each dimension of an image, outermost
/// first.
struct WindowGeometry {
  using Numbers = std::array<std::uint64_t, max_window_dims>;
  std::uint32_t dims = 0;
  Numbers extent{};  ///< pixels
  Numbers filter{};
  Numbers stride{};
  Numbers dilation{};
  Numbers before{};
  Numbers count{};  ///< windows
};

/// The rule that windows break, and why; `rule` is empty if they are legal.
struct WindowMistake {
  std::string_view rule = {};
  std::string subject = {};
  std::string found = {};
  std::string need = {};
  std::string legal = {};
};

/// Reads windows on images. `extents` are the image's alone, without the numbers of images and channels.
[[nodiscard]] WindowMistake read_windows(const Windows& windows, std::span<const std::uint64_t> extents,
                                         WindowGeometry& geometry);

/// [images, windows…, taps…, channels]: every pixel of every window.
[[nodiscard]] std::vector<std::uint64_t> windows_shape(const WindowGeometry& geometry, std::uint64_t images,
                                                       std::uint64_t channels);
/// [images, windows…, outputs]: the results of a filter on each window.
[[nodiscard]] std::vector<std::uint64_t> outputs_shape(const WindowGeometry& geometry, std::uint64_t images,
                                                       std::uint64_t outputs);

TMAJIT_END
