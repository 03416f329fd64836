/// mbarriers, named barriers and cluster barriers: completion of phases, and visibility of writes afterwards.
#include "conformance/groups.hpp"
#include "conformance/word_kernel.hpp"

#include <algorithm>
#include <array>

namespace conformance {

namespace {

using Out = std::span<std::uint32_t>;
using In = std::span<const std::uint32_t>;

constexpr auto phases_text = R"(
#include "tmajit/bulk.cuh"
#include "tmajit/fence.cuh"
#include "tmajit/mbarrier.cuh"
#include "tmajit/shared.cuh"
using namespace tmajit;
namespace mb = tmajit::ptx::mbarrier;

extern "C" __global__ void words(u32* out, const u32* in) {
  __shared__ u64 word;
  __shared__ alignas(16) u32 tile[8];
  if (threadIdx.x != 0) return;
  const u32 barrier = ptx::shared_address(&word), to = ptx::shared_address(tile);
  mb::init(barrier, 3);
  ptx::fence_mbarrier_init();
  out[0] = mb::test_wait(barrier, 0);
  out[1] = mb::test_wait(barrier, 1);
  mb::arrive(barrier);
  const mb::Token first = mb::arrive_for_token(barrier);
  out[2] = mb::test_wait_for(barrier, first);
  mb::arrive_count(barrier, 1);
  out[3] = mb::test_wait(barrier, 0);
  out[4] = mb::test_wait_for(barrier, first);
  out[5] = mb::test_wait(barrier, 1);
  mb::arrive_and_drop(barrier);
  mb::arrive_count(barrier, 2);
  out[6] = mb::test_wait(barrier, 1);
  mb::arrive(barrier);  // after the drop, a phase takes two arrivals
  out[7] = mb::test_wait(barrier, 0);
  mb::arrive(barrier);
  out[8] = mb::try_wait(barrier, 0);
  mb::expect_tx(barrier, 16);
  mb::arrive_count(barrier, 2);
  out[9] = mb::test_wait(barrier, 1);
  ptx::bulk_load(to, in, 16, barrier);
  out[10] = completes(barrier, 1);
  out[11] = tile[3];
  const mb::Token second = mb::arrive_expect_tx_for_token(barrier, 16);
  mb::arrive(barrier);
  out[12] = mb::test_wait_for(barrier, second);
  ptx::bulk_load(to + 16, in + 4, 16, barrier);
  out[13] = completes(barrier, 0) && mb::try_wait_for(barrier, second);
  out[14] = tile[4];
  mb::arrive_expect_tx(barrier, 0);
  mb::arrive(barrier);
  out[15] = mb::try_wait(barrier, 1);
  mb::invalidate(barrier);
  mb::init(barrier, 1);
  ptx::fence_mbarrier_init();
  out[16] = mb::test_wait(barrier, 0);
  mb::arrive(barrier);
  out[17] = mb::try_wait(barrier, 0);
}
)";

void expect_phases(Out out, In in) {
  constexpr std::array<std::uint32_t, 18> phases{0, 1, 0, 1, 1, 0, 1, 0, 1, 0, 1, 0, 0, 1, 0, 1, 0, 1};
  std::ranges::copy(phases, out.begin());
  out[11] = in[3];
  out[14] = in[4];
}

// CTA 1 completes the phases of two barriers of CTA 0: one by bytes and arrivals of one thread, the other by
// arrivals of 32 threads.
constexpr auto remote_text = R"(
#include "tmajit/barrier.cuh"
#include "tmajit/bulk.cuh"
#include "tmajit/cluster.cuh"
#include "tmajit/store_async.cuh"
using namespace tmajit;
namespace mb = tmajit::ptx::mbarrier;

extern "C" __global__ void words(u32* out, const u32* in) {
  __shared__ u64 storage[2];
  __shared__ alignas(16) u32 tile[32], received[36];
  const auto bytes = Barrier<>(storage[0]).init(2, threadIdx.x == 0);
  const auto arrivals = Barrier<>(storage[1]).init(32, threadIdx.x == 0);
  if (threadIdx.x < 32) tile[threadIdx.x] = 3 * in[threadIdx.x];
  ptx::fence_proxy_async();
  ptx::sync_cluster();
  if (ptx::cluster_ctarank() == 1) {
    if (threadIdx.x == 0) {
      const u32 remote_barrier = bytes.in(0).address(), to = ptx::map_to_cta(ptx::shared_address(received), 0);
      mb::expect_tx_remote(remote_barrier, 4);
      ptx::store_async(to + 128, in[32], remote_barrier);
      bytes.in(0).expect(128);
      ptx::bulk_send(to, ptx::shared_address(tile), 128, remote_barrier);
      mb::arrive_remote_of_reader(remote_barrier);
    } else if (threadIdx.x >= 32) {
      out[threadIdx.x + 32] = in[threadIdx.x] + 1;
      arrivals.in(0).arrive();
    }
  } else if (threadIdx.x < 33) {
    const bool completed = completes(bytes.address(), 0);
    out[threadIdx.x] = completed ? received[threadIdx.x] : 0;
  }
  if (ptx::cluster_ctarank() == 0 && threadIdx.x >= 32) {
    const bool completed = completes(arrivals.address(), 0);
    out[64 + threadIdx.x] = completed ? 2 * out[127 - threadIdx.x] : 0;
  }
  ptx::sync_cluster();
}
)";

void expect_remote(Out out, In in) {
  for (std::size_t i = 0; i < 32; ++i) {
    out[i] = 3 * in[i];
    out[64 + i] = in[32 + i] + 1;
    out[96 + i] = 2 * (in[63 - i] + 1);
  }
  out[32] = in[32];
}

constexpr auto cluster_text = R"(
#include "tmajit/cluster.cuh"
#include "tmajit/shared.cuh"
using namespace tmajit;

extern "C" __global__ void words(u32* out, const u32* in) {
  __shared__ u32 word;
  const u32 rank = ptx::cluster_ctarank(), all = ptx::cluster_nctarank(), mine = rank * 64 + threadIdx.x;
  out[mine] = in[mine];
  ptx::arrive_at_cluster();
  ptx::wait_for_cluster();
  out[64 * all + mine] = out[(mine + 64) % (64 * all)] + 1;
  ptx::arrive_at_cluster_relaxed();  // orders no accesses to memory
  ptx::wait_for_cluster();
  u32* const identity = out + 128 * all + 12 * rank;
  const uint3 at = ptx::cluster_ctaid(), extent = ptx::cluster_nctaid(), id = ptx::clusterid(), ids = ptx::nclusterid();
  const u32 found[12] = {rank, all, at.x, at.y, at.z, extent.x, extent.y, id.x, ids.x, ids.y,
                         ptx::is_explicit_cluster(), ptx::cta_of(ptx::map_to_cta(ptx::shared_address(&word), (rank + 1) % all))};
  if (threadIdx.x == 0) for (u32 i = 0; i < 12; ++i) identity[i] = found[i];
}
)";

void expect_cluster(Out out, In in) {
  for (std::uint32_t i = 0; i < 256; ++i) {
    out[i] = in[i];
    out[256 + i] = in[(i + 64) % 256] + 1;
  }
  for (std::uint32_t rank = 0; rank < 4; ++rank) {
    const std::array<std::uint32_t, 12> identity{rank, 4, rank, 0, 0, 4, 1, 0, 1, 1, 1, (rank + 1) % 4};
    std::ranges::copy(identity, out.begin() + 512 + std::ptrdiff_t{12} * rank);
  }
}

constexpr auto named_text = R"(
#include "tmajit/sync.cuh"
using namespace tmajit;

extern "C" __global__ void words(u32* out, const u32* in) {
  __shared__ u32 tile[32], back[32];
  const u32 lane = threadIdx.x % 32;
  if (threadIdx.x < 32) {
    tile[lane] = in[lane] ^ 7;
    ptx::arrive_at_threads(1, 64);
    ptx::sync_threads<2, 64>();
    out[lane] = back[31 - lane];
  } else if (threadIdx.x < 64) {
    ptx::sync_threads_at(1, 64);
    back[lane] = tile[31 - lane] + 1;
    ptx::sync_threads<2, 64>();
  }
}
)";

}  // namespace

void add_barriers(std::vector<Case>& cases) {
  cases.push_back(
      case_of("mbarrier.phases",
              {"mbarrier.init", "mbarrier.arrive", "mbarrier.arrive_drop", "mbarrier.expect_tx",
               "mbarrier.test_wait", "mbarrier.try_wait", "mbarrier.inval", "fence.mbarrier_init"},
              {.what = "the phases that are complete after arrivals and bytes",
               .text = phases_text,
               .threads = 32,
               .in = 8,
               .out = 18,
               .expect = expect_phases}));
  cases.push_back(case_of(
      "mbarrier.remote", {"mbarrier.arrive", "mbarrier.expect_tx", "st.async", "cp.async.bulk", "mapa"},
      {.what = "arrivals and bytes from another CTA, and the writes that are visible after them",
       .text = remote_text,
       .threads = 64,
       .ctas = 2,
       .in = 64,
       .out = 128,
       .expect = expect_remote}));
  cases.push_back(
      case_of("cluster.barrier", {"barrier.cluster", "mapa", "getctarank"},
              {.what = "which writes of other CTAs are visible, and the registers that identify a CTA",
               .text = cluster_text,
               .threads = 64,
               .ctas = 4,
               .in = 256,
               .out = 560,
               .expect = expect_cluster}));
  cases.push_back(case_of("barrier.named", {"barrier.sync", "barrier.arrive"},
                          {.what = "two of four warps exchange words",
                           .text = named_text,
                           .in = 32,
                           .out = 32,
                           .expect = [](Out out, In in) {
                             for (std::size_t i = 0; i < 32; ++i) out[i] = (in[i] ^ 7U) + 1;
                           }}));
}

}  // namespace conformance
