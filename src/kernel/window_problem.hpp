#pragma once

#include "spec/canonical.hpp"
#include "spec/windows.hpp"

#include <tmajit/operation.hpp>

#include <cstdint>

TMAJIT_BEGIN

/// The operands of an im2col or a convolution. Views are those of the move.
struct WindowProblem {
  WindowGeometry geometry;
  TensorView
      destination;  ///< [images, windows…, taps…, channels], or with a filter [images, windows…, outputs]
  TensorView images;  ///< [images, extents…, channels]
  TensorView filter;  ///< filter of a convolution [outputs, taps…, channels]; rank 0 for im2col

  [[nodiscard]] std::uint64_t image_count() const noexcept { return images.shape[0]; }
  [[nodiscard]] std::uint64_t channels() const noexcept { return images.shape[geometry.dims + 1]; }
  [[nodiscard]] bool has_filter() const noexcept { return filter.rank > 0; }
  [[nodiscard]] std::uint64_t outputs() const noexcept { return filter.shape[0]; }
  /// Number of windows of all images; saturates, as taps() does.
  [[nodiscard]] std::uint64_t windows() const noexcept;
  /// Number of filter positions in a window.
  [[nodiscard]] std::uint64_t taps() const noexcept;
};

/// The operands of a legal im2col or convolution.
[[nodiscard]] WindowProblem window_operands(const Move& move, const Windows& windows);

/// The nest that the cost model and explanations see: [windows, taps, channels], or with a filter [windows,
/// outputs]. Each dimension has the strides of the innermost view dimension that it stands for.
[[nodiscard]] CanonicalNest window_nest(const WindowProblem& problem) noexcept;

TMAJIT_END
