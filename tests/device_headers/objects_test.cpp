/// Barriers and pipelines of the device headers on the simulated device: their results are right, and the
/// simulator reports nothing.
#include "sim/cuda_support.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>

using namespace tmajit;

namespace {

/// Runs a kernel `k`. Its results are the words from 2048 on, and result i must be 3 · i + 1.
void run(const char* text, std::uint32_t threads, std::uint32_t cluster, std::size_t results) {
  const auto mode = GENERATE(SimOptions::Mode::late, SimOptions::Mode::early, SimOptions::Mode::random);
  const tests::CudaOutcome outcome = tests::run_cuda(text, threads, false, {.mode = mode}, cluster);
  INFO(outcome.text);
  REQUIRE(outcome.reports.empty());
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < results; ++i) {
    wrong += outcome.words[2048 + i] == static_cast<std::int32_t>(3 * i + 1) ? 0U : 1U;
  }
  CHECK(wrong == 0);
}

}  // namespace

TEST_CASE("a pipeline brings the engine's copies to its consumers and takes stages back") {
  run(R"(
#include "tmajit/bulk.cuh"
#include "tmajit/elect.cuh"
#include "tmajit/pipeline.cuh"
using namespace tmajit;
constexpr u32 stages = 3, words = 128, tiles = 10;
extern "C" __global__ void k(int* out) {
  __shared__ alignas(16) int tile[stages][words];
  __shared__ u64 barriers[2 * stages];
  for (u32 i = threadIdx.x; i < tiles * words; i += blockDim.x) out[i] = i;
  ptx::fence_proxy_async_global();
  const auto pipeline = Pipeline<stages>(ptx::shared_address(barriers)).init(1, words / 32, threadIdx.x == 0);
  __syncthreads();
  if (threadIdx.x >= words) {
    if (!ptx::elect()) return;
    auto producer = pipeline.producer();
    for (u32 i = 0; i < tiles; ++i) {
      const auto stage = producer.acquire(4 * words);
      ptx::bulk_load(ptx::shared_address(tile[stage.index]), out + i * words, 4 * words, stage.barrier);
    }
    return;
  }
  auto consumer = pipeline.consumer();
  for (u32 i = 0; i < tiles; ++i) {
    const auto stage = consumer.wait();
    const int x = tile[stage.index][threadIdx.x];
    __syncwarp();
    consumer.release(threadIdx.x % 32 == 0);
    out[2048 + i * words + threadIdx.x] = 3 * x + 1;
  }
}
)",
      160, 1, 1280);
}

TEST_CASE("a pipeline whose stages threads write") {
  run(R"(
#include "tmajit/pipeline.cuh"
using namespace tmajit;
constexpr u32 stages = 2, words = 32, tiles = 7;
extern "C" __global__ void k(int* out) {
  __shared__ int tile[stages][words];
  __shared__ u64 barriers[2 * stages];
  const auto pipeline = Pipeline<stages>(ptx::shared_address(barriers)).init(words, words, threadIdx.x == 0);
  __syncthreads();
  const u32 lane = threadIdx.x % words;
  if (threadIdx.x < words) {
    auto producer = pipeline.producer();
    for (u32 i = 0; i < tiles; ++i) {
      tile[producer.acquire().index][lane] = i * words + lane;
      producer.commit();
    }
    producer.drain();
  } else {
    // The consumer waits for the second stage before it releases the first.
    auto consumer = pipeline.consumer();
    u32 before = consumer.wait().index;
    for (u32 i = 0; i < tiles; ++i) {
      const u32 after = i + 1 < tiles ? consumer.wait().index : 0;
      out[2048 + i * words + lane] = 3 * tile[before][words - 1 - lane] + 1 + 3 * (2 * int(lane) - 31);
      consumer.release();
      before = after;
    }
  }
}
)",
      64, 1, 224);
}

TEST_CASE("in a cluster a stage is free when the consumers of every CTA have released it") {
  run(R"(
#include "tmajit/bulk.cuh"
#include "tmajit/pipeline.cuh"
using namespace tmajit;
constexpr u32 stages = 2, words = 32, tiles = 6;
// Each CTA's producer brings its half of a tile to both CTAs: to its own from global memory, to the other from shared memory.
extern "C" __global__ void k(int* out) {
  __shared__ alignas(16) int tile[stages][words];
  __shared__ alignas(16) int half[tiles][words / 2];
  __shared__ u64 barriers[2 * stages];
  const u32 rank = ptx::cluster_ctarank(), ctas = ptx::cluster_nctarank();
  const auto pipeline = Pipeline<stages, PipelineScope::cluster>(ptx::shared_address(barriers))
      .init(1, ctas, threadIdx.x == 0);
  for (u32 i = threadIdx.x; i < tiles * words / 2; i += blockDim.x) {
    half[i / 16][i % 16] = out[i / 16 * words + rank * 16 + i % 16] = i / 16 * words + rank * 16 + i % 16;
  }
  ptx::fence_proxy_async();
  ptx::sync_cluster();
  if (threadIdx.x == 32) {
    auto producer = pipeline.producer();
    for (u32 i = 0; i < tiles; ++i) {
      const auto stage = producer.acquire(4 * words);
      const u32 mine = ptx::shared_address(&tile[stage.index][rank * 16]);
      ptx::bulk_load(mine, out + i * words + rank * 16, 2 * words, stage.barrier);
      ptx::bulk_send(ptx::map_to_cta(mine, 1 - rank), ptx::shared_address(half[i]), 2 * words,
                     ptx::map_to_cta(stage.barrier, 1 - rank));
    }
    producer.drain();
  } else if (threadIdx.x < 32) {
    auto consumer = pipeline.consumer();
    for (u32 i = 0; i < tiles; ++i) {
      const auto stage = consumer.wait();
      const int x = tile[stage.index][threadIdx.x];
      __syncwarp();
      consumer.release_to(threadIdx.x, threadIdx.x < ctas);
      if (i % ctas == rank) out[2048 + i * words + threadIdx.x] = 3 * x + 1;
    }
  }
  ptx::sync_cluster();
}
)",
      64, 2, 192);
}

TEST_CASE("a barrier is waited for by parity and by token, from this CTA and from another") {
  run(R"(
#include "tmajit/barrier.cuh"
using namespace tmajit;
extern "C" __global__ void k(int* out) {
  __shared__ int words[64];
  __shared__ u64 storage[2];
  const u32 rank = ptx::cluster_ctarank(), lane = threadIdx.x % 32;
  const auto met = Barrier<>(storage[0]).init(64, threadIdx.x == 0);
  const auto heard = Barrier<>(storage[1]).init(32, threadIdx.x == 0);
  ptx::sync_cluster();
  for (int round = 0; round < 3; ++round) {
    words[threadIdx.x] = threadIdx.x + round;
    const auto token = met.arrive_for_token();
    met.wait(token);
    if (round == 2 && rank == 0) out[2048 + threadIdx.x] = 3 * (words[63 - threadIdx.x] - 63 + 2 * int(threadIdx.x) - 2) + 1;
    met.arrive();
    met.wait(1u);
  }
  // CTA 1 writes, and tells CTA 0.
  if (rank == 1 && threadIdx.x < 32) {
    out[2112 + lane] = 3 * (64 + lane) + 1;
    heard.in(0).arrive();
  }
  if (rank == 0 && threadIdx.x < 32) {
    heard.wait_of_cluster(0);
    const int x = out[2112 + 31 - lane];
    out[2144 + lane] = x - 3 * (31 - int(lane)) + 3 * (32 + int(lane));
  }
  ptx::sync_cluster();
  met.invalidate(threadIdx.x == 0);
  heard.invalidate(threadIdx.x == 0);
}
)",
      64, 2, 128);
}
