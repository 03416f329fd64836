#pragma once

#include "operations/drawing/benchmark_case.hpp"
#include "operations/drawing/random_case.hpp"

namespace reference {

/// For tests of im2col and convolution: shapes of images with one to three dimensions, outermost first, and
/// of their windows and taps.
struct DrawnWindows {
  Shape image;    ///< the number of images, then the pixels in each dimension; no channels
  Shape windows;  ///< the number of images, then the windows in each dimension; no channels
  Shape taps;
  std::uint64_t channels = 0;
};

/// Draws images with any filter, stride, dilation and padding that fit, and sets these as the case's
/// arguments. `unit`: number of elements in 16 bytes.
[[nodiscard]] DrawnWindows draw_windows(TestCaseDraw& draw, std::uint64_t unit);
/// A dense view, or one with gaps between rows; tensor maps can describe most of them.
[[nodiscard]] tmajit::TensorView window_view(TestCaseDraw& draw, const Shape& shape, bool is_dense);

/// The arguments of an operation on windows: the filter, the same padding before and after each dimension,
/// and the strides.
[[nodiscard]] tmajit::Arguments window_arguments(const tmajit::Dims& filter, const tmajit::Dims& padding,
                                                 const tmajit::Dims& strides = {});
/// The shape of the benchmark's images: `images`, or few and small ones if the cases are tiny.
[[nodiscard]] Shape benchmark_images(const bench::CaseBuilder& list, Shape images);

}  // namespace reference
