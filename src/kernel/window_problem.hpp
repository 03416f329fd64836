#pragma once

#include "spec/canonical.hpp"
#include "spec/windows.hpp"

#include <tmajit/operation.hpp>

#include <cstdint>

TMAJIT_BEGIN

/// Problem of a kernel of windows: the operands as the move has them.
struct WindowProblem {
  WindowGeometry geometry;
  TensorView
      destination;  ///< [images, windows…, taps…, channels], or with a filter [images, windows…, outputs]
  TensorView images;  ///< [images, extents…, channels]
  TensorView filter;  ///< filter of a convolution [outputs, taps…, channels]; else of rank 0

  [[nodiscard]] std::uint64_t image_count() const noexcept { return images.shape[0]; }
  [[nodiscard]] std::uint64_t channels() const noexcept { return images.shape[geometry.dims + 1]; }
  [[nodiscard]] bool has_filter() const noexcept { return filter.rank > 0; }
  [[nodiscard]] std::uint64_t outputs() const noexcept { return filter.shape[0]; }
  /// Windows of all images, and taps of a window; both saturate.
  [[nodiscard]] std::uint64_t windows() const noexcept;
  [[nodiscard]] std::uint64_t taps() const noexcept;
};

/// The operands of a legal im2col or convolution.
[[nodiscard]] WindowProblem window_operands(const Move& move, const Windows& windows);

/// The nest that the cost model and explanations see: windows, taps and channels, or windows and outputs,
/// with the strides of the last dimension of each.
[[nodiscard]] CanonicalNest window_nest(const WindowProblem& problem) noexcept;

TMAJIT_END
