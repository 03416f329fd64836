// Forward convolution in f32: out[pixel, k] = Σ image[pixel at the tap, c] · filter[k, tap, c] over taps and channels. The
// copy engine gathers the pixels in im2col mode: the tensor map has strides and padding, the taps' offsets the dilation.
#include "tmajit/bulk_tensor.cuh"
#include "tmajit/elect.cuh"
#include "tmajit/im2col.cuh"
#include "tmajit/pipeline.cuh"
#include "tmajit/shared_memory.cuh"

using namespace tmajit;

// A CTA's tile. Both maps load boxes of `channels` channels: the images' map of `pixels` pixels, the filter's map of one tap
// of `outputs` outputs. Elements outside of the tensors are zero.
constexpr u32 pixels = 64, outputs = 32, channels = 16;
constexpr u32 stages = 4, consumers = 128;
constexpr u32 image_bytes = pixels * channels * 4, stage_bytes = image_bytes + outputs * channels * 4;

// Arrays have the innermost dimension of an image first.
template <u32 dimensions>
struct Convolution {
  u32 pixels;    // pixels of the output in all images
  u32 outputs;   // channels of the output
  u32 channels;  // channels of the images
  u32 extent[dimensions];    // extents of an image of the output
  u32 filter[dimensions];    // taps
  u32 dilation[dimensions];  // pixels from tap to tap
  u32 stride[dimensions];    // pixels from one position of the filter to the next, as in the map
  i32 lower[dimensions];     // the filter's first position: minus the padding
};

template <u32 dimensions>
__device__ void load(const Pipeline<stages, PipelineScope::cta, BarrierState::ready>& pipeline, u32 memory,
                     const TensorMap& images, const TensorMap& filter, const Convolution<dimensions>& sizes) {
  auto producer = pipeline.producer();
  Coordinates<dimensions + 2> at;
  u32 index = pixels * blockIdx.x;  // of the tile's first pixel; becomes that of its image
  for (u32 d = 0; d < dimensions; index /= sizes.extent[d++])
    at.at[d + 1] = sizes.lower[d] + static_cast<i32>(index % sizes.extent[d] * sizes.stride[d]);
  at.at[dimensions + 1] = static_cast<i32>(index);

  TapOffsets<dimensions> tap{};
  for (i32 t = 0;; ++t) {
    for (u32 first = 0; first < sizes.channels; first += channels) {
      const auto stage = producer.acquire(stage_bytes);
      const u32 tile = memory + stage.index * stage_bytes;
      at.at[0] = static_cast<i32>(first);
      ptx::im2col_load(tile, images, at, tap, stage.barrier);
      ptx::tensor_load(tile + image_bytes, filter,
                       Coordinates<3>{at.at[0], t, static_cast<i32>(outputs * blockIdx.y)}, stage.barrier);
    }
    u32 d = 0;
    for (; d < dimensions; ++d) {
      tap.at[d] = static_cast<u16>(tap.at[d] + sizes.dilation[d]);
      if (tap.at[d] < sizes.filter[d] * sizes.dilation[d]) break;
      tap.at[d] = 0;
    }
    if (d == dimensions) return;  // that was the last tap
  }
}

template <u32 dimensions>
__global__ void __launch_bounds__(consumers + 32)
    convolution(const __grid_constant__ TensorMap images, const __grid_constant__ TensorMap filter, float* out,
                Convolution<dimensions> sizes) {
  __shared__ u64 barriers[2 * stages];
  u8* const memory = aligned_shared_memory();
  const auto pipeline =
      Pipeline<stages>(ptx::shared_address(barriers)).init(1, consumers / 32, threadIdx.x == 0);
  __syncthreads();
  if (threadIdx.x >= consumers) {
    if (ptx::elect()) load(pipeline, ptx::shared_address(memory), images, filter, sizes);
    return;
  }

  // A thread computes 4 × 4 results: every 16th pixel and every 8th output of the tile.
  const u32 row = threadIdx.x / 8, column = threadIdx.x % 8;
  float sums[4][4] = {};
  u32 steps = (sizes.channels + channels - 1) / channels;
  for (u32 d = 0; d < dimensions; ++d) steps *= sizes.filter[d];
  auto consumer = pipeline.consumer();
  for (u32 step = 0; step < steps; ++step) {
    const auto stage = consumer.wait();
    const float* const image = reinterpret_cast<const float*>(memory + stage.index * stage_bytes);
    const float* const weights = image + pixels * channels;
    for (u32 k = 0; k < channels; ++k) {
      float values[4];
      for (u32 i = 0; i < 4; ++i) values[i] = image[(row + 16 * i) * channels + k];
      for (u32 j = 0; j < 4; ++j) {
        const float weight = weights[(column + 8 * j) * channels + k];
        for (u32 i = 0; i < 4; ++i) sums[i][j] += values[i] * weight;
      }
    }
    __syncwarp();
    consumer.release(threadIdx.x % 32 == 0);
  }
  for (u32 i = 0; i < 4; ++i) {
    for (u32 j = 0; j < 4; ++j) {
      const u32 pixel = pixels * blockIdx.x + row + 16 * i, output = outputs * blockIdx.y + column + 8 * j;
      if (pixel < sizes.pixels && output < sizes.outputs) out[pixel * sizes.outputs + output] = sums[i][j];
    }
  }
}
