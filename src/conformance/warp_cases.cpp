/// Instructions of warps and warpgroups: elect, ldmatrix, stmatrix, setmaxnreg, cp.async, griddepcontrol.
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

constexpr auto elect_text = R"(
#include "tmajit/elect.cuh"
using namespace tmajit;

extern "C" __global__ void words(u32* out, const u32* in) {
  if (ptx::elect()) {
    atomicAdd(out + threadIdx.x / 32, 1);
    atomicAdd(out + blockDim.x / 32 + threadIdx.x / 32, threadIdx.x % 32);
  }
}
)";

/// Loads `count` matrices from 16-byte rows in a permuted order, and stores them to other rows.
std::string matrices_text(int count, bool transposed) {
  return fmt::format(R"(
#include "tmajit/matrix8x8.cuh"
#include "tmajit/shared.cuh"
using namespace tmajit;

extern "C" __global__ void words(u32* out, const u32* in) {{
  __shared__ alignas(16) u32 from[128], to[128];
  for (u32 i = threadIdx.x; i < 128; i += 32) from[i] = in[i], to[i] = 0;
  __syncwarp();
  // Row r of all matrices is row 5 r mod 32 of the array.
  u32 word[{0}];
  ptx::load_matrices{1}(word, ptx::shared_address(from) + 16 * (5 * threadIdx.x % 32));
  for (u32 i = 0; i < {0}; ++i) out[{0} * threadIdx.x + i] = word[i];
  ptx::store_matrices{1}(ptx::shared_address(to) + 16 * (7 * threadIdx.x % 32), word);
  __syncwarp();
  for (u32 i = threadIdx.x; i < 128; i += 32) out[{0} * 32 + i] = to[i];
}}
)",
                     count, transposed ? "_transposed" : "");
}

std::uint32_t half(In words, std::uint32_t place, std::uint32_t column) {
  return words[4 * place + column / 2] >> (column % 2 * 16) & 0xffffU;
}

void expect_matrices(Out out, In in, std::uint32_t count, bool transposed) {
  for (std::uint32_t lane = 0; lane < 32; ++lane) {
    for (std::uint32_t matrix = 0; matrix < count; ++matrix) {
      std::uint32_t word = 0;
      for (std::uint32_t i = 0; i < 2; ++i) {
        const std::uint32_t row = transposed ? 2 * (lane % 4) + i : lane / 4;
        const std::uint32_t column = transposed ? lane / 4 : 2 * (lane % 4) + i;
        word |= half(in, 5 * (8 * matrix + row) % 32, column) << (16 * i);
      }
      out[count * lane + matrix] = word;
    }
  }
  for (std::uint32_t row = 0; row < 8 * count; ++row) {
    for (std::uint32_t i = 0; i < 4; ++i)
      out[count * 32 + 4 * (7 * row % 32) + i] = in[4 * (5 * row % 32) + i];
  }
}

void add_matrices(std::vector<Case>& cases) {
  cases.push_back({.name = "warp.matrices",
                   .instructions = {"ldmatrix", "stmatrix"},
                   .what = "one, two and four matrices to registers and back, transposed or not",
                   .trials = [](Random& random) {
                     std::vector<Trial> trials;
                     for (const std::uint32_t count : {1U, 2U, 4U}) {
                       for (const bool transposed : {false, true}) {
                         trials.push_back(trial_of(
                             {.what = fmt::format("{} matrices{}", count, transposed ? ", transposed" : ""),
                              .text = matrices_text(static_cast<int>(count), transposed),
                              .threads = 32,
                              .in = 128,
                              .out = 32 * count + 128,
                              .expect = [=](Out out, In in) { expect_matrices(out, in, count, transposed); }},
                             random));
                       }
                     }
                     return trials;
                   }});
}

// One warpgroup gives registers back. Two others take them, and hold more words than fit their initial
// registers.
constexpr auto registers_text = R"(
#include "tmajit/registers.cuh"
using namespace tmajit;

extern "C" __global__ void __launch_bounds__(384, 1) words(u32* out, const u32* in) {
  if (threadIdx.x < 128) {
    ptx::lower_registers<40>();
    out[threadIdx.x] = in[threadIdx.x] + 1;
    return;
  }
  ptx::raise_registers<232>();
  u32 kept[160];
#pragma unroll
  for (u32 i = 0; i < 160; ++i) kept[i] = in[(threadIdx.x + i) % 384];
  __syncwarp();
  u32 sum = 0;
#pragma unroll
  for (u32 i = 0; i < 160; ++i) sum = sum * 3 + kept[i] * kept[(i * 7 + 5) % 160];
  out[threadIdx.x] = sum;
}
)";

void expect_registers(Out out, In in) {
  for (std::uint32_t t = 0; t < 128; ++t) out[t] = in[t] + 1;
  for (std::uint32_t t = 128; t < 384; ++t) {
    std::uint32_t sum = 0;
    for (std::uint32_t i = 0; i < 160; ++i)
      sum = sum * 3 + in[(t + i) % 384] * in[(t + (i * 7 + 5) % 160) % 384];
    out[t] = sum;
  }
}

constexpr auto async_copy_text = R"(
#include "tmajit/async_copy.cuh"
#include "tmajit/shared.cuh"
using namespace tmajit;

extern "C" __global__ void words(u32* out, const u32* in) {
  __shared__ alignas(16) u32 tile[2][128];
  const u32 at = 4 * threadIdx.x;
  ptx::copy16_async(ptx::shared_address(&tile[0][at]), in + at, 16);
  ptx::close_async_group();
  ptx::copy16_async(ptx::shared_address(&tile[1][at]), in + 128 + at, threadIdx.x % 5 * 4, ptx::evict_first());
  ptx::close_async_group();
  ptx::wait_async_groups<1>();
  for (u32 i = 0; i < 4; ++i) out[at + i] = tile[0][at + i];
  ptx::wait_async_copies();
  for (u32 i = 0; i < 4; ++i) out[128 + at + i] = tile[1][at + i];
}
)";

constexpr auto grid_text = R"(
#include "tmajit/grid.cuh"
using namespace tmajit;

extern "C" __global__ void words(u32* out, const u32* in) {
  ptx::wait_for_prerequisites();
  out[threadIdx.x] = in[threadIdx.x] + 1;
  ptx::launch_dependents();
}
)";

// The grid `produce` lets the grid `words` begin long before `produce` writes. Only `words` accesses `other`.
// Each trial replaces ONE by the index of the thread that waits.
constexpr auto overlap_text = R"(
#include "tmajit/grid.cuh"
using namespace tmajit;

extern "C" __global__ void produce(u32* out, const u32* in) {
  ptx::launch_dependents();
  for (u32 i = 0; i < 20; ++i) __nanosleep(1000);
  out[threadIdx.x] = 3 * in[threadIdx.x];
}
extern "C" __global__ void words(u32* out, const u32* in) {
  u32* const other = out + 256;
  other[threadIdx.x] = in[threadIdx.x];
  if (threadIdx.x == ONE) ptx::wait_for_prerequisites();
  __syncthreads();
  out[128 + threadIdx.x] = out[threadIdx.x] + 1;
}
)";

/// A trial in which all threads wait for `produce`, or one thread waits and the rest meet it at a barrier.
Trial overlap(Random& random, bool all) {
  std::string text = overlap_text;
  text.replace(text.find("ONE"), 3, all ? "threadIdx.x" : std::to_string(reference::between(random, 0, 127)));
  Trial trial =
      trial_of({.what = all ? "all threads wait" : "one thread waits, then all threads meet at a barrier",
                .text = text,
                .in = 128,
                .out = 384,
                .expect =
                    [](Out out, In in) {
                      for (std::uint32_t i = 0; i < 128; ++i) {
                        out[i] = 3 * in[i];
                        out[128 + i] = out[i] + 1;
                        out[256 + i] = in[i];
                      }
                    }},
               random);
  trial.earlier_launches.push_back({"produce", trial.shape});
  trial.shape.overlaps = true;
  return trial;
}

}  // namespace

void add_warps(std::vector<Case>& cases) {
  cases.push_back(case_of("warp.elect", {"elect.sync"},
                          {.what = "one lane of each warp is elected, the first",
                           .text = elect_text,
                           .out = 8,
                           .expect = [](Out out, In) { std::fill_n(out.begin(), 4, 1U); }}));
  add_matrices(cases);
  cases.push_back(case_of("warp.registers", {"setmaxnreg"},
                          {.what = "a warpgroup gives registers back, two others take them",
                           .text = registers_text,
                           .threads = 384,
                           .in = 384,
                           .out = 384,
                           .expect = expect_registers}));
  cases.push_back(case_of("warp.cp-async", {"cp.async", "createpolicy"},
                          {.what = "16 bytes per thread, some of them zeros, in groups",
                           .text = async_copy_text,
                           .threads = 32,
                           .in = 256,
                           .out = 256,
                           .expect = [](Out out, In in) {
                             for (std::uint32_t i = 0; i < 128; ++i) {
                               out[i] = in[i];
                               out[128 + i] = i % 4 < i / 4 % 5 ? in[128 + i] : 0;
                             }
                           }}));
  cases.push_back(case_of("grid.dependencies", {"griddepcontrol"},
                          {.what = "both instructions do nothing if the launch did not ask for dependencies",
                           .text = grid_text,
                           .in = 128,
                           .out = 128,
                           .expect = [](Out out, In in) {
                             std::ranges::transform(in, out.begin(), [](std::uint32_t x) { return x + 1; });
                           }}));
  cases.push_back(
      {.name = "grid.overlap",
       .instructions = {"griddepcontrol"},
       .what = "after its wait, a launch that begins early reads what the launch before it has written",
       .trials = [](Random& random) {
         std::vector<Trial> trials(4);
         for (std::size_t i = 0; i < trials.size(); ++i) trials[i] = overlap(random, i % 2 == 0);
         return trials;
       }});
}

}  // namespace conformance
