/// Tests every kind of happens-before edge by a kernel with the edge and a kernel without it. The first must
/// have no report, and the second must have a report, in whatever order warps and copies run.
#include "ptx_alone.hpp"
#include "sim/support.hpp"

#include <tmajit/codegen.hpp>

#include <algorithm>

#include <catch2/matchers/catch_matchers_string.hpp>

namespace race_test {

using namespace tmajit;
using Catch::Matchers::ContainsSubstring;

namespace {

using Rules = std::vector<std::string>;

constexpr const char* prelude = R"(
#include "tmajit/bulk.cuh"
#include "tmajit/bulk_group.cuh"
#include "tmajit/fence.cuh"
#include "tmajit/mbarrier.cuh"
#include "tmajit/shared_memory.cuh"
#include "tmajit/sync.cuh"
using namespace tmajit;
namespace mbarrier = ptx::mbarrier;
__device__ void arrive_relaxed(u32 barrier) {
  asm volatile("mbarrier.arrive.relaxed.cta.shared::cta.b64 _, [%0];" ::"r"(barrier) : "memory");
}
__device__ bool try_wait_relaxed(u32 barrier, u32 parity) {
  u32 done;
  asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.relaxed.cta.shared::cta.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }"
               : "=r"(done) : "r"(barrier), "r"(parity) : "memory");
  return done;
}
__device__ void store_release(u32* at, u32 value) {
  asm volatile("st.release.gpu.global.u32 [%0], %1;" ::"l"(__cvta_generic_to_global(at)), "r"(value) : "memory");
}
__device__ void store_relaxed(u32* at, u32 value) {
  asm volatile("st.relaxed.gpu.global.u32 [%0], %1;" ::"l"(__cvta_generic_to_global(at)), "r"(value) : "memory");
}
__device__ u32 load_acquire(u32* at) {
  u32 value;
  asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(value) : "l"(__cvta_generic_to_global(at)) : "memory");
  return value;
}
__device__ u32 load_relaxed(u32* at) {
  u32 value;
  asm volatile("ld.relaxed.gpu.global.u32 %0, [%1];" : "=r"(value) : "l"(__cvta_generic_to_global(at)) : "memory");
  return value;
}
// Starts a load of `bytes` bytes that completes on the current phase of `barrier`.
__device__ void start_load(void* to, const void* from, u32 bytes, u32 barrier) {
  mbarrier::arrive_expect_tx(barrier, bytes);
  ptx::bulk_load(ptx::shared_address(to), from, bytes, barrier);
}
)";

struct Shape {
  std::uint32_t grid = 1;
  std::uint32_t block = 64;
  std::uint32_t threads = 1;        ///< host threads
  std::uint64_t limit = 1'000'000;  ///< limit on executed instructions
};

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
  return text;
}

std::string text_of(const std::vector<Report>& reports) {
  std::string text;
  for (const Report& report : reports) text += report.text() + "\n";
  return text;
}

/// Runs a kernel in every mode with several seeds, and calls `look` with the reports of each run.
void run_all(const std::string& body, const Shape& shape,
             const std::function<void(const std::vector<Report>&)>& look, bool races = true) {
  const Artifact artifact = compile(
      custom_source(
          std::string(prelude) + "extern \"C\" __global__ void k(u32* in, u32* out) {\n" + body + "}\n", "k"),
      tests::ptx_alone);
  constexpr std::uint64_t bytes = 1 << 16;
  for (const auto mode : {SimOptions::Mode::late, SimOptions::Mode::early, SimOptions::Mode::random}) {
    for (const std::uint64_t seed : {1, 2, 3}) {
      const auto sim = make_sim_device({.mode = mode,
                                        .seed = seed,
                                        .races = races,
                                        .threads = shape.threads,
                                        .instruction_limit = shape.limit});
      const auto kernel = sim->kernels().load(artifact);
      const Buffer in(sim, bytes);
      const Buffer out(sim, bytes);
      sim->memory().fill(in.address(), std::byte{0}, bytes, nullptr);
      sim->memory().fill(out.address(), std::byte{0}, bytes, nullptr);
      std::uint64_t from = in.address();
      std::uint64_t to = out.address();
      void* const parameters[] = {&from, &to};
      kernel->launch({.grid = {shape.grid, 1, 1}, .block = {shape.block, 1, 1}, .shared_bytes = 32 * 1024},
                     parameters, nullptr);
      CAPTURE(static_cast<int>(mode), seed, body);
      look(sim->reports());
    }
  }
}

/// Checks that the kernel has no report.
void correct(const std::string& body, const Shape& shape = {}) {
  run_all(body, shape, [](const std::vector<Report>& reports) {
    INFO(text_of(reports));
    CHECK(reports.empty());
  });
}

/// Checks that the kernel has a report of one of the rules in every run.
void broken(const std::string& body, const Rules& rules, const Shape& shape = {}) {
  run_all(body, shape, [&](const std::vector<Report>& reports) {
    INFO(text_of(reports));
    CHECK(std::ranges::any_of(
        reports, [&](const Report& report) { return std::ranges::find(rules, report.rule) != rules.end(); }));
  });
}

/// Checks that the kernel has no report if EDGE in `body` is replaced by `with`, and a report of one of
/// `rules` with `without`.
void edge(const std::string& body, const std::string& with, const std::string& without, const Rules& rules,
          const Shape& shape = {}) {
  correct(replaced(body, "EDGE", with), shape);
  broken(replaced(body, "EDGE", without), rules, shape);
}

}  // namespace

TEST_CASE("races: a CTA's barrier orders the accesses of its threads") {
  edge("__shared__ u32 s[64]; const u32 t = threadIdx.x; s[t] = t; EDGE; out[t] = s[(t + 33) % 64];",
       "__syncthreads()", "", {"race.shared-write-read", "shared.uninitialised"});
  edge(
      "__shared__ u32 s[64]; const u32 t = threadIdx.x; s[t] = t; __syncthreads();\n"
      "const u32 v = s[(t + 33) % 64]; EDGE; s[t] = v;",
      "__syncthreads()", "", {"race.shared-read-write"});
  edge("__shared__ u32 s[64]; const u32 t = threadIdx.x; s[t] = t; EDGE; s[63 - t] = 1; out[t] = s[63 - t];",
       "__syncthreads()", "", {"race.shared-write-write"});
  // A barrier of half the threads does not order them with the other half.
  edge("__shared__ u32 s[128]; const u32 t = threadIdx.x; s[t] = t; EDGE; out[t] = s[(t + 65) % 128];",
       "__syncthreads()", "if (t < 64) ptx::sync_threads<1, 64>(); else ptx::sync_threads<2, 64>()",
       {"race.shared-write-read", "shared.uninitialised"}, {.block = 128});
  // An arrive releases, and a sync acquires and releases. A thread that only arrives acquires nothing.
  const std::string arrive = "asm volatile(\"barrier.cta.arrive.aligned 1, 64;\" ::: \"memory\")";
  const std::string sync = "ptx::sync_threads<1, 64>()";
  const std::string text =
      "__shared__ u32 s[32]; const u32 t = threadIdx.x;\n"
      "if (t < 32) { s[t] = t; FIRST; } else { SECOND; out[t] = s[t - 32]; }";
  correct(replaced(replaced(text, "FIRST", arrive), "SECOND", sync));
  broken(replaced(replaced(text, "FIRST", sync), "SECOND", arrive),
         {"race.shared-write-read", "shared.uninitialised"});
}

TEST_CASE("races: __syncwarp orders the accesses of the lanes in its mask") {
  edge("__shared__ u32 s[32]; const u32 t = threadIdx.x; s[t] = t; EDGE; out[t] = s[t ^ 1];", "__syncwarp()",
       "", {"race.shared-write-read"}, {.block = 32});
  // Lanes outside the mask are not synchronised.
  edge("__shared__ u32 s[32]; const u32 t = threadIdx.x; s[t] = t; EDGE; out[t] = s[t ^ 16];", "__syncwarp()",
       "if (t < 16) __syncwarp(0xffff); else __syncwarp(0xffff0000)",
       {"race.shared-write-read", "shared.uninitialised"}, {.block = 32});
  correct(
      "__shared__ u32 s[32]; const u32 t = threadIdx.x; s[t] = t;\n"
      "if (t < 16) __syncwarp(0xffff); else __syncwarp(0xffff0000);\nout[t] = s[t ^ 8];",
      {.block = 32});
  // The accesses of one thread are ordered without synchronisation, at any stride.
  correct(
      "__shared__ u32 s[256]; const u32 t = threadIdx.x; for (u32 i = 0; i < 8; ++i) s[(t * 5 % 32) * 8 + i] "
      "= t;\n"
      "u32 sum = 0; for (u32 i = 0; i < 8; ++i) sum += s[(t * 5 % 32) * 8 + 7 - i]; out[t] = sum;",
      {.block = 32});
}

TEST_CASE("races: accesses of adjacent bytes do not race") {
  correct(
      "__shared__ u8 s[64]; const u32 t = threadIdx.x; s[t] = t; out[blockIdx.x * 64 + t] = s[t];\n"
      "u8* bytes = reinterpret_cast<u8*>(in) + 64 * blockIdx.x; bytes[t] = 1;",
      {.grid = 3});
  broken("u8* bytes = reinterpret_cast<u8*>(in) + 63 * blockIdx.x; bytes[threadIdx.x] = 1;",
         {"race.global-write-write"}, {.grid = 3});
}

TEST_CASE("races: an mbarrier orders accesses before an arrival and after a wait") {
  const std::string start =
      "__shared__ u64 storage; __shared__ u32 s[32]; const u32 bar = ptx::shared_address(&storage);\n"
      "const u32 t = threadIdx.x; if (t == 0) { mbarrier::init(bar, 32); ptx::fence_mbarrier_init(); }\n"
      "__syncthreads();\n";
  const Rules unordered{"race.shared-write-read", "shared.uninitialised"};
  edge(start + "if (t < 32) { s[t] = t; EDGE; } else { mbarrier::wait(bar, 0); out[t] = s[t - 32]; }",
       "mbarrier::arrive(bar)", "arrive_relaxed(bar)", unordered);
  edge(start + "if (t < 32) { s[t] = t; mbarrier::arrive(bar); } else { EDGE; out[t] = s[t - 32]; }",
       "mbarrier::wait(bar, 0)", "while (!try_wait_relaxed(bar, 0)) {}", unordered);
  edge(start + "if (t < 32) { s[t] = t; EDGE; } else { mbarrier::wait(bar, 0); out[t] = s[t - 32]; }",
       "__threadfence_block(); arrive_relaxed(bar)", "arrive_relaxed(bar); __threadfence_block()", unordered);
  // One lane waits; the other lanes must synchronise with it.
  edge(start +
           "if (t < 32) { s[t] = t; mbarrier::arrive(bar); }\n"
           "else { if (t == 32) mbarrier::wait(bar, 0); EDGE; out[t] = s[t - 32]; }",
       "__syncwarp()", "", unordered);
}

TEST_CASE("races: an mbarrier's init must be ordered before other threads' uses of it") {
  edge(
      "__shared__ u64 storage; const u32 bar = ptx::shared_address(&storage);\n"
      "if (threadIdx.x == 0) { mbarrier::init(bar, 64); ptx::fence_mbarrier_init(); }\n"
      "EDGE; mbarrier::arrive(bar); mbarrier::wait(bar, 0);",
      "__syncthreads()", "", {"race.mbarrier", "mbarrier.uninitialised"});
  edge(
      "__shared__ u64 storage; const u32 bar = ptx::shared_address(&storage);\n"
      "if (threadIdx.x == 0) { mbarrier::init(bar, 64); ptx::fence_mbarrier_init(); }\n"
      "__syncthreads(); mbarrier::arrive(bar); mbarrier::wait(bar, 0); EDGE;\n"
      "if (threadIdx.x == 0) mbarrier::invalidate(bar);",
      "__syncthreads()", "", {"race.mbarrier", "mbarrier.uninitialised", "deadlock"});
}

namespace {

/// A kernel of 64 threads with two mbarriers. `full` takes one arrival, by the thread that loads, and `empty`
/// takes as many as `readers` says.
std::string pipeline(const std::string& readers, const std::string& body) {
  return "__shared__ u64 storage[2]; __shared__ __align__(128) u32 stage[64];\n"
         "const u32 full = ptx::shared_address(&storage[0]), empty = ptx::shared_address(&storage[1]);\n"
         "const u32 t = threadIdx.x;\n"
         "if (t == 0) { mbarrier::init(full, 1); mbarrier::init(empty, " +
         readers + "); ptx::fence_mbarrier_init(); }\n__syncthreads();\n" + body;
}

}  // namespace

TEST_CASE("races: reads of a bulk load's bytes must follow a wait for it") {
  const Rules unordered{"race.shared-write-read", "shared.in-flight-read"};
  edge(pipeline("1", "if (t == 0) start_load(stage, in, 256, full);\nEDGE; out[t] = stage[t];"),
       "mbarrier::wait(full, 0)", "__syncthreads(); if (t == 0) mbarrier::wait(full, 0)", unordered);
  edge(pipeline("1",
                "if (t == 0) { start_load(stage, in, 256, full); mbarrier::wait(full, 0); }\nEDGE; out[t] = "
                "stage[t];"),
       "__syncthreads()", "__syncwarp()", unordered);
  edge(pipeline("1",
                "if (t == 0) { start_load(stage, in, 256, full); EDGE; }\nmbarrier::wait(full, 0); if (t == "
                "0) in[3] = 1;"),
       "", "in[3] = 1", {"race.global-read-write"});
}

TEST_CASE("races: a new load into a stage must follow a wait for its readers' arrivals") {
  const Rules unordered{"race.shared-read-write", "shared.in-flight-read", "load.overlap"};
  const std::string twice =
      "for (u32 n = 0; n < 3; ++n) {\n"
      "  if (t == 0) { EDGE start_load(stage, in, 256, full); }\n"
      "  if (t >= 32) { mbarrier::wait(full, n & 1); out[t] = stage[t - 32]; ARRIVE; }\n"
      "  else if (t == 0) mbarrier::wait(full, n & 1);\n}";
  const std::string wait = "mbarrier::wait(empty, n & 1 ^ 1);";
  const auto arriving = [&](const std::string& how) { return replaced(twice, "ARRIVE", how); };
  // Without the wait, in mode early loads may get ahead of the readers, which then miss phases.
  edge(pipeline("32", arriving("mbarrier::arrive(empty)")), wait, "",
       {"race.shared-read-write", "shared.in-flight-read", "load.overlap", "deadlock"});
  // There is a wait, but the arrivals have no release semantics, or are too few.
  broken(pipeline("32", replaced(arriving("arrive_relaxed(empty)"), "EDGE", wait)), unordered);
  broken(pipeline("1", replaced(arriving("if (t == 32) mbarrier::arrive(empty)"), "EDGE", wait)), unordered);
  correct(
      pipeline("1", replaced(arriving("__syncwarp(); if (t == 32) mbarrier::arrive(empty)"), "EDGE", wait)));
}

TEST_CASE("races: writes to a bulk store's source must precede it, or follow a wait and a barrier") {
  const std::string text =
      "__shared__ __align__(128) u32 s[64]; const u32 t = threadIdx.x; s[t] = t;\n"
      "ptx::fence_proxy_async_shared(); BEFORE;\n"
      "if (t == 0) { ptx::bulk_store(out, ptx::shared_address(s), 256); ptx::commit_group(); WAIT; }\n"
      "AFTER; s[t] = 7; __syncthreads(); if (t == 0) ptx::wait_group<0>();";
  const auto with = [&](const std::string& before, const std::string& wait, const std::string& after) {
    return replaced(replaced(replaced(text, "BEFORE", before), "WAIT", wait), "AFTER", after);
  };
  const Rules reused{"race.shared-read-write", "shared.overwritten-before-store-read"};
  correct(with("__syncthreads()", "ptx::wait_group_read<0>()", "__syncthreads()"));
  correct(with("__syncthreads()", "ptx::wait_group<0>()", "__syncthreads()"));
  broken(with("__syncthreads()", "", "__syncthreads()"), reused);
  broken(with("__syncthreads()", "ptx::wait_group_read<0>()", "__syncwarp()"), reused);
  broken(with("__syncthreads()", "ptx::wait_group_read<1>()", "__syncthreads()"), reused);
  broken(with("__syncwarp()", "ptx::wait_group_read<0>()", "__syncthreads()"),
         {"race.shared-write-read", "store.uninitialised"});
}

TEST_CASE("races: accesses of a bulk store's destination must follow a wait for its completion") {
  edge(
      "__shared__ __align__(128) u32 s[64]; const u32 t = threadIdx.x; s[t] = t;\n"
      "ptx::fence_proxy_async_shared(); __syncthreads();\n"
      "if (t == 0) { ptx::bulk_store(out, ptx::shared_address(s), 256); ptx::commit_group(); EDGE; }\n"
      "__syncthreads(); in[t] = out[63 - t]; if (t == 0) ptx::wait_group<0>();",
      "ptx::wait_group<0>()", "ptx::wait_group_read<0>()", {"race.global-write-read"});
  // The stores of two CTAs overlap by 16 bytes, with and without alignment to cache lines.
  for (const char* offset : {"0", "4"}) {
    edge(
        "__shared__ __align__(128) u32 s[64]; const u32 t = threadIdx.x; s[t] = t;\n"
        "ptx::fence_proxy_async_shared(); __syncthreads();\n"
        "if (t == 0) { ptx::bulk_store(out + " +
            std::string(offset) +
            " + blockIdx.x * EDGE, ptx::shared_address(s), 256); ptx::commit_group(); ptx::wait_group<0>(); "
            "}",
        "64", "60", {"race.global-write-write"}, {.grid = 2});
  }
}

TEST_CASE("races: global accesses race without a barrier in a CTA, and always between CTAs") {
  edge("const u32 t = threadIdx.x; out[t] = t; EDGE; in[t] = out[t ^ 32];", "__syncthreads()", "",
       {"race.global-write-read"});
  edge("out[EDGE * 16 + threadIdx.x] = 1;", "blockIdx.x * 4", "blockIdx.x * 3", {"race.global-write-write"},
       {.grid = 4});
  // In mode random either access may come first.
  const Rules either{"race.global-write-read", "race.global-read-write"};
  broken("if (blockIdx.x == 0) out[threadIdx.x] = 1; else in[threadIdx.x] = out[threadIdx.x];", either,
         {.grid = 2});
  broken("if (blockIdx.x == 1) out[threadIdx.x] = 1; else in[threadIdx.x] = out[threadIdx.x];", either,
         {.grid = 2});
  // Launches on a stream are ordered: run_all() fills the memory before it launches.
  correct("out[blockIdx.x * 64 + threadIdx.x] = in[threadIdx.x];", {.grid = 4});
}

TEST_CASE("races: plain updates of one word race, and atomic ones do not") {
  edge(
      "__shared__ u32 bins[4]; const u32 t = threadIdx.x; if (t < 4) bins[t] = 0; __syncthreads();\n"
      "EDGE; __syncthreads(); if (t < 4) atomicAdd(&out[t], bins[t]);",
      "atomicAdd(&bins[t % 4], 1)", "bins[t % 4] += 1", {"race.shared-read-write", "race.shared-write-read"},
      {.grid = 2});
  edge("EDGE;", "atomicAdd(&out[threadIdx.x % 8], 1)", "out[threadIdx.x % 8] += 1",
       {"race.global-read-write", "race.global-write-read"}, {.grid = 2});
  broken("if (threadIdx.x < 32) atomicAdd(out, 1); else in[threadIdx.x] = out[0];",
         {"race.global-write-read", "race.global-read-write"});
}

TEST_CASE("races: a flag orders CTAs if it is released and acquired at a sufficient scope") {
  const Rules unordered{"race.global-write-read"};
  // CTA 1 waits for CTA 0's flag.
  const std::string flag =
      "const u32 t = threadIdx.x; u32* const flag = in + 1024;\n"
      "if (blockIdx.x == 0) { out[t] = t; __syncthreads(); if (t == 0) RELEASE; }\n"
      "else { if (t == 0) { ACQUIRE; } __syncthreads(); in[t] = out[t]; }";
  const auto with = [&](const std::string& release, const std::string& acquire) {
    return replaced(replaced(flag, "RELEASE", release), "ACQUIRE", acquire);
  };
  const std::string relaxed_wait = "while (load_relaxed(flag) == 0) {}";
  const Shape two{.grid = 2};
  correct(with("store_release(flag, 1)", "while (load_acquire(flag) == 0) {}"), two);
  broken(with("store_relaxed(flag, 1)", "while (load_acquire(flag) == 0) {}"), unordered, two);
  broken(with("store_release(flag, 1)", relaxed_wait), unordered, two);
  correct(with("{ __threadfence(); store_relaxed(flag, 1); }", relaxed_wait + " __threadfence()"), two);
  correct(with("{ __threadfence(); *(volatile u32*)flag = 1; }",
               "while (*(volatile u32*)flag == 0) {} __threadfence()"),
          two);
  broken(with("{ __threadfence_block(); store_relaxed(flag, 1); }", relaxed_wait + " __threadfence()"),
         unordered, two);
  broken(with("{ __threadfence(); store_relaxed(flag, 1); }", relaxed_wait + " __threadfence_block()"),
         unordered, two);
}

TEST_CASE("races: fences on both sides of a counter order the last CTA's reads after all CTAs' writes") {
  const std::string text =
      "__shared__ u32 last; const u32 t = threadIdx.x; out[blockIdx.x * 64 + t] = t; __syncthreads();\n"
      "if (t == 0) { EDGE; last = atomicAdd(in + 1024, 1) == gridDim.x - 1; SEEN; }\n"
      "__syncthreads(); if (last) { u32 sum = 0; for (u32 i = 0; i < gridDim.x; ++i) sum += out[i * 64 + t]; "
      "in[t] = sum; }";
  edge(replaced(text, "SEEN", "__threadfence()"), "__threadfence()", "", {"race.global-write-read"},
       {.grid = 6});
  broken(replaced(replaced(text, "SEEN", ""), "EDGE", "__threadfence()"), {"race.global-write-read"},
         {.grid = 6});
}

TEST_CASE("races: an access that depends on a counter is ordered, with any number of host threads") {
  const Shape both{.grid = 2, .block = 32, .threads = 2, .limit = 1'000'000'000};
  // Both CTAs reach each counter at the same time.
  const std::string all =
      "if (threadIdx.x != 0) return; u32* const met = in + 8'000;\n"
      "for (u32 i = 0; i < 1'000; ++i) {\n"
      "atomicAdd(met, 1); while (load_relaxed(met) < 2 * (i + 1)) {}\n";
  correct(all + "__threadfence(); if (atomicAdd(in + i, 1) == 1) { __threadfence(); in[i] = 0; } }", both);
  correct(all +
              "if (blockIdx.x == 0) store_release(in + i, 1);\n"
              "else { while (load_acquire(in + i) == 0) {} in[i] = 0; } }",
          both);
}

TEST_CASE("races: fences around shared atomics order the accesses of a CTA's threads") {
  edge(
      "__shared__ u32 flag; __shared__ u32 s[32]; const u32 t = threadIdx.x; if (t == 0) flag = 0; "
      "__syncthreads();\n"
      "if (t < 32) { s[t] = t; __syncwarp(); if (t == 0) { EDGE; atomicExch(&flag, 1); } }\n"
      "else { while (atomicAdd(&flag, 0) == 0) {} __threadfence_block(); out[t] = s[t - 32]; }",
      "__threadfence_block()", "", {"race.shared-write-read", "shared.uninitialised"});
}

TEST_CASE("a race report names both accesses, and race detection can be switched off") {
  const std::string body =
      "__shared__ u32 s[64]; const u32 t = threadIdx.x; s[t] = t; __syncthreads();\n"
      "if (t == 40) s[3] = 1; if (t == 5) out[0] = s[3];";
  std::size_t seen = 0;
  run_all(body, {}, [&](const std::vector<Report>& reports) {
    REQUIRE(reports.size() == 1);
    const Report& report = reports[0];
    INFO(report.text());
    const bool read_last = report.rule == "race.shared-write-read";
    CHECK((read_last || report.rule == "race.shared-read-write"));
    CHECK(report.thread == std::array<std::uint32_t, 3>{read_last ? 5U : 40U, 0, 0});
    CHECK(report.ptx_line > 0);
    CHECK_THAT(report.found, ContainsSubstring("thread (5, 0, 0)") &&
                                 ContainsSubstring("thread (40, 0, 0)") && ContainsSubstring("ld.shared") &&
                                 ContainsSubstring("st.shared"));
    ++seen;
  });
  CHECK(seen == 9);
  run_all(
      body, {}, [](const std::vector<Report>& reports) { CHECK(reports.empty()); }, false);
}

TEST_CASE(
    "races: cp.async needs a wait and a barrier, and the barrier of a cluster of one CTA is a barrier") {
  const std::string text =
      "__shared__ u64 storage; __shared__ u32 s[64]; const u32 bar = ptx::shared_address(&storage);\n"
      "const u32 t = threadIdx.x; if (t == 0) { mbarrier::init(bar, 64); ptx::fence_mbarrier_init(); }\n"
      "__syncthreads(); asm volatile(\"cp.async.ca.shared.global [%0], [%1], 4;\" "
      "::\"r\"(ptx::shared_address(s + t)),\n"
      "\"l\"(__cvta_generic_to_global(in + t)) : \"memory\");\nEDGE; out[t] = s[63 - t];";
  edge(text,
       "asm volatile(\"cp.async.mbarrier.arrive.noinc.shared::cta.b64 [%0];\" ::\"r\"(bar) : \"memory\"); "
       "mbarrier::wait(bar, 0)",
       "asm volatile(\"cp.async.wait_all;\" ::: \"memory\")",
       {"race.shared-write-read", "shared.uninitialised", "shared.in-flight-read"});
  edge("__shared__ u32 s[64]; const u32 t = threadIdx.x; s[t] = t; EDGE; out[t] = s[63 - t];",
       "asm volatile(\"barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;\" ::: \"memory\")", "",
       {"race.shared-write-read", "shared.uninitialised"});
}

TEST_CASE("races: fence.sc orders threads that synchronise with one that changes or reads a counter") {
  // Thread 0 reads the counter and then synchronises with the other threads before they execute the fence …
  const std::string start =
      "__shared__ u32 n; const u32 t = threadIdx.x; out[64 + blockIdx.x * 64 + t] = t;\n";
  const std::string sum = "in[t] = out[64 + t] + out[128 + (t + 33) % 64];";
  edge(start + "__syncthreads(); if (t == 0) { __threadfence(); n = atomicAdd(out, 1); } __syncthreads();\n" +
           "if (n == 1) { EDGE; " + sum + " }",
       "__threadfence()", "asm volatile(\"fence.acq_rel.gpu;\" ::: \"memory\")", {"race.global-write-read"},
       {.grid = 2});
  // … or synchronises with them after the fence and then changes the counter.
  edge(start + "EDGE; __syncthreads(); if (t == 0) n = atomicAdd(out, 1); __syncthreads();\n" +
           "if (n == 1) { __threadfence(); " + sum + " }",
       "__threadfence()", "asm volatile(\"fence.acq_rel.gpu;\" ::: \"memory\")", {"race.global-write-read"},
       {.grid = 2});
}

TEST_CASE("races: a relaxed wait for a load needs a fence after it") {
  edge(
      "__shared__ alignas(16) u32 s[64]; __shared__ u64 storage; const u32 t = threadIdx.x;\n"
      "const u32 bar = ptx::shared_address(&storage);\n"
      "if (t == 0) { mbarrier::init(bar, 1); ptx::fence_mbarrier_init(); start_load(s, in, 256, bar); }\n"
      "__syncthreads(); while (!try_wait_relaxed(bar, 0)) {} EDGE; out[t] = s[t];",
      "__threadfence_block()", "", {"race.shared-write-read"});
}

}  // namespace race_test
