#pragma once

#include <tmajit/tensor.hpp>
#include <tmajit/windows.hpp>

#include <string_view>

TMAJIT_BEGIN

class Runtime;
struct Operation;

/// Forward convolution of images and a filter, in f32.
struct Convolution {
  static constexpr std::string_view operation = "convolution";
  Windows windows = {};
};

namespace operation {
/// `images` is [images, extents…, channels], `filter` is [outputs, taps…, channels], and `destination` is
/// [images, windows…, outputs]; all f32. Each element of the destination is a sum over the taps and channels
/// of a window: pixel times filter. One fma adds each product: taps in row-major order, and the channels of
/// each tap in order. The zeros of the padding take part. The destination may merge images and windows into
/// one dimension: [images · windows…, outputs]. `windows.filter` may be empty: it follows from the filter
/// tensor. Throws Error{invalid_argument} for invalid windows, a filter of another shape, or a destination of
/// another number of elements.
[[nodiscard]] TMAJIT_API Operation convolution(const Tensor& destination, const Tensor& images,
                                               const Tensor& filter, const Windows& windows = {});
}  // namespace operation

/// One call: plan(runtime, operation::convolution(…)) and a launch (docs/im2col.md).
TMAJIT_API void convolution(const Runtime& runtime, const Tensor& destination, const Tensor& images,
                            const Tensor& filter, const Windows& windows = {}, Stream stream = nullptr);

TMAJIT_END
