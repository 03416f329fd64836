/// Calls of functions: as NVRTC compiles them, with register parameters, and recursive. Also printf and
/// assert.
#include "sim/cuda_support.hpp"
#include "sim/text_kernel.hpp"

#include <catch2/generators/catch_generators_all.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

namespace call_test {

using namespace tmajit;
using Catch::Matchers::ContainsSubstring;
using tests::run_cuda;

TEST_CASE("functions that are not inlined can be called, with and without -G") {
  const bool debug = GENERATE(false, true);
  const auto outcome = run_cuda(R"(
struct Pair { int a; double b; };
__device__ __noinline__ int triple(int x) { return 3 * x; }
__device__ __noinline__ Pair swap(Pair p, char add) { return {static_cast<int>(p.b) + add, p.a * 0.5}; }
__device__ __noinline__ int both(int x) {
  Pair p = swap({x, 4.0}, 2);
  return triple(p.a) + static_cast<int>(2 * p.b);
}
extern "C" __global__ void k(int* out) {
  int x = threadIdx.x;
  if (x % 3 == 0) x = both(x);
  else if (x % 3 == 1) x = triple(x + 100);
  out[threadIdx.x] = x + triple(1);
})",
                                64, debug);
  INFO(outcome.text);
  REQUIRE(outcome.reports.empty());
  for (int i = 0; i < 64; ++i) {
    const int x = i % 3 == 0 ? 18 + i : i % 3 == 1 ? 3 * (i + 100) : i;
    CHECK(outcome.words[static_cast<std::size_t>(i)] == x + 3);
  }
}

TEST_CASE("recursive calls do not overwrite the outer calls' variables in local memory") {
  const bool debug = GENERATE(false, true);
  const auto outcome = run_cuda(R"(
__device__ __noinline__ int walk(int n, int* sum) {
  int mine[4];
  for (int i = 0; i < 4; ++i) mine[i] = n + i;
  if (n > 1) { *sum += walk(n - 1, &mine[1]); if (n % 2) *sum += walk(n - 2, &mine[2]); }
  return mine[0] + mine[1] + mine[2] + mine[3];
}
extern "C" __global__ void k(int* out) {
  int sum = 0;
  int first = walk(threadIdx.x % 9, &sum);
  out[threadIdx.x] = first * 100000 + sum;
})",
                                64, debug);
  const auto walk = [](const auto& self, int n, int* sum) -> int {
    int mine[4];
    for (int i = 0; i < 4; ++i) mine[i] = n + i;
    if (n > 1) {
      *sum += self(self, n - 1, &mine[1]);
      if (n % 2 != 0) *sum += self(self, n - 2, &mine[2]);
    }
    return mine[0] + mine[1] + mine[2] + mine[3];
  };
  INFO(outcome.text);
  REQUIRE(outcome.reports.empty());
  for (int i = 0; i < 64; ++i) {
    int sum = 0;
    const int first = walk(walk, i % 9, &sum);
    CHECK(outcome.words[static_cast<std::size_t>(i)] == first * 100000 + sum);
  }
}

TEST_CASE("two functions can call each other") {
  const auto outcome = run_cuda(R"(
__device__ int odd(int n);
__device__ __noinline__ int even(int n) { return n == 0 ? 1 : odd(n - 1); }
__device__ __noinline__ int odd(int n) { return n == 0 ? 0 : even(n - 1) + 0; }
extern "C" __global__ void k(int* out) { out[threadIdx.x] = even(threadIdx.x); })",
                                32, true);
  INFO(outcome.text);
  REQUIRE(outcome.reports.empty());
  for (std::size_t i = 0; i < 32; ++i) CHECK(outcome.words[i] == (i % 2 == 0 ? 1 : 0));
}

TEST_CASE("an endless recursion is reported") {
  const auto outcome = run_cuda(R"(
__device__ __noinline__ int down(int n, volatile int* p) { p[0] = n; return down(n + 1, p) + n; }
extern "C" __global__ void k(int* out) { out[threadIdx.x] = down(1, out); })",
                                32, true);
  REQUIRE(outcome.reports.size() == 1);
  CHECK(outcome.reports[0].rule == "call.depth");
}

TEST_CASE("functions can contain warp operations and barriers") {
  const auto outcome = run_cuda(R"(
__device__ __noinline__ int total(int x) {
  for (int d = 16; d > 0; d /= 2) x += __shfl_xor_sync(~0u, x, d);
  __syncthreads();
  return x;
}
extern "C" __global__ void k(int* out) {
  __shared__ int sums[2];
  int t = total(threadIdx.x);
  if (threadIdx.x % 32 == 0) sums[threadIdx.x / 32] = t;
  out[threadIdx.x] = total(1) + sums[threadIdx.x / 32];
})",
                                64, GENERATE(false, true));
  INFO(outcome.text);
  REQUIRE(outcome.reports.empty());
  CHECK(outcome.words[0] == 32 + 496);
  CHECK(outcome.words[63] == 32 + 1520);
}

TEST_CASE("parameters and results of functions can be registers") {
  const auto sim = make_sim_device({.threads = 1});
  const auto kernel = sim->kernels().load(tests::module_of(
      ".reg .b32 %r<9>;\n.reg .b64 %rd<3>;\n.reg .pred %p<2>;\nld.param.u64 %rd1, [p0];\nmov.u32 %r1, "
      "%tid.x;\n"
      "mul.wide.u32 %rd2, %r1, 4;\nadd.u64 %rd1, %rd1, %rd2;\n"
      "call (%r2), weigh, (%r1, 7);\nsetp.lt.u32 %p1, %r1, 4;\n@%p1 call (%r2), sum, (%r1);\n"
      "call nothing;\nst.global.u32 [%rd1], %r2;\nret;",
      1,
      ".func (.reg .b32 r) weigh (.reg .b32 a, .reg .b32 b)\n{\nmul.lo.u32 r, a, b;\nret;\n}\n"
      ".func nothing ()\n{\n}\n"
      // 1 + … + n, by recursion.
      ".func (.reg .b32 r) sum (.reg .b32 n)\n{\n.reg .pred %q; .reg .b32 %m, %s;\nmov.u32 r, 0;\n"
      "setp.eq.u32 %q, n, 0;\n@%q ret;\nsub.u32 %m, n, 1;\ncall (%s), sum, (%m);\nadd.u32 r, %s, "
      "n;\nret;\n}\n"));
  const Buffer buffer(sim, 32ULL * 4);
  std::uint64_t address = buffer.address();
  void* const parameters[] = {&address};
  kernel->launch({.grid = {1, 1, 1}, .block = {32, 1, 1}}, parameters, nullptr);
  sim->streams().synchronize(nullptr);
  std::vector<std::uint32_t> words(32);
  sim->memory().copy_out(std::as_writable_bytes(std::span(words)), address, nullptr);
  for (std::uint32_t i = 0; i < 32; ++i) CHECK(words[i] == (i < 4 ? i * (i + 1) / 2 : 7 * i));
}

TEST_CASE("printf prints its arguments and returns their number") {
  std::string printed;
  const auto outcome = run_cuda(R"(
extern "C" __global__ void k(int* out) {
  int n = printf("%d %5.2f|%-6s|%c%% %llx %u %p\n", -3, 2.5, "text", 'z', 0x123456789abcull, 4000000000u, (void*)16);
  out[threadIdx.x] = n;
})",
                                1, false, {.print = [&](std::string_view text) { printed += text; }});
  INFO(outcome.text);
  REQUIRE(outcome.reports.empty());
  CHECK(printed == "-3  2.50|text  |z% 123456789abc 4000000000 0x10\n");
  CHECK(outcome.words[0] ==
        7);  // printf returns the number of arguments, as on a GPU; in C it returns the number of characters
}

TEST_CASE("printf aligns left for a negative width that is an argument, and returns 0 without arguments") {
  std::string printed;
  const auto outcome = run_cuda(R"(
extern "C" __global__ void k(int* out) {
  out[threadIdx.x] = 10 * printf("[%*d]\n", -5, 3) + printf("x\n");
})",
                                1, false, {.print = [&](std::string_view text) { printed += text; }});
  REQUIRE(outcome.reports.empty());
  CHECK(printed == "[3    ]\nx\n");
  CHECK(outcome.words[0] == 20);
}

TEST_CASE("a failed assert is reported and stops the kernel") {
  const auto outcome = run_cuda(R"(
extern "C" __global__ void k(int* out) {
  if (threadIdx.x == 5) __assertfail("out != nullptr", "file.cu", 12, "k", 1);
  out[threadIdx.x] = 1;
})",
                                32, false);
  REQUIRE(outcome.reports.size() == 1);
  CHECK(outcome.reports[0].rule == "trap");
  CHECK(outcome.reports[0].thread[0] == 5);
  CHECK(outcome.reports[0].found == "assertion `out != nullptr' failed in k, file.cu:12");
}

TEST_CASE("unsupported calls are refused") {
  const auto refusal = [](const std::string& body, const std::string& before) {
    return tests::refusal(tests::module_of(body, 1, before));
  };
  const std::string f = ".func f () { ret; }\n";
  CHECK(refusal(".reg .b64 %rd1;\nmov.u64 %rd1, f;\nP: .callprototype _ ();\ncall %rd1, (), P;\nret;", f)
            .empty());
  CHECK_THAT(
      refusal(".reg .b64 %rd1;\n.reg .b32 %r1;\nmov.u64 %rd1, g;\nP: .callprototype (.reg .b32 _) _ ();\n"
              "call (%r1), %rd1, (), P;\nret;",
              ".func (.reg .b32 x) g () { mov.b32 x, 3; ret; }\n"),
      ContainsSubstring("a result in a register"));
  CHECK_THAT(refusal("call malloc_of_mine;\nret;", ".extern .func malloc_of_mine ();\n"),
             ContainsSubstring("malloc_of_mine, which has no body"));
  CHECK_THAT(refusal("call f, (1);\nret;", f), ContainsSubstring("number of arguments"));
}

TEST_CASE("functions can be called by pointers: virtual, from tables in memory, and recursively") {
  const bool debug = GENERATE(false, true);
  const auto outcome = run_cuda(R"(
struct Base {
  int k = 3;
  __device__ virtual int f(int x) const { return x + 1; }
  __device__ virtual int g(int x) const = 0;
};
struct A : Base {
  __device__ int f(int x) const override { return 2 * x + k; }
  __device__ int g(int x) const override { return x * x; }
};
struct B : Base { __device__ int g(int x) const override { return -x; } };
using Op = int (*)(int, int);
__device__ __noinline__ int add(int a, int b) { return a + b; }
__device__ __noinline__ int mul(int a, int b) { return a * b; }
__device__ int power(int a, int n);
__device__ Op table[3] = {add, mul, power};
__constant__ Op constants[2] = {mul, add};
__device__ __noinline__ int power(int a, int n) { return n == 0 ? 1 : a * table[2](a, n - 1); }
extern "C" __global__ void k(int* out) {
  A a;
  B b;
  const int x = threadIdx.x;
  const Base* p = x & 1 ? static_cast<const Base*>(&a) : &b;
  int sum = p->f(x) + 100 * p->g(x) + constants[x / 16](5, 7);
  if (x != 9) sum += 1000 * table[x % 2](3, x);
  if (x % 4 == 0) sum += table[2](2, x / 4);
  out[x] = sum;
})",
                                32, debug);
  INFO(outcome.text);
  REQUIRE(outcome.reports.empty());
  for (int x = 0; x < 32; ++x) {
    int sum = (x & 1) != 0 ? 2 * x + 3 + 100 * x * x : x + 1 - 100 * x;
    sum += x / 16 != 0 ? 12 : 35;
    if (x != 9) sum += 1000 * (x % 2 != 0 ? 3 * x : 3 + x);
    if (x % 4 == 0) sum += 1 << x / 4;
    CHECK(outcome.words[static_cast<std::size_t>(x)] == sum);
  }
}

TEST_CASE("an indirect call of an address that is no function is reported") {
  const std::string f = ".func f () { ret; }\n";
  const auto sim = make_sim_device();
  const auto kernel = sim->kernels().load(tests::module_of(
      ".reg .b64 %rd<3>;\nmov.u64 %rd1, f;\nld.param.u64 %rd2, [p0];\nT: .calltargets f;\ncall %rd1, T;\n"
      "call %rd2, T;\nret;",
      1, f));
  std::uint64_t nothing = 0;
  void* const parameters[] = {&nothing};
  kernel->launch({.grid = {1, 1, 1}, .block = {1, 1, 1}}, parameters, nullptr);
  CHECK(tests::rules(*sim) == std::vector<std::string>{"call.target"});
}

TEST_CASE("initial values can contain addresses of variables, whole or byte by byte") {
  const auto outcome = tests::text::run(
      tests::text::registers +
          "mov.u64 %rd2, pointers;\nld.global.u64 %rd3, [%rd2];\nld.global.u32 %r6, [%rd3];\nst.global.u32 "
          "[%rd1], %r6;\n"
          "mov.u64 %rd2, bytes;\nld.global.u64 %rd3, [%rd2];\nld.u32 %r6, [%rd3];\nst.global.u32 [%rd1+4], "
          "%r6;\nret;",
      {.grid = 1, .cluster = 1, .block = 1},
      ".global .align 8 .u64 pointers[1] = {values+4};\n.global .align 4 .u32 values[3] = {5, 6, 7};\n"
      ".global .align 8 .b8 bytes[8] = {0xFF(generic_of), 0xFF00(generic_of), 0xFF0000(generic_of), "
      "0xFF000000(generic_of), 0xFF00000000(generic_of), 0xFF0000000000(generic_of), "
      "0xFF000000000000(generic_of), "
      "0xFF00000000000000(generic_of)};\n.global .align 4 .u32 generic_of = 9;\n");
  tests::text::expect_clean(outcome);
  CHECK(outcome.words[0] == 6);
  CHECK(outcome.words[1] == 9);
}

}  // namespace call_test
