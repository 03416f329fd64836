#pragma once

#include "reference/walk.hpp"

#include <tmajit/tensor.hpp>
#include <tmajit/windows.hpp>

namespace reference {

// Each function writes a part of the destination. Tensors are in host memory: `address` is a host pointer.
// Images are [images, extents…, channels].

/// The pixels of each window: to [images, windows…, taps…, channels].
void im2col(const tmajit::Tensor& destination, const tmajit::Tensor& images, const tmajit::Windows& windows,
            const Part& part);

/// Applies a filter [outputs, taps…, channels] to each window in f32, every product added by one fma, in
/// order: to [images, windows…, outputs].
void convolution(const tmajit::Tensor& destination, const tmajit::Tensor& images,
                 const tmajit::Tensor& filter, const tmajit::Windows& windows, const Part& part);

}  // namespace reference
