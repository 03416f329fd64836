#pragma once

#include "spec/canonical.hpp"
#include "spec/windows.hpp"

#include <tmajit/operation.hpp>

#include <cstdint>

TMAJIT_BEGIN

/// What kernels of windows are told: the operands as they are.
struct WindowProblem {
  WindowGeometry geometry;
  TensorView
      destination;  ///< [images, windows…, taps…, channels], or with a filter [images, windows…, outputs]
  TensorView images;  ///< [images, extents…, channels]
  TensorView filter;  ///< of a convolution [outputs, taps…, channels]; else of rank 0

  [[nodiscard]] std::uint64_t image_count() const noexcept { return images.shape[0]; }
  [[nodiscard]] std::uint64_t channels() const noexcept { return images.shape[geometry.dims + 1]; }
  [[nodiscard]] bool has_filter() const noexcept { return filter.rank > 0; }
  [[nodiscard]] std::uint64_t outputs() const noexcept { return filter.shape[0]; }
  /// Of all images, and of a window; saturate.
  [[nodiscard]] std::uint64_t windows() const noexcept;
  [[nodiscard]] std::uint64_t taps() const noexcept;
};

/// The operands of a legal im2col or convolution.
[[nodiscard]] WindowProblem window_operands(const Move& move, const Windows& windows);

/// What the cost model and explanations see of it: windows, taps and channels, or windows and outputs, with
/// the strides of the last dimension of each.
[[nodiscard]] CanonicalNest window_nest(const WindowProblem& problem) noexcept;

TMAJIT_END
