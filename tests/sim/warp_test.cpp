/// Reductions at barriers, match, tiles of a warp, elect, mbarrier states, and cp.async.
#include "sim/cuda_support.hpp"
#include "sim/support.hpp"

#include <set>

#include <catch2/generators/catch_generators_all.hpp>

namespace warp_test {

using tests::run_cuda;
using tmajit::SimOptions;

namespace {

SimOptions::Mode any_mode() {
  return GENERATE(SimOptions::Mode::late, SimOptions::Mode::early, SimOptions::Mode::random);
}

}  // namespace

TEST_CASE("barriers reduce their threads' predicates") {
  const auto outcome = run_cuda(R"(
extern "C" __global__ void k(int* out) {
  int t = threadIdx.x, r = 0;
  for (int i = 0; i < 5; ++i) {
    r = r * 1000 + __syncthreads_count(t % (i + 2) == 0);
    if (__syncthreads_and(t < 96)) r += 1;
    if (__syncthreads_or(t == 95 - i)) r += 2;
    if (i == 2) break;
  }
  out[t] = r;
})",
                                96, GENERATE(false, true));
  INFO(outcome.text);
  REQUIRE(outcome.reports.empty());
  for (std::size_t i = 0; i < 96; ++i) CHECK(outcome.words[i] == (51 * 1000 + 35) * 1000 + 27);
}

TEST_CASE("bar.red reduces the predicates of the warps that take part") {
  const auto outcome = run_cuda(R"(
extern "C" __global__ void k(int* out) {
  int t = threadIdx.x, n = -1;
  if (t >= 32)
    asm volatile("{.reg .pred p; setp.lt.u32 p, %1, 70; barrier.cta.red.popc.u32 %0, 3, 64, p;}" : "=r"(n) : "r"(t));
  out[t] = n;
})",
                                96, false);
  INFO(outcome.text);
  REQUIRE(outcome.reports.empty());
  for (std::size_t i = 0; i < 96; ++i) CHECK(outcome.words[i] == (i < 32 ? -1 : 38));
}

TEST_CASE("match.any and match.all find the lanes with equal values") {
  const auto outcome = run_cuda(R"(
extern "C" __global__ void k(int* out) {
  int t = threadIdx.x, all = 0, some = 0;
  unsigned any = __match_any_sync(~0u, t / 8);
  unsigned same = __match_all_sync(~0u, 7ll, &all);
  unsigned other = __match_all_sync(~0u, t, &some);
  out[t] = any == 255u << t / 8 * 8 && same == ~0u && all && other == 0 && !some;
})",
                                32, false);
  INFO(outcome.text);
  REQUIRE(outcome.reports.empty());
  for (std::size_t i = 0; i < 32; ++i) CHECK(outcome.words[i] == 1);
}

TEST_CASE("tiles of a warp synchronise independently, at one instruction or at several") {
  const std::string source = R"(
extern "C" __global__ void k(int* out) {
  int t = threadIdx.x, tile = t / 8;
  unsigned mine = 0xffu << tile * 8;
  int sum = __reduce_add_sync(mine, t);
  unsigned votes = __ballot_sync(mine, t % 8 < tile);
  unsigned same = __match_any_sync(mine, t % 2);
  int first = __shfl_sync(mine, t, 3, 8);
  int agree = __all_sync(mine, tile == 2);
  unsigned leader;
  asm volatile("{.reg .pred p; elect.sync %0|p, %1;}" : "=r"(leader) : "r"(mine));
  bool right = sum == tile * 64 + 28 && votes == ((1u << tile) - 1) << tile * 8 &&
               same == 0x55u << tile * 8 + t % 2 && first == tile * 8 + 3 && agree == (tile == 2) && leader / 8 == tile;
  // Lanes of one tile take two branches, and each tile gets here at another time.
  int more = 0;
  for (int i = 0; i < tile; ++i) {
    if (t % 3 == 0) more += __reduce_add_sync(__activemask() & mine, 1);
    __syncwarp(mine);
    more += __shfl_xor_sync(mine, 1, 1, 8);
  }
  int multiples = 0;
  for (int i = tile * 8; i < tile * 8 + 8; ++i) multiples += i % 3 == 0;
  right = right && more == tile * (1 + (t % 3 == 0 ? multiples : 0));
  out[t] = right;
})";
  const auto outcome = run_cuda(source, 32, false, {.mode = any_mode(), .seed = GENERATE(1U, 2U, 3U)});
  INFO(outcome.text);
  REQUIRE(outcome.reports.empty());
  for (std::size_t i = 0; i < 32; ++i) CHECK(outcome.words[i] == 1);
}

TEST_CASE("any lane of the mask may be elected, but always the same one") {
  const std::string source = R"(
extern "C" __global__ void k(int* out) {
  unsigned leader, again, half;
  int is = 0;
  asm volatile("{.reg .pred p; elect.sync %0|p, 0xffffffff; selp.u32 %1, 1, 0, p;}" : "=r"(leader), "=r"(is));
  asm volatile("{.reg .pred p; elect.sync %0|p, 0xffffffff;}" : "=r"(again));
  unsigned lane = threadIdx.x % 32;
  half = lane;
  if (lane >= 16) asm volatile("{.reg .pred p; elect.sync %0|p, 0xffff0000;}" : "=r"(half));
  out[threadIdx.x] = leader == again && is == (leader == lane) && (lane < 16 || half >= 16) ? leader : -1;
})";
  std::set<std::int32_t> elected;
  for (std::uint64_t seed = 1; seed <= 12; ++seed) {
    const auto outcome = run_cuda(source, 64, false, {.mode = SimOptions::Mode::random, .seed = seed});
    INFO(outcome.text);
    REQUIRE(outcome.reports.empty());
    elected.insert(outcome.words[0]);
    for (std::size_t i = 0; i < 64; ++i) CHECK(outcome.words[i] == outcome.words[0]);
  }
  CHECK(elected.count(-1) == 0);
  CHECK(elected.size() > 4);
  for (const auto mode : {SimOptions::Mode::late, SimOptions::Mode::early})
    CHECK(run_cuda(source, 64, false, {.mode = mode}).words[40] == 0);
}

TEST_CASE("in mode random the use of lane 0 instead of the elected lane is reported") {
  const auto source = [](const std::string& waiter) {
    return R"(
extern "C" __global__ void k(int* out) {
  __shared__ alignas(16) int tile[32];
  unsigned at = (unsigned)__cvta_generic_to_shared(tile), is = 0;
  tile[threadIdx.x] = threadIdx.x;
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  __syncwarp();
  asm volatile("{.reg .pred p; elect.sync _|p, 0xffffffff; selp.u32 %0, 1, 0, p;}" : "=r"(is));
  if (is) asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], 128;\ncp.async.bulk.commit_group;" :: "l"(out), "r"(at) : "memory");
  if ()" + waiter +
           R"() asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
})";
  };
  bool found = false;
  for (std::uint64_t seed = 1; seed <= 4; ++seed) {
    const SimOptions options{.mode = SimOptions::Mode::random, .seed = seed};
    const auto correct = run_cuda(source("is"), 32, false, options);
    INFO(correct.text);
    CHECK(correct.reports.empty());
    const auto mixed = run_cuda(source("threadIdx.x == 0"), 32, false, options);
    found = found || (!mixed.reports.empty() && mixed.reports[0].rule == "exit.store-unread");
  }
  CHECK(found);
}

TEST_CASE("arrive.noComplete arrives without completing a phase, and pending_count reads a state") {
  const std::string source = R"(
extern "C" __global__ void k(int* out) {
  __shared__ unsigned long long bar;
  unsigned at = (unsigned)__cvta_generic_to_shared(&bar);
  unsigned long long state; unsigned pending, done;
  asm volatile("mbarrier.init.shared.b64 [%0], 10;" :: "r"(at));
  asm volatile("mbarrier.arrive.noComplete.shared.b64 %0, [%1], %2;" : "=l"(state) : "r"(at), "r"(COUNT));
  asm volatile("mbarrier.arrive.shared.b64 %0, [%1], %2;" : "=l"(state) : "r"(at), "r"(10 - COUNT));
  asm volatile("mbarrier.pending_count.b64 %0, %1;" : "=r"(pending) : "l"(state));
  asm volatile("{.reg .pred p; mbarrier.test_wait.shared.b64 p, [%1], %2; selp.u32 %0, 1, 0, p;}"
               : "=r"(done) : "r"(at), "l"(state));
  out[0] = pending * 10 + done;
})";
  const auto with = [&](int count) {
    return run_cuda("#define COUNT " + std::to_string(count) + source, 1, false);
  };
  const auto outcome = with(4);
  INFO(outcome.text);
  REQUIRE(outcome.reports.empty());
  CHECK(outcome.words[0] == 61);
  const auto wrong = with(10);
  REQUIRE(wrong.reports.size() == 1);
  CHECK(wrong.reports[0].rule == "mbarrier.arrivals");
}

namespace {

/// Thread t copies 16 bytes, from word 4 t of out + 1024, to shared memory, and waits by `wait`. Then it
/// writes its neighbour's words to out.
std::string copying(const std::string& size, const std::string& wait,
                    const std::string& meet = "__syncthreads();") {
  return R"(
extern "C" __global__ void k(int* out) {
  __shared__ alignas(16) int tile[32 * 4];
  __shared__ unsigned long long bar;
  int t = threadIdx.x;
  unsigned mbar = (unsigned)__cvta_generic_to_shared(&bar);
  if (t == 0) asm volatile("mbarrier.init.shared.b64 [%0], 32;" :: "r"(mbar));
  for (int i = 0; i < 4; ++i) out[1024 + 4 * t + i] = 4 * t + i;
  __syncthreads();
  unsigned to = (unsigned)__cvta_generic_to_shared(tile + 4 * t);
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16)" +
         size + R"(;" :: "r"(to), "l"(out + 1024 + 4 * t), "r"(t % 2 * 16) : "memory");
  asm volatile(")" +
         wait + R"(" :: "r"(mbar) : "memory");
  )" + meet +
         R"(
  int n = (t + 1) % 32;
  for (int i = 0; i < 4; ++i) out[4 * t + i] = tile[4 * n + i];
})";
}

const std::string wait_mbarrier =
    "{.reg .pred p; .reg .b64 s; cp.async.mbarrier.arrive.noinc.shared.b64 [%0]; W: "
    "mbarrier.try_wait.parity.shared.b64 p, [%0], 0; @!p bra W;}";

void expect_neighbours(const tests::CudaOutcome& outcome, bool every) {
  INFO(outcome.text);
  REQUIRE(outcome.reports.empty());
  for (int i = 0; i < 128; ++i) {
    const int from = (i + 4) % 128;
    CHECK(outcome.words[static_cast<std::size_t>(i)] == (every || from / 4 % 2 == 1 ? from : 0));
  }
}

}  // namespace

TEST_CASE("cp.async delivers its bytes before each kind of wait ends") {
  const SimOptions options{.mode = any_mode()};
  expect_neighbours(run_cuda(copying("", "cp.async.wait_all;"), 32, false, options), true);
  expect_neighbours(
      run_cuda(copying("", "cp.async.commit_group; cp.async.wait_group 0;"), 32, false, options), true);
  expect_neighbours(run_cuda(copying("", wait_mbarrier, ""), 32, false, options), true);
  // Every second thread's copy reads no bytes and writes zeros.
  expect_neighbours(run_cuda(copying(", %2", "cp.async.wait_all;"), 32, false, options), false);
}

TEST_CASE("a read of a cp.async's bytes without a wait is reported") {
  const auto early = run_cuda(copying("", "cp.async.commit_group; cp.async.wait_group 1;"), 32, false);
  REQUIRE_FALSE(early.reports.empty());
  CHECK(early.reports[0].rule == "shared.in-flight-read");
  const auto alone = run_cuda(copying("", "cp.async.commit_group;"), 32, false);
  REQUIRE_FALSE(alone.reports.empty());
  CHECK(alone.reports[0].rule == "shared.in-flight-read");
}

}  // namespace warp_test
