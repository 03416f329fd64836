/// Fences, and groups of stores: the writes that are visible after them.
#include "conformance/groups.hpp"
#include "conformance/word_kernel.hpp"

#include <algorithm>
#include <utility>

#include <spdlog/fmt/fmt.h>

namespace conformance {

using reference::Random;

namespace {

using Out = std::span<std::uint32_t>;
using In = std::span<const std::uint32_t>;

/// Threads write shared memory, call `shared_fence`, and the engine stores it. Then they write global memory,
/// call `global_fence`, and the engine loads it.
std::string proxy_text(const char* shared_fence, const char* global_fence) {
  return fmt::format(R"(
#include "tmajit/barrier.cuh"
#include "tmajit/bulk.cuh"
#include "tmajit/bulk_group.cuh"
#include "tmajit/fence.cuh"
using namespace tmajit;

extern "C" __global__ void words(u32* out, const u32* in) {{
  __shared__ alignas(16) u32 from[128], to[128];
  __shared__ u64 word;
  const auto arrived = Barrier<>(word).init(1, threadIdx.x == 0);
  from[threadIdx.x] = in[threadIdx.x] + 1;
  ptx::{}();
  __syncthreads();
  if (threadIdx.x == 0) {{
    ptx::bulk_store(out, ptx::shared_address(from), 512);
    ptx::commit_group();
    ptx::wait_group<0>();
  }}
  out[128 + threadIdx.x] = in[threadIdx.x] + 2;
  ptx::{}();
  __syncthreads();
  if (threadIdx.x == 0) {{
    arrived.expect(512);
    ptx::bulk_load(ptx::shared_address(to), out + 128, 512, arrived.address());
  }}
  const bool completed = completes(arrived.address(), 0);
  out[256 + threadIdx.x] = completed ? to[127 - threadIdx.x] : 0;
}}
)",
                     shared_fence, global_fence);
}

/// One warp writes and raises a flag; another warp waits for the flag and reads.
std::string scope_text(const char* fence) {
  return fmt::format(R"(
#include "tmajit/fence.cuh"
using namespace tmajit;

extern "C" __global__ void words(u32* out, const u32* in) {{
  u32* const flag = out + 64;
  if (threadIdx.x < 32) {{
    out[threadIdx.x] = in[threadIdx.x] + 1;
    ptx::{0}();
    atomicAdd(flag, 1);
  }} else {{
    while (atomicAdd(flag, 0) != 32) {{}}
    ptx::{0}();
    out[threadIdx.x] = 2 * out[63 - threadIdx.x];
  }}
}}
)",
                     fence);
}

constexpr auto groups_text = R"(
#include "tmajit/bulk.cuh"
#include "tmajit/bulk_group.cuh"
#include "tmajit/fence.cuh"
#include "tmajit/shared.cuh"
using namespace tmajit;

extern "C" __global__ void words(u32* out, const u32* in) {
  __shared__ alignas(16) u32 stage[2][32];
  const u32 from = ptx::shared_address(stage);
  for (u32 i = 0; i < 8; ++i) {
    if (threadIdx.x == 0) ptx::wait_group_read<1>();
    __syncwarp();
    stage[i % 2][threadIdx.x] = in[32 * i + threadIdx.x] ^ i;
    ptx::fence_proxy_async_shared();
    __syncwarp();
    if (threadIdx.x == 0) {
      ptx::bulk_store(out + 32 * i, from + i % 2 * 128, 128);
      ptx::commit_group();
    }
  }
  if (threadIdx.x == 0) {
    ptx::wait_group<1>();
    out[256] = out[32 * 6];  // the last but one is complete
    ptx::wait_group<0>();
  }
}
)";

void add_proxies(std::vector<Case>& cases) {
  cases.push_back({.name = "fence.proxy",
                   .instructions = {"fence.proxy.async", "cp.async.bulk"},
                   .what = "the engine sees what threads wrote, to shared and to global memory",
                   .trials = [](Random& random) {
                     std::vector<Trial> trials;
                     for (const auto& [shared, global] :
                          {std::pair{"fence_proxy_async_shared", "fence_proxy_async_global"},
                           std::pair{"fence_proxy_async_cluster", "fence_proxy_async"},
                           std::pair{"fence_proxy_async", "fence_proxy_async_global"}}) {
                       trials.push_back(trial_of({.what = fmt::format("{} and {}", shared, global),
                                                  .text = proxy_text(shared, global),
                                                  .in = 128,
                                                  .out = 384,
                                                  .expect =
                                                      [](Out out, In in) {
                                                        for (std::size_t i = 0; i < 128; ++i) {
                                                          out[i] = in[i] + 1;
                                                          out[128 + i] = in[i] + 2;
                                                          out[256 + i] = in[127 - i] + 2;
                                                        }
                                                      }},
                                                 random));
                     }
                     return trials;
                   }});
}

void add_scopes(std::vector<Case>& cases) {
  cases.push_back({.name = "fence.scopes",
                   .instructions = {"fence.acq_rel"},
                   .what = "a warp sees what another wrote before it raised a flag",
                   .trials = [](Random& random) {
                     std::vector<Trial> trials;
                     for (const auto* fence : {"fence_cta", "fence_cluster", "fence_gpu", "fence_sys"}) {
                       trials.push_back(trial_of({.what = fence,
                                                  .text = scope_text(fence),
                                                  .threads = 64,
                                                  .in = 32,
                                                  .out = 65,
                                                  .expect =
                                                      [](Out out, In in) {
                                                        for (std::size_t i = 0; i < 32; ++i) {
                                                          out[i] = in[i] + 1;
                                                          out[32 + i] = 2 * (in[31 - i] + 1);
                                                        }
                                                        out[64] = 32;
                                                      }},
                                                 random));
                     }
                     return trials;
                   }});
}

}  // namespace

void add_fences(std::vector<Case>& cases) {
  add_proxies(cases);
  add_scopes(cases);
  cases.push_back(
      case_of("bulk.groups", {"cp.async.bulk.commit_group", "cp.async.bulk.wait_group"},
              {.what = "two stages: waits until stores have read them, then until the stores are complete",
               .text = groups_text,
               .threads = 32,
               .in = 256,
               .out = 257,
               .expect = [](Out out, In in) {
                 for (std::uint32_t i = 0; i < 256; ++i) out[i] = in[i] ^ (i / 32);
                 out[256] = out[192];
               }}));
}

}  // namespace conformance
