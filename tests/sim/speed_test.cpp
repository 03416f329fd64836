/// The simulator's speed, measured and printed; fails only far below what it is built for.
#include "sim/support.hpp"

#include <tmajit/tiles.hpp>

#include <array>
#include <chrono>
#include <iostream>

#include <catch2/generators/catch_generators.hpp>

using namespace tmajit;

namespace {

/// A copy by plain loads and stores, 16 bytes a thread at a time through shared memory.
constexpr const char* copy_body = R"(
.reg .pred %p<4>; .reg .b32 %r<20>; .reg .b64 %rd<20>;
ld.param.u64 %rd1, [p0]; ld.param.u64 %rd2, [p1]; ld.param.u64 %rd3, [p2];
mov.u32 %r1, %tid.x; mov.u32 %r2, %ntid.x; mov.u32 %r3, %ctaid.x; mov.u32 %r4, %nctaid.x;
mad.lo.u32 %r5, %r3, %r2, %r1; mul.lo.u32 %r6, %r4, %r2; cvt.u64.u32 %rd4, %r5; cvt.u64.u32 %rd5, %r6;
shl.b32 %r7, %r1, 4; mov.u32 %r8, smem; add.u32 %r7, %r7, %r8;
setp.ge.u64 %p1, %rd4, %rd3; @%p1 bra E;
L:
shl.b64 %rd6, %rd4, 4; add.u64 %rd7, %rd1, %rd6; add.u64 %rd8, %rd2, %rd6;
ld.global.v4.u32 {%r10, %r11, %r12, %r13}, [%rd7];
st.shared.v4.u32 [%r7], {%r10, %r11, %r12, %r13};
ld.shared.v4.u32 {%r14, %r15, %r16, %r17}, [%r7];
st.global.v4.u32 [%rd8], {%r14, %r15, %r16, %r17};
add.u64 %rd4, %rd4, %rd5; setp.lt.u64 %p1, %rd4, %rd3; @%p1 bra L;
E:
ret;)";

}  // namespace

TEST_CASE("speed of a copy kernel with all checks on, and without looking for races") {
  const bool races = GENERATE(true, false);
  const auto sim = make_sim_device({.races = races, .threads = 1});
  const auto kernel =
      sim->kernels().load(tests::module_of(copy_body, 3, ".extern .shared .align 16 .b8 smem[];\n"));
  constexpr std::uint64_t bytes = 16 << 20;
  const Buffer from(sim, bytes);
  const Buffer to(sim, bytes);
  sim->memory().fill(from.address(), std::byte{3}, bytes, nullptr);
  sim->memory().fill(to.address(), std::byte{4}, bytes, nullptr);  // or the host's page faults would be timed
  std::uint64_t a = from.address();
  std::uint64_t b = to.address();
  std::uint64_t count = bytes / 16;
  void* const parameters[] = {&a, &b, &count};
  const auto start = std::chrono::steady_clock::now();
  kernel->launch({.grid = {8, 1, 1}, .block = {256, 1, 1}, .shared_bytes = 4096}, parameters, nullptr);
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  sim->streams().synchronize(nullptr);
  const double rate = static_cast<double>(sim->thread_instructions()) / seconds / 1e6;
  std::cout << "copy by threads" << (races ? ": " : ", races not looked for: ") << rate
            << " million thread-instructions a second on one core, "
            << static_cast<double>(bytes) / seconds / 1e6 << " MB/s" << std::endl;
  CHECK(rate > 30);
}

TEST_CASE("speed of our own kernels") {
  const bool races = GENERATE(true, false);
  const auto sim = make_sim_device({.races = races, .threads = 1});
  Runtime runtime({.device = sim, .cache_directory = std::nullopt});
  const auto view = TensorView::contiguous(ElementType::f32, {1024, 1024});
  const Buffer in(sim, view.span_bytes());
  const Buffer out(sim, view.span_bytes());
  sim->memory().fill(in.address(), std::byte{0}, view.span_bytes(), nullptr);
  TileRequest copying{
      .family = "copy", .destination = {view, out.address()}, .sources = {{view, in.address()}}};
  TileRequest computing = copying;
  computing.family = "map";
  computing.expression = "x * 2 + 1";
  for (const TileRequest& request : {copying, computing}) {
    const KernelPlan plan = plan_tiles(request);
    const Kernel kernel = runtime.kernel(plan);
    const std::uint64_t before = sim->thread_instructions();
    const auto start = std::chrono::steady_clock::now();
    kernel.launch(plan);
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    sim->streams().synchronize(nullptr);
    const double rate = static_cast<double>(sim->thread_instructions() - before) / seconds / 1e6;
    std::cout << request.family << " of 4 MiB" << (races ? ": " : ", races not looked for: ") << seconds * 1e3
              << " ms, " << rate << " million thread-instructions a second on one core" << std::endl;
    CHECK(seconds < 10);
  }
}
