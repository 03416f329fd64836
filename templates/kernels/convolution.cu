// convolution: out[window, k] = Σ image[the window's pixel at tap t, c] · filter[k, t, c] in f32. The sum
// runs tap by tap, and within a tap channel by channel; one fma adds each product.
//
// A CTA computes a tile of windows by outputs. A step covers one tap and a few channels: each window's pixel at the tap, and
// each output's filter elements. The matrix of windows is never stored.
//@ if engine
// The copy engine loads both, `stages` steps ahead: pixels in im2col mode, which walks the windows and fills with zeros
// outside an image. One warp issues the loads, all others compute.
//@ else
// No tensor maps describe images and filter: all threads load both, element by element.
//@ end
//@ # Facts of the kernel: dimensions (of an image), tile_windows, tile_outputs, channels (of a step), thread_windows and
//@ # thread_outputs (of a thread's results), with `engine` stages.
//@ if engine
#include "tmajit/bulk_tensor.cuh"
#include "tmajit/elect.cuh"
#include "tmajit/im2col.cuh"
#include "tmajit/pipeline.cuh"
#include "tmajit/shared_memory.cuh"
#include "tmajit/tensor_map.cuh"
//@ end
#include "tmajit/division.cuh"
#include "tmajit/windows.cuh"

namespace tmajit {

// One step in shared memory: a row of `channels` elements for each window or output.
constexpr u32 row_bytes = 4 * channels;
constexpr u32 image_bytes = tile_windows * row_bytes;
constexpr u32 step_bytes = image_bytes + tile_outputs * row_bytes;

// Threads along windows and outputs. Eight neighbouring threads of a warp compute neighbouring outputs; a thread's results are
// `rows` windows and `columns` outputs apart.
constexpr u32 rows = tile_windows / thread_windows, columns = tile_outputs / thread_outputs;
constexpr u32 computing = rows * columns;
static_assert(rows % 8 == 0 && columns % 8 == 0, "all rows of a thread must have the same permutation");

// The copy engine's swizzle: it permutes the 16-byte units of a row within lines of 128 bytes.
__device__ __forceinline__ u32 permutation(u32 row) {
  return (row * row_bytes >> 7 & (row_bytes / 16 - 1)) << 4;
}

struct Sums {
  float at[thread_windows][thread_outputs];

  // Adds a step whose rows begin at `image` and `filter`. `row` and `column` are this thread's first window and output.
  __device__ __forceinline__ void add(const u8* image, const u8* filter, u32 row, u32 column) {
    const u32 image_permutation = permutation(row), filter_permutation = permutation(column);
    image += row * row_bytes;
    filter += column * row_bytes;
#pragma unroll
    for (u32 part = 0; part < row_bytes; part += 16) {
      float4 values[thread_windows];
#pragma unroll
      for (u32 i = 0; i < thread_windows; ++i)
        values[i] = *reinterpret_cast<const float4*>(image + i * rows * row_bytes + (part ^ image_permutation));
#pragma unroll
      for (u32 j = 0; j < thread_outputs; ++j) {
        const float4 weight = *reinterpret_cast<const float4*>(filter + j * columns * row_bytes + (part ^ filter_permutation));
#pragma unroll
        for (u32 i = 0; i < thread_windows; ++i) {
          at[i][j] = __fmaf_rn(values[i].x, weight.x, at[i][j]);
          at[i][j] = __fmaf_rn(values[i].y, weight.y, at[i][j]);
          at[i][j] = __fmaf_rn(values[i].z, weight.z, at[i][j]);
          at[i][j] = __fmaf_rn(values[i].w, weight.w, at[i][j]);
        }
      }
    }
  }

  __device__ __forceinline__ void store(const params::Windows<dimensions>& windows,
                                        const params::Convolution<dimensions>& tensors, u32 row, u32 column) const {
#pragma unroll
    for (u32 i = 0; i < thread_windows; ++i) {
      u32 place = blockIdx.x * tile_windows + row + rows * i;
      if (place >= windows.windows) return;
      u8* to = tensors.destination;
#pragma unroll
      for (u32 d = 0; d < dimensions; ++d) to += static_cast<i64>(take(windows.count[d], place)) * tensors.window[d];
      to += static_cast<i64>(place) * tensors.window[dimensions];
#pragma unroll
      for (u32 j = 0; j < thread_outputs; ++j) {
        const u32 output = blockIdx.y * tile_outputs + column + columns * j;
        if (output < tensors.outputs) *reinterpret_cast<float*>(to + static_cast<i64>(output) * tensors.output) = at[i][j];
      }
    }
  }
};

// The position of this thread's first result in the tile.
struct Place {
  u32 row, column;
  __device__ __forceinline__ Place() {
    const u32 warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    row = warp / (columns / 8) * 4 + lane / 8;
    column = warp % (columns / 8) * 8 + lane % 8;
  }
};

//@ if engine
template <class Producer>
__device__ __forceinline__ void load_steps(Producer producer, u32 memory, const TensorMap& images, const TensorMap& filter,
                                           const params::Windows<dimensions>& windows, const params::Convolution<dimensions>& tensors) {
  Coordinates<dimensions + 2> at;
  u32 place = blockIdx.x * tile_windows;
#pragma unroll
  for (u32 d = 0; d < dimensions; ++d)
    at.at[d + 1] = windows.lower[d] + static_cast<i32>(take(windows.count[d], place) * windows.stride[d]);
  at.at[dimensions + 1] = static_cast<i32>(place);
#pragma unroll 1
  for (u32 t = 0; t < tensors.taps; ++t) {
    TapOffsets<dimensions> tap;
    u32 rest = t;
#pragma unroll
    for (u32 d = 0; d < dimensions; ++d) tap.at[d] = static_cast<u16>(take(windows.filter[d], rest) * windows.dilation[d]);
#pragma unroll 1
    for (u32 first = 0; first < tensors.channels; first += channels) {
      const auto stage = producer.acquire(step_bytes);
      const u32 step = memory + stage.index * step_bytes;
      at.at[0] = static_cast<i32>(first);
      ptx::im2col_load(step, images, at, tap, stage.barrier);
      ptx::tensor_load(step + image_bytes, filter,
                       Coordinates<3>{at.at[0], static_cast<i32>(t), static_cast<i32>(blockIdx.y * tile_outputs)}, stage.barrier);
    }
  }
}

__device__ __forceinline__ void convolution(const TensorMap& images, const TensorMap& filter,
                                            const params::Windows<dimensions>& windows, const params::Convolution<dimensions>& tensors) {
  __shared__ u64 barriers[2 * stages];
  u8* const memory = aligned_shared_memory();
  const auto pipeline = Pipeline<stages>(ptx::shared_address(barriers)).init(1, computing / 32, threadIdx.x == 0);
  __syncthreads();
  if (threadIdx.x >= computing) {
    if (!ptx::elect()) return;
    ptx::prefetch_tensor_map(images);
    ptx::prefetch_tensor_map(filter);
    load_steps(pipeline.producer(), ptx::shared_address(memory), images, filter, windows, tensors);
    return;
  }
  const Place place;
  Sums sums{};
  auto consumer = pipeline.consumer();
  const u32 steps = tensors.taps * ((tensors.channels + channels - 1) / channels);
#pragma unroll 1
  for (u32 step = 0; step < steps; ++step) {
    const auto stage = consumer.wait();
    const u8* const image = memory + stage.index * step_bytes;
    sums.add(image, image + image_bytes, place.row, place.column);
    __syncwarp();
    consumer.release(threadIdx.x % 32 == 0);
  }
  sums.store(windows, tensors, place.row, place.column);
}
//@ else
// Where an element of a step is stored, in the copy engine's layout.
__device__ __forceinline__ void put(u8* tile, u32 row, u32 channel, float value) {
  *reinterpret_cast<float*>(tile + row * row_bytes + (channel / 4 * 16 ^ permutation(row)) + channel % 4 * 4) = value;
}

__device__ __forceinline__ void load_step(u8* step, u32 t, u32 first, const params::Windows<dimensions>& windows,
                                          const params::Convolution<dimensions>& tensors) {
  u32 tap[dimensions];
  const u8* weights = tensors.filter;
#pragma unroll
  for (u32 d = 0; d < dimensions; ++d) {
    tap[d] = take(windows.filter[d], t);
    weights += static_cast<i64>(tap[d]) * tensors.filter_tap[d];
  }
#pragma unroll 1
  for (u32 i = threadIdx.x; i < tile_windows * channels; i += computing) {
    const u32 row = i / channels, channel = first + i % channels;
    u32 place = blockIdx.x * tile_windows + row;
    bool inside = place < windows.windows && channel < tensors.channels;
    const u8* from = tensors.images + static_cast<i64>(channel) * tensors.image_channel;
#pragma unroll
    for (u32 d = 0; d < dimensions; ++d) {
      const u32 pixel = take(windows.count[d], place) * windows.stride[d] + tap[d] * windows.dilation[d] + static_cast<u32>(windows.lower[d]);
      inside = inside && pixel < tensors.extent[d];
      from += static_cast<i64>(pixel) * tensors.image_pixel[d];
    }
    from += static_cast<i64>(place) * tensors.image_pixel[dimensions];
    put(step, row, i % channels, inside ? *reinterpret_cast<const float*>(from) : 0.0f);
  }
#pragma unroll 1
  for (u32 i = threadIdx.x; i < tile_outputs * channels; i += computing) {
    const u32 row = i / channels, channel = first + i % channels;
    const u32 output = blockIdx.y * tile_outputs + row;
    const u8* const from = weights + static_cast<i64>(output) * tensors.filter_output + static_cast<i64>(channel) * tensors.filter_channel;
    put(step + image_bytes, row, i % channels,
        output < tensors.outputs && channel < tensors.channels ? *reinterpret_cast<const float*>(from) : 0.0f);
  }
}

__device__ __forceinline__ void convolution(const params::Windows<dimensions>& windows, const params::Convolution<dimensions>& tensors) {
  __shared__ __align__(128) u8 step[step_bytes];
  const Place place;
  Sums sums{};
#pragma unroll 1
  for (u32 t = 0; t < tensors.taps; ++t) {
#pragma unroll 1
    for (u32 first = 0; first < tensors.channels; first += channels) {
      load_step(step, t, first, windows, tensors);
      __syncthreads();
      sums.add(step, step + image_bytes, place.row, place.column);
      __syncthreads();
    }
  }
  sums.store(windows, tensors, place.row, place.column);
}
//@ end

}  // namespace tmajit
