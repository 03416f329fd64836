// C = A · Bᵀ in bf16, summed in f32: A is m × k, B is n × k, C is m × n, each contiguous along its last
// dimension.
//
// A CTA has three warpgroups. One is the producer: one of its threads keeps a ring of stages filled, each with
// a tile of A and a tile of B. Two are consumers: each multiplies 64 rows of A's tile by the whole tile of B, with
// wgmma, and keeps 64 × tile_n sums in registers. CTAs are persistent: they process one tile of C after the
// other, and the producer already loads the next tile's stages while the consumers store.
//
// The CTAs of a cluster have tiles of C one below the other, which need the same tile of B. Each CTA loads a part
// of that tile and multicasts it to all of them.
//
// The host program defines these constants before this text: tile_n (columns of a tile of C: a multiple of 64 up
// to 256), stages, cluster (CTAs in a cluster) and band (rows of clusters in a band, see Walk).
#include "tmajit/bulk_group.cuh"
#include "tmajit/bulk_tensor.cuh"
#include "tmajit/convert.cuh"
#include "tmajit/elect.cuh"
#include "tmajit/fence.cuh"
#include "tmajit/matrix8x8.cuh"
#include "tmajit/matrix_tile.cuh"
#include "tmajit/pipeline.cuh"
#include "tmajit/registers.cuh"
#include "tmajit/shared_memory.cuh"
#include "tmajit/sync.cuh"
#include "tmajit/tensor_map.cuh"
#include "tmajit/wgmma_bf16.cuh"

using namespace tmajit;

constexpr u32 warpgroup = 128;  // threads
constexpr u32 consumers = 2;    // warpgroups
constexpr u32 tile_m = 64 * consumers;
constexpr u32 tile_k = 64;      // 128 bytes, the longest legal row with SWIZZLE_128B
constexpr u32 row_bytes = 128;  // of every tile in shared memory
constexpr u32 a_bytes = tile_m * row_bytes;
constexpr u32 b_bytes = tile_n * row_bytes;
constexpr u32 stage_bytes = a_bytes + b_bytes;
constexpr u32 box_bytes = 64 * row_bytes;  // C is stored in boxes of 64 × 64; each consumer has two buffers

using TileA = MatrixTile<u16, MapSwizzle::b128, Major::k, 64, tile_k>;
using TileB = MatrixTile<u16, MapSwizzle::b128, Major::k, tile_n, tile_k>;
using Stages = Pipeline<stages, PipelineScope::cluster>;
using ReadyStages = Pipeline<stages, PipelineScope::cluster, BarrierState::ready>;

// Iterates over the tiles of C that this CTA computes: at() is the column and row of the current tile's first
// element.
//
// The clusters process C in bands of `band` rows of clusters, each band column by column. So at any time they
// work on an almost square part of C. It needs the fewest rows of A and B, which then stay in L2.
class Walk {
 public:
  __device__ Walk(u32 m, u32 n)
      : rows_((m + cluster * tile_m - 1) / (cluster * tile_m)),
        columns_((n + tile_n - 1) / tile_n),
        tile_(blockIdx.x / cluster) {}
  __device__ bool is_over() const { return tile_ >= rows_ * columns_; }
  __device__ void next() { tile_ += gridDim.x / cluster; }
  __device__ uint2 at() const {
    const u32 first = tile_ / (band * columns_) * band;
    const u32 height = min(band, rows_ - first);
    const u32 index = tile_ % (band * columns_);  // in the band
    const u32 row = first + index % height;
    return {index / height * tile_n, (row * cluster + blockIdx.x % cluster) * tile_m};
  }

 private:
  u32 rows_, columns_, tile_;
};

// The producer, one thread: loads a tile of A and a tile of B for each step along k of each tile of C.
__device__ void produce(const ReadyStages& pipeline, u32 memory, const TensorMap& a_map,
                        const TensorMap& b_map, u32 m, u32 n, u32 k) {
  constexpr u32 part = tile_n / cluster;  // rows of B that this CTA loads for all CTAs of the cluster
  const u32 rank = blockIdx.x % cluster;
  auto producer = pipeline.producer();
  for (Walk walk(m, n); !walk.is_over(); walk.next()) {
    const uint2 at = walk.at();
    for (u32 column = 0; column < k; column += tile_k) {
      const auto stage = producer.acquire(stage_bytes);
      const u32 a = memory + stage.index * stage_bytes;
      const u32 b = a + a_bytes + rank * part * row_bytes;
      const Coordinates<2> of_a{static_cast<i32>(column), static_cast<i32>(at.y)};
      const Coordinates<2> of_b{static_cast<i32>(column), static_cast<i32>(at.x + rank * part)};
      ptx::tensor_load(a, a_map, of_a, stage.barrier);
      if constexpr (cluster == 1) {
        ptx::tensor_load(b, b_map, of_b, stage.barrier);
      } else {
        ptx::tensor_load(b, b_map, of_b, stage.barrier, all_ctas<cluster>());
      }
    }
  }
  producer.drain();  // until then the other CTAs arrive at this CTA's barriers
}

// Stores a consumer's sums to C in bf16. The consumer writes them alternately to two buffers in shared memory at
// `boxes`, and the copy engine stores them, the last ones while the next tile is multiplied.
__device__ void store(const float (&sums)[tile_n / 2], const TensorMap& c_map, u32 boxes, u32& turn,
                      i32 column, i32 row) {
  const u32 thread = threadIdx.x % warpgroup, lane = thread % 32, group = threadIdx.x / warpgroup;
  const u32 line = thread / 32 * 16 + lane % 16;  // row of the box whose address this lane gives to stmatrix
#pragma unroll
  for (u32 box = 0; box < tile_n / 64; ++box) {
    const u32 to = boxes + turn * box_bytes;
    turn ^= 1;
    if (thread == 0) ptx::wait_group_read<1>();  // the engine has read this buffer's earlier box
    ptx::sync_threads_at(1 + group, warpgroup);
#pragma unroll
    for (u32 i = 0; i < 4; ++i) {  // 16 columns each: two chunks of 16 bytes
      const float* const sum = sums + box * 32 + i * 8;
      const u32 words[4]{ptx::bf16x2_from_f32({sum[0], sum[1]}), ptx::bf16x2_from_f32({sum[2], sum[3]}),
                         ptx::bf16x2_from_f32({sum[4], sum[5]}), ptx::bf16x2_from_f32({sum[6], sum[7]})};
      const u32 chunk = 2 * i + lane / 16;
      ptx::store_matrices(to + line * row_bytes + (chunk ^ line % 8) * 16, words);
    }
    ptx::fence_proxy_async_shared();
    ptx::sync_threads_at(1 + group, warpgroup);
    if (thread == 0) {
      ptx::tensor_store(c_map, Coordinates<2>{column + static_cast<i32>(box * 64), row}, to);
      ptx::commit_group();
    }
  }
}

// A consumer, one warpgroup: computes 64 rows of each tile of C.
__device__ void consume(const ReadyStages& pipeline, u32 memory, const TensorMap& c_map, u32 m, u32 n,
                        u32 k) {
  const u32 group = threadIdx.x / warpgroup, lane = threadIdx.x % 32;
  const u32 boxes = memory + stages * stage_bytes + group * 2 * box_bytes;
  auto consumer = pipeline.consumer();
  u32 turn = 0;
  for (Walk walk(m, n); !walk.is_over(); walk.next()) {
    float sums[tile_n / 2];
    for (u32 column = 0; column < k; column += tile_k) {
      const auto stage = consumer.wait();
      const u32 a = memory + stage.index * stage_bytes + group * TileA::box_bytes;
      const u32 b = memory + stage.index * stage_bytes + a_bytes;
      ptx::wgmma_fence();
#pragma unroll
      for (u32 step = 0; step < TileA::steps; ++step) {
        ptx::wgmma_bf16(sums, TileA::descriptor(a, step), TileB::descriptor(b, step), column + step > 0);
      }
      ptx::wgmma_commit_group();
      // At most this stage's products are still in flight, so the previous stage is no longer needed: release
      // it to every CTA of the cluster, which loads parts of it. Lane i of each warp arrives in CTA i.
      ptx::wgmma_wait_group<1>();
      if (column > 0) consumer.release_to(lane, lane < cluster);
    }
    ptx::wgmma_wait_group<0>();
    consumer.release_to(lane, lane < cluster);
    const uint2 at = walk.at();
    store(sums, c_map, boxes, turn, static_cast<i32>(at.x), static_cast<i32>(at.y + group * 64));
  }
  if (threadIdx.x % warpgroup == 0) ptx::wait_group<0>();  // the engine still reads this CTA's shared memory
}

extern "C" __global__ void __launch_bounds__((consumers + 1) * warpgroup, 1)
    matrix_product(const __grid_constant__ TensorMap c_map, const __grid_constant__ TensorMap a_map,
                   const __grid_constant__ TensorMap b_map, u32 m, u32 n, u32 k) {
  __shared__ u64 barriers[Stages::bytes / sizeof(u64)];
  const u32 memory = ptx::shared_address(aligned_shared_memory());
  // Arrivals for each stage: one thread fills it, and every consumer warp of the cluster releases it.
  const auto pipeline =
      Stages(ptx::shared_address(barriers)).init(1, cluster * consumers * warpgroup / 32, threadIdx.x == 0);
  ptx::sync_cluster();

  if (threadIdx.x < consumers * warpgroup) {
    ptx::raise_registers<232>();
    consume(pipeline, memory, c_map, m, n, k);
  } else {
    ptx::lower_registers<40>();
    if (threadIdx.x / 32 == consumers * warpgroup / 32 && ptx::elect()) {
      ptx::prefetch_tensor_map(a_map);
      ptx::prefetch_tensor_map(b_map);
      produce(pipeline, memory, a_map, b_map, m, n, k);
    }
  }
}
