#pragma once

#include "operations/shared/benchmark_case.hpp"
#include "operations/shared/random_case.hpp"

namespace reference {

/// Images of one to three dimensions, outermost first, and any filter, stride, dilation and padding that fit.
struct DrawnWindows {
  Shape image;    ///< images and pixels, without channels
  Shape windows;  ///< images and windows, without channels
  Shape taps;
  std::uint64_t channels = 0;
};

/// Sets the windows' arguments. `unit`: elements of 16 bytes.
[[nodiscard]] DrawnWindows draw_windows(CaseDraw& draw, std::uint64_t unit);
/// Mostly as tensor maps take them: dense, or with gaps between rows.
[[nodiscard]] tmajit::TensorView window_view(CaseDraw& draw, const Shape& shape, bool is_dense);

/// A filter with padding before and after each dimension.
[[nodiscard]] tmajit::Arguments windows_within(const tmajit::Dims& filter, const tmajit::Dims& padding,
                                               const tmajit::Dims& strides = {});
/// Images of the benchmark: few and small ones if it tests itself.
[[nodiscard]] Shape measured_images(const bench::CaseBuilder& list, Shape images);

}  // namespace reference
