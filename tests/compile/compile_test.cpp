#include "captured_log.hpp"
#include "compile/options.hpp"
#include "compile/sources.hpp"

#include <tmajit/compile.hpp>
#include <tmajit/error.hpp>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <thread>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

using namespace tmajit;
using Catch::Matchers::ContainsSubstring;
using tests::expression_source;
using tests::kernel_source;
using tests::message_of;

namespace {

ErrorCode code_of(const Source& source, const CompileOptions& options = {}) {
  try {
    (void)compile(source, options);
  } catch (const Error& error) {
    return error.code();
  }
  FAIL("it compiled");
  return ErrorCode::internal;
}

}  // namespace

TEST_CASE("one call gives PTX, a cubin and a report") {
  const auto source = expression_source("x * 2 + float(g[0])");
  const auto artifact = compile(source);
  CHECK(artifact.entry == "tmajit_small");
  CHECK(artifact.source == source.text);
  CHECK_THAT(artifact.ptx, ContainsSubstring(".target sm_90a"));
  CHECK_THAT(artifact.ptx, ContainsSubstring(".entry tmajit_small("));
  CHECK(artifact.ptx.find('\0') == std::string::npos);
  REQUIRE(artifact.cubin.size() > 64);
  CHECK(std::memcmp(artifact.cubin.data(), "\177ELF", 4) == 0);
  CHECK_THAT(artifact.log, ContainsSubstring("Compiling entry function 'tmajit_small' for 'sm_90a'"));
  CHECK(artifact.resources.registers >= 2);
  CHECK(artifact.resources.spill_store_bytes == 0);
  CHECK(artifact.resources.stack_bytes == 0);
}

TEST_CASE("a virtual architecture gives the PTX of the real one, and no cubin") {
  const auto source = expression_source("x * 2 + sinf(x)");
  for (const bool line_info : {true, false}) {
    const auto real = compile(source, {.line_info = line_info});
    const tests::CapturedLog log;
    const auto alone = compile(source, {.arch = "compute_90a", .line_info = line_info});
    CHECK(alone.ptx == real.ptx);
    CHECK(alone.entry == real.entry);
    CHECK(alone.cubin.empty());
    CHECK(alone.resources.registers == 0);
    CHECK(log.text() == "");  // no warning that ptxas gave no report
  }
  CHECK(code_of(expression_source("x +"), {.arch = "compute_90a"}) == ErrorCode::compile_failed);
}

TEST_CASE("reported resources are those of the requested kernel, not of other kernels in the source") {
  const auto source = kernel_source(
      "extern \"C\" __global__ void other(float* o) { __shared__ float s[999]; s[threadIdx.x] = o[0]; "
      "__syncthreads(); o[1] = s[5]; }\n"
      "extern \"C\" __global__ void k(float* o) { __shared__ float s[256]; s[threadIdx.x] = o[0]; "
      "asm volatile(\"bar.sync 3;\"); o[threadIdx.x] = s[255 - threadIdx.x]; }\n");
  const auto report = compile(source).resources;
  CHECK(report.static_shared_bytes == 1024);
  CHECK(report.barriers >= 1);
  CHECK(report.registers > 0);
}

TEST_CASE("spills and stack are reported") {
  const auto source = kernel_source(
      "extern \"C\" __global__ void k(float* o, int n) {\n"
      "  float v[96];\n"
      "  for (int i = 0; i < 96; ++i) v[i] = o[i * n];\n"
      "  __syncthreads();\n"
      "  for (int i = 0; i < 96; ++i) o[i * n] = v[95 - i] * v[(i * 7) % 96];\n"
      "}\n");
  const auto report = compile(source, {.extra = {"-maxrregcount=32"}}).resources;
  CHECK(report.registers <= 32);
  CHECK(report.spill_store_bytes > 0);
  CHECK(report.spill_load_bytes > 0);
  CHECK(report.stack_bytes > 0);
}

TEST_CASE("the PTX has line information if and only if requested") {
  const auto source = expression_source("x + 1");
  CHECK_THAT(compile(source, {.line_info = true}).ptx, ContainsSubstring(".loc"));
  CHECK_THAT(compile(source, {.line_info = true}).ptx, ContainsSubstring("expression\""));
  CHECK_THAT(compile(source, {.line_info = false}).ptx, !ContainsSubstring(".loc"));
}

// NVRTC's option -minimal omits parts of the built-in declarations, but not those that kernels use.
TEST_CASE("the built-in functions that kernels use are declared under -minimal") {
  const std::string expression =
      "sinf(x) + expf(x) + __expf(x) + tanhf(x) + rsqrtf(x) + erff(x) + fmaf(x, x, 1.0f) + fminf(x, 2.0f) + "
      "powf(x, 3.0f) + min(int(x), 3) + float(sqrt(double(x))) + __int_as_float(7) + copysignf(1.0f, x) + "
      "float(__popc(3)) + float(isnan(x)) + fabsf(x) + floorf(x) + log1pf(x)";
  CHECK_NOTHROW(compile(expression_source(expression)));
  CHECK_NOTHROW(compile(kernel_source(
      "extern \"C\" __global__ void k(float* o, unsigned* n) { atomicAdd(o, 1.0f); __threadfence();\n"
      "  o[1] = __shfl_xor_sync(~0u, o[0], 1); n[0] = __ballot_sync(~0u, 1); __nanosleep(5); __syncwarp();\n"
      "  float4 v = make_float4(1, 2, 3, 4); o[2] = v.x; n[1] = unsigned(clock64()); dim3 d(1, 2, 3);\n"
      "  n[2] = d.y; size_t s = sizeof(d); n[3] = unsigned(s); if (o[0] > 3) printf(\"%f\", o[0]); }\n")));
}

TEST_CASE("warnings stay in the log") {
  const auto artifact =
      compile(kernel_source("extern \"C\" __global__ void k(int* o) { int unused; o[0] = 1 / 0; }"));
  CHECK_THAT(artifact.log, ContainsSubstring("division by zero"));
}

TEST_CASE("a source without the requested kernel is refused, and the kernels that it has are named") {
  auto source = kernel_source("extern \"C\" __global__ void other(int*) {}");
  CHECK_THAT(message_of<CompileError>([&] { (void)compile(source); }),
             ContainsSubstring("no kernel \"k\"") && ContainsSubstring("it has other"));
  CHECK_THAT(message_of<CompileError>([&] { (void)compile(source); }), ContainsSubstring("__global__"));
  source.text = "";
  CHECK_THAT(message_of<CompileError>([&] { (void)compile(source); }), ContainsSubstring("none at all"));
}

TEST_CASE("unsupported options are refused before NVRTC runs or by NVRTC") {
  const auto source = expression_source("x");
  CHECK(code_of(source, {.arch = "90a"}) == ErrorCode::invalid_argument);
  CHECK(code_of(source, {.arch = "compute_1"}) == ErrorCode::invalid_argument);
  CHECK(code_of(source, {.arch = "sm_1"}) == ErrorCode::invalid_argument);
  CHECK(code_of(source, {.arch = ""}) == ErrorCode::invalid_argument);
  CHECK(code_of(source, {.extra = {"--no-such-option"}}) == ErrorCode::invalid_argument);
  CHECK_THAT(message_of<Error>([&] { (void)compile(source, {.extra = {"--no-such-option"}}); }),
             ContainsSubstring("--no-such-option"));
  for (const char* option : {"-I/usr/include", "-I", "--include-path=/usr/include", "-include",
                             "-time=/tmp/x", "-dlto", "-dc", "-rdc=true", "-arch=sm_80", "--pch"}) {
    INFO(option);
    CHECK(code_of(source, {.extra = {option}}) == ErrorCode::invalid_argument);
  }
  CHECK_NOTHROW(compile(source, {.extra = {"-use_fast_math", "-DX=1"}}));
}

TEST_CASE("extra options reach NVRTC in order") {
  const auto options = nvrtc_options({}, {.line_info = false, .extra = {"-DA=1", "-UA"}}, compiler());
  REQUIRE(options.size() > 2);
  CHECK(options[options.size() - 2] == "-DA=1");
  CHECK(options.back() == "-UA");
  CHECK(std::find(options.begin(), options.end(), "-lineinfo") == options.end());
  CHECK(std::find(options.begin(), options.end(), "-minimal") != options.end());
}

TEST_CASE("a kernel cannot include a file of the working directory") {
  CHECK(code_of(kernel_source("#include \"CMakeLists.txt\"\nextern \"C\" __global__ void k() {}")) ==
        ErrorCode::compile_failed);
}

TEST_CASE("a source with a zero byte is refused") {
  auto source = expression_source("x");
  source.text += '\0';
  CHECK(code_of(source) == ErrorCode::invalid_argument);
}

TEST_CASE("threads can compile concurrently, with the right results and errors") {
  constexpr int threads = 4;
  std::atomic<int> right{0};
  std::vector<std::thread> workers;
  workers.reserve(threads);
  for (int i = 0; i < threads; ++i) {
    workers.emplace_back([i, &right] {
      for (int k = 0; k < 3; ++k) {
        const auto constant = std::to_string(1000 + i * 10 + k);
        const auto artifact = compile(expression_source("x + int(g[0]) * " + constant));
        right += artifact.ptx.find(constant) != std::string::npos;
        try {
          (void)compile(expression_source("x + unknown_" + constant));
        } catch (const CompileError& error) {
          right += std::string_view(error.what()).find("unknown_" + constant) != std::string_view::npos;
        }
      }
    });
  }
  for (auto& worker : workers) worker.join();
  CHECK(right == 2 * 3 * threads);
}
