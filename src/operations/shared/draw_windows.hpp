#pragma once

#include "operations/shared/benchmark_case.hpp"
#include "operations/shared/random_case.hpp"

namespace reference {

/// Shapes of images with one to three dimensions, outermost first, and of their windows and taps.
struct DrawnWindows {
  Shape image;    ///< images and pixels, without channels
  Shape windows;  ///< images and windows, without channels
  Shape taps;
  std::uint64_t channels = 0;
};

/// Draws images with any filter, stride, dilation and padding that fit, and sets these as the case's
/// arguments. `unit`: number of elements in 16 bytes.
[[nodiscard]] DrawnWindows draw_windows(CaseDraw& draw, std::uint64_t unit);
/// A dense view, or one with gaps between rows; tensor maps can describe most of them.
[[nodiscard]] tmajit::TensorView window_view(CaseDraw& draw, const Shape& shape, bool is_dense);

/// A filter with padding before and after each dimension.
[[nodiscard]] tmajit::Arguments windows_within(const tmajit::Dims& filter, const tmajit::Dims& padding,
                                               const tmajit::Dims& strides = {});
/// The shape of the benchmark's images; few and small ones if the benchmark tests itself.
[[nodiscard]] Shape measured_images(const bench::CaseBuilder& list, Shape images);

}  // namespace reference
