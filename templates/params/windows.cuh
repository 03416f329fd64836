// The launch parameters of filter windows on images. Arrays have the innermost dimension of an image first.
#pragma once
#include "tmajit/divider.cuh"

namespace tmajit::params {

template <u32 dimensions>
struct Windows {
  u32 windows;                  // windows of all images
  Divider count[dimensions];    // windows in each dimension of an image
  Divider filter[dimensions];   // taps
  u32 stride[dimensions];       // pixels from window to window
  u32 dilation[dimensions];     // pixels from tap to tap
  i32 lower[dimensions];        // the first window's first pixel: minus the padding
};

// The work of a CTA that uses the copy engine. Each step moves a box: some channels of one tap, for a tile of windows.
struct WindowTiles {
  u32 windows;   // windows of a tile
  u32 channels;  // channels of a box, in words of 8 bytes
  u32 bytes;     // bytes of a box
  u32 taps;
  u32 steps;     // number of steps
  u32 share;     // steps of a CTA
};

// The tensors of a kernel whose threads move the elements. Steps are bytes from one index to the next.
template <u32 dimensions>
struct WindowViews {
  Address<u8> destination;  // the elements with all indices 0
  Address<const u8> source;
  i64 source_image;
  i64 source_channel;       // from one vector to the next
  i64 source_pixel[dimensions];
  i64 image;                // the destination's step between images
  i64 channel;
  i64 window[dimensions];
  i64 tap[dimensions];
  u32 extent[dimensions];   // pixels
  Divider vectors;          // vectors of a pixel's channels
  u32 share;                // windows of a CTA
};

// The tensors of a convolution. Steps are bytes from one index to the next; the last of `dimensions` + 1 steps is the one
// between images.
template <u32 dimensions>
struct Convolution {
  Address<u8> destination;  // the elements with all indices 0
  Address<const u8> images;
  Address<const u8> filter;
  i64 window[dimensions + 1];  // the destination's steps
  i64 output;
  i64 image_pixel[dimensions + 1];
  i64 image_channel;
  i64 filter_output;
  i64 filter_tap[dimensions];
  i64 filter_channel;
  u32 extent[dimensions];  // pixels
  u32 taps;
  u32 channels;
  u32 outputs;
};

//@ if host
template <u32 dimensions>
struct WindowsLayout : WindowsLayout<dimensions - 1> {
  using Some = Windows<dimensions>;
  static_assert(sizeof(Some) == 4 + 36 * dimensions && alignof(Some) == 4);
  static_assert(TMAJIT_OFFSET(Some, count) == 4 && TMAJIT_OFFSET(Some, filter) == 4 + 12 * dimensions);
  static_assert(TMAJIT_OFFSET(Some, stride) == 4 + 24 * dimensions && TMAJIT_OFFSET(Some, lower) == 4 + 32 * dimensions);
  using Views = WindowViews<dimensions>;
  static_assert(sizeof(Views) == (48 + 28 * dimensions + 16 + 7) / 8 * 8 && alignof(Views) == 8);
  static_assert(TMAJIT_OFFSET(Views, source) == 8 && TMAJIT_OFFSET(Views, source_pixel) == 32);
  static_assert(TMAJIT_OFFSET(Views, image) == 32 + 8 * dimensions && TMAJIT_OFFSET(Views, window) == 48 + 8 * dimensions);
  static_assert(TMAJIT_OFFSET(Views, extent) == 48 + 24 * dimensions && TMAJIT_OFFSET(Views, vectors) == 48 + 28 * dimensions);
  using Sum = Convolution<dimensions>;
  static_assert(sizeof(Sum) == (84 + 28 * dimensions + 7) / 8 * 8 && alignof(Sum) == 8);
  static_assert(TMAJIT_OFFSET(Sum, images) == 8 && TMAJIT_OFFSET(Sum, filter) == 16 && TMAJIT_OFFSET(Sum, output) == 32 + 8 * dimensions);
  static_assert(TMAJIT_OFFSET(Sum, filter_output) == 56 + 16 * dimensions && TMAJIT_OFFSET(Sum, extent) == 72 + 24 * dimensions);
};
template <>
struct WindowsLayout<0> {};
static_assert(sizeof(WindowsLayout<3>) > 0);  // checks images of one to three dimensions
static_assert(sizeof(WindowTiles) == 24 && TMAJIT_OFFSET(WindowTiles, taps) == 12);
//@ end

}  // namespace tmajit::params
