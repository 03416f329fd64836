/// malloc and free in kernels: their results, and mistakes with allocated blocks.
#include "ptx_alone.hpp"
#include "sim/cuda_support.hpp"
#include "sim/support.hpp"

#include <tmajit/codegen.hpp>

#include <numeric>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <spdlog/fmt/fmt.h>

namespace heap_test {

using namespace tmajit;
using Catch::Matchers::ContainsSubstring;
using tests::run_cuda;

namespace {

/// Runs a kernel with this body, in which `i` is the thread's index, and `shelf` an array of pointers in
/// global memory.
tests::CudaOutcome run_body(const std::string& body, std::uint32_t threads = 64,
                            const SimOptions& options = {}) {
  return run_cuda(
      "__device__ int* shelf[64];\nextern \"C\" __global__ void k(int* out) {\n  const int i = "
      "threadIdx.x;\n" +
          body + "\n}\n",
      threads, false, options);
}

void expect_only(const tests::CudaOutcome& outcome, const std::string& rule, const std::string& found) {
  INFO(outcome.text);
  REQUIRE(outcome.reports.size() == 1);
  CHECK(outcome.reports[0].rule == rule);
  CHECK(outcome.reports[0].ptx_line != 0);
  CHECK_THAT(outcome.reports[0].found, ContainsSubstring(found));
}

}  // namespace

TEST_CASE("a thread and other threads can use the blocks that it allocates") {
  const auto outcome = run_body(R"(
  char* odd = static_cast<char*>(malloc(3));
  int* mine = static_cast<int*>(malloc(4 * (i + 1)));
  out[64 + i] = (reinterpret_cast<unsigned long long>(mine) | reinterpret_cast<unsigned long long>(odd)) % 16;
  for (int j = 0; j <= i; ++j) mine[j] = i * j;
  odd[2] = i;
  shelf[i] = mine;
  __syncthreads();
  const int other = 63 - i;
  int sum = 0;
  for (int j = 0; j <= other; ++j) sum += shelf[other][j];
  out[i] = sum + odd[2];
  __syncthreads();
  free(shelf[other]);
  free(odd);
  free(nullptr);
  out[128 + i] = malloc(0) == nullptr && malloc(size_t{1} << 40) == nullptr;)");
  INFO(outcome.text);
  CHECK(outcome.reports.empty());
  for (int i = 0; i < 64; ++i) {
    const int other = 63 - i;
    CHECK(outcome.words[static_cast<std::size_t>(i)] == other * other * (other + 1) / 2 + i);
    CHECK(outcome.words[static_cast<std::size_t>(64 + i)] == 0);
    CHECK(outcome.words[static_cast<std::size_t>(128 + i)] == 1);
  }
}

TEST_CASE("freed memory is reused by any thread") {
  // At any time 64 threads have up to 4 MiB; in all they allocate 512 MiB. Only the heap orders the accesses
  // of blocks at the same address.
  const auto outcome = run_body(R"(
  int sum = 0;
  for (int round = 0; round < 128; ++round) {
    int* const block = static_cast<int*>(malloc(65536 - 64 * (round % 3)));
    if (block == nullptr) break;
    *block = round;
    block[100] = 1;
    sum += *block + block[100];
    free(block);
  }
  out[i] = sum;)");
  INFO(outcome.text);
  CHECK(outcome.reports.empty());
  for (std::size_t i = 0; i < 64; ++i) CHECK(outcome.words[i] == 127 * 128 / 2 + 128);
}

TEST_CASE("misuse of a block is reported with the threads that allocated and freed it") {
  const std::string allocate = "int* const mine = static_cast<int*>(malloc(16));\n  *mine = 3;\n";
  const auto read_after = run_body(allocate + "free(mine);\n  if (i == 3) out[i] = *(volatile int*)mine;");
  expect_only(read_after, "heap.use-after-free", "the block of 16 bytes at");
  CHECK_THAT(read_after.reports[0].found,
             ContainsSubstring("has been freed by thread (3, 0, 0) of CTA (0, 0, 0) at PTX line"));
  expect_only(run_body(allocate + "free(mine);\n  if (i == 1) free(mine);"), "heap.double-free",
              "has been freed by thread (1, 0, 0)");
  expect_only(run_body(allocate + "if (i == 2) free(mine + 1);\n  free(mine);"), "heap.free",
              "begins 4 bytes earlier");
  expect_only(run_body(allocate + "free(mine);\n  if (i == 2) free(out);"), "heap.free",
              "of the allocation of");
  expect_only(run_body(allocate + "if (i == 7) mine[4] = 5;\n  free(mine);"), "global.out-of-bounds",
              "ends 0 bytes earlier");
  expect_only(run_body(allocate + "if (i == 7) mine[2000] = 5;\n  free(mine);"), "global.out-of-bounds",
              "allocated by thread (");
  const auto null = run_body("int* const all = static_cast<int*>(malloc(9 << 20));\n  if (i == 0) *all = 1;");
  expect_only(null, "global.out-of-bounds", "malloc gave null: the heap has 8388608 bytes");
  const auto more =
      run_body("int* const all = static_cast<int*>(malloc(9 << 20));\n  if (i == 0) *all = 1;\n  free(all);",
               1, {.heap_bytes = 16 << 20});
  CHECK(more.reports.empty());
}

TEST_CASE("freeing a block that another thread still uses is reported") {
  const std::string shared =
      "if (i == 0) { shelf[0] = static_cast<int*>(malloc(256)); shelf[0][40] = 8; }\n  __syncthreads();\n"
      "  int* const block = shelf[0];\n  if (i == 40) out[0] = block[40];\n";
  const auto raced = run_body(shared + "  if (i == 0) free(block);");
  INFO(raced.text);
  REQUIRE(raced.reports.size() == 1);
  CHECK((raced.reports[0].rule == "heap.use-after-free" ||
         raced.reports[0].rule == "race.global-read-write" ||
         raced.reports[0].rule == "race.global-write-read"));
  CHECK(run_body(shared + "  __syncthreads();\n  if (i == 0) free(block);").reports.empty());
}

TEST_CASE("a block to which no pointer is left is reported as leaked") {
  const std::string allocate =
      "int* const mine = static_cast<int*>(malloc(16));\n  *mine = 3;\n  out[i] = *mine;\n";
  const auto lost = run_body(allocate, 5);
  expect_only(lost, "heap.leak", "16 bytes at");
  CHECK(lost.reports[0].count == 5);
  CHECK(lost.reports[0].instruction.find("malloc") != std::string::npos);
  CHECK(run_body(allocate + "free(mine);").reports.empty());
  CHECK(run_body(allocate + "shelf[i] = mine;").reports.empty());
  // One list whose head has a pointer in global memory, and one without.
  const std::string list =
      "int** const first = static_cast<int**>(malloc(8));\n  *first = static_cast<int*>(malloc(4));\n  "
      "**first = 1;\n";
  CHECK(run_body(list + "shelf[i] = reinterpret_cast<int*>(first);").reports.empty());
  CHECK(run_body(list + "shelf[i] = nullptr;").reports.size() == 2);
}

TEST_CASE("blocks can be used by later launches") {
  const std::string source = R"(
extern "C" __global__ void k(int** out, int what) {
  if (what == 0) { *out = static_cast<int*>(malloc(400)); (*out)[99] = 7; }
  if (what == 1) (*out)[0] = (*out)[99] + 1;
  if (what == 2) { int* const block = *out; *out = reinterpret_cast<int*>(1ll * block[0]); free(block); }
  if (what == 3) **out = 1;
})";
  const auto device = make_sim_device({.threads = 1});
  const auto kernel =
      device->kernels().load(compile(custom_source(source, "k", "test.cu"), tests::ptx_alone));
  const Buffer buffer(device, 8);
  std::uint64_t address = buffer.address();
  const auto launch = [&](int what) {
    void* const parameters[] = {&address, &what};
    kernel->launch({.grid = {1, 1, 1}, .block = {1, 1, 1}}, parameters, nullptr);
    std::uint64_t word = 0;
    device->memory().copy_out(std::as_writable_bytes(std::span(&word, 1)), address, nullptr);
    return word;
  };
  const std::uint64_t block = launch(0);
  CHECK(launch(1) == block);
  CHECK(launch(2) == 8);
  CHECK(device->reports().empty());
  device->memory().copy_in(address, std::as_bytes(std::span(&block, 1)), nullptr);
  (void)launch(3);
  REQUIRE(device->reports().size() == 1);
  CHECK(device->reports()[0].rule == "heap.use-after-free");
}

}  // namespace heap_test
