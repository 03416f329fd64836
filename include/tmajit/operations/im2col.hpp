#pragma once

#include <tmajit/tensor.hpp>
#include <tmajit/windows.hpp>

#include <string_view>

TMAJIT_BEGIN

class Runtime;
struct Operation;

/// The pixels of each window of images, side by side.
struct Im2col {
  static constexpr std::string_view operation = "im2col";
  Windows windows = {};
};

namespace operation {
/// Writes the pixels of each window of images [images, extents…, channels] side by side, 0 outside of an
/// image. Elements are copied bit for bit; both types have the same size. The destination is the matrix
/// [images · windows…, taps… · channels], whose rows a filter multiplies; some or all of its dimensions may
/// be separate: [images, windows…, taps…, channels]. Throws Error{invalid_argument} for invalid windows or a
/// destination of another number of elements.
[[nodiscard]] TMAJIT_API Operation im2col(const Tensor& destination, const Tensor& source,
                                          const Windows& windows);
}  // namespace operation

/// One call: plan(runtime, operation::im2col(…)) and a launch (docs/im2col.md).
TMAJIT_API void im2col(const Runtime& runtime, const Tensor& destination, const Tensor& source,
                       const Windows& windows, Stream stream = nullptr);

TMAJIT_END
