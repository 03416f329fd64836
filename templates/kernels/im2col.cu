// im2col: writes the pixels of each filter window on images next to each other.
//
//@ if engine
// A CTA has a tile of windows and a share of the taps and channels. A step is one tap's box of channels: the copy engine
// loads it in im2col mode, which reads each window's pixel at the tap and fills with zeros outside an image, and stores it
// as a column of the destination. One thread issues both copies, with `stages` boxes in flight. No thread touches the data,
// so no fence is needed; tensor maps have elements of 8 bytes, whatever the tensor's element type.
//@ else
// Neighbouring threads move neighbouring vectors of the destination: the channels of a tap, then the next tap's. Elements
// outside an image are zero.
//@ end
//@ # Facts of the kernel: dimensions (of an image); with `engine` stages, else threads and vector (bytes).
//@ if engine
#include "tmajit/bulk_group.cuh"
#include "tmajit/bulk_tensor.cuh"
#include "tmajit/fence.cuh"
#include "tmajit/im2col.cuh"
#include "tmajit/ring.cuh"
#include "tmajit/shared_memory.cuh"
#include "tmajit/tensor_map.cuh"
//@ else
#include "tmajit/vector16.cuh"
//@ end
#include "tmajit/division.cuh"
#include "tmajit/windows.cuh"

namespace tmajit {

//@ if engine
// The source and the destination of the box that a step moves. A CTA takes all taps of one box of channels, then those of the
// next box.
struct Step {
  Coordinates<dimensions + 2> from;
  TapOffsets<dimensions> tap;
  Coordinates<3> to;  // channel, tap, window

  __device__ __forceinline__ Step(const params::Windows<dimensions>& windows, const params::WindowTiles& tiles, u32 number) {
    u32 place = blockIdx.x * tiles.windows;  // a window; after all divisions by `count`, an image
    to.at[2] = static_cast<i32>(place);
#pragma unroll
    for (u32 d = 0; d < dimensions; ++d)
      from.at[d + 1] = windows.lower[d] + static_cast<i32>(take(windows.count[d], place) * windows.stride[d]);
    from.at[dimensions + 1] = static_cast<i32>(place);  // the image
    const u32 box = number / tiles.taps;
    u32 t = number - box * tiles.taps;
    from.at[0] = to.at[0] = static_cast<i32>(box * tiles.channels);
    to.at[1] = static_cast<i32>(t);
#pragma unroll
    for (u32 d = 0; d < dimensions; ++d)
      tap.at[d] = static_cast<u16>(take(windows.filter[d], t) * windows.dilation[d]);
  }
};

__device__ __forceinline__ void im2col(const TensorMap& destination, const TensorMap& source,
                                       const params::Windows<dimensions>& windows, const params::WindowTiles& tiles) {
  __shared__ u64 barriers[stages];
  if (threadIdx.x != 0) return;
  ptx::prefetch_tensor_map(source);
  ptx::prefetch_tensor_map(destination);
  const RingBarriers arrived{ptx::shared_address(barriers)};
  arrived.init<stages>(1);
  ptx::fence_mbarrier_init();

  const u32 boxes = ptx::shared_address(aligned_shared_memory());
  const u32 first = blockIdx.y * tiles.share;
  const u32 left = tiles.steps - first;
  const u32 count = left < tiles.share ? left : tiles.share;
  const auto load = [&](u32 n, u32 stage) {
    const Step step(windows, tiles, first + n);
    ptx::mbarrier::arrive_expect_tx(arrived[stage], tiles.bytes);
    ptx::im2col_load(boxes + stage * tiles.bytes, source, step.from, step.tap, arrived[stage]);
  };
#pragma unroll 1
  for (u32 n = 0; n < stages && n < count; ++n) load(n, n);
  RingPosition<stages> newest;
  RingPosition<stages> oldest;
#pragma unroll 1
  for (u32 n = 0; n < count; ++n, newest.next()) {
    ptx::mbarrier::wait(arrived[newest.stage], newest.parity);
    ptx::tensor_store(destination, Step(windows, tiles, first + n).to, boxes + newest.stage * tiles.bytes);
    ptx::commit_group();
    if (n == 0) continue;
    if (n - 1 + stages < count) {
      ptx::wait_group_read<1>();  // all boxes but this one have been read
      load(n - 1 + stages, oldest.stage);
    }
    oldest.next();
  }
  ptx::wait_group_read<0>();  // shared memory is given up; the writes complete with the grid
}
//@ else
using Word = typename Bits<vector>::Type;

__device__ __forceinline__ void im2col(const params::Windows<dimensions>& windows, const params::WindowViews<dimensions>& views) {
  u32 row = views.vectors.divisor;  // vectors of a window
#pragma unroll
  for (u32 d = 0; d < dimensions; ++d) row *= windows.filter[d].divisor;
  const u32 first = blockIdx.x * views.share;
  const u32 left = windows.windows - first;
  const u32 count = (left < views.share ? left : views.share) * row;
#pragma unroll 4
  for (u32 i = threadIdx.x; i < count; i += threads) {
    u32 rest = i;
    const u32 part = take(views.vectors, rest);
    u32 tap[dimensions];
#pragma unroll
    for (u32 d = 0; d < dimensions; ++d) tap[d] = take(windows.filter[d], rest);
    u32 place = first + rest;  // a window; after all divisions by `count`, an image
    const u8* from = views.source + part * views.source_channel;
    u8* to = views.destination + part * views.channel;
    bool inside = true;
#pragma unroll
    for (u32 d = 0; d < dimensions; ++d) {
      const u32 window = take(windows.count[d], place);
      // A negative index wraps to a large number, so one comparison finds pixels before and beyond the image.
      const u32 pixel = window * windows.stride[d] + tap[d] * windows.dilation[d] + static_cast<u32>(windows.lower[d]);
      inside = inside && pixel < views.extent[d];
      from += static_cast<i64>(pixel) * views.source_pixel[d];
      to += static_cast<i64>(window) * views.window[d] + static_cast<i64>(tap[d]) * views.tap[d];
    }
    from += static_cast<i64>(place) * views.source_image;
    to += static_cast<i64>(place) * views.image;
    Word word{};
    if (inside) word = *reinterpret_cast<const Word*>(from);
    *reinterpret_cast<Word*>(to) = word;
  }
}
//@ end

}  // namespace tmajit
