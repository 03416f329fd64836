#include "runtime/child_process.hpp"

#include <tmajit/codegen.hpp>
#include <tmajit/compile.hpp>

#include <atomic>
#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include <catch2/catch_test_macros.hpp>

using namespace tmajit;
using namespace std::chrono_literals;

namespace {

/// A source that takes NVRTC some time to compile.
Source long_source(int number) {
  std::string text = "extern \"C\" __global__ void k(float* x) {";
  for (int i = 0; i < 40; ++i) {
    text += "x[" + std::to_string(number + i) + "] = __sinf(x[" + std::to_string(3 * i) + "]);";
  }
  return custom_source(text + "}", "k");
}

/// Forks children that compile while threads of this process compile. Returns how many children failed.
int failures(int children) {
  std::atomic<int> number = 0;
  std::vector<std::jthread> threads(3);
  for (std::jthread& thread : threads) {
    thread = std::jthread([&](const std::stop_token& stop) {
      while (!stop.stop_requested()) (void)compile(long_source(++number), {});
    });
  }
  int failed = 0;
  for (int i = 0; i < children; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(i * 7 % 20));
    ChildProcess child([] { return compile(long_source(0), {}).cubin.empty() ? 1 : 0; });
    failed += child.exit_code(30s) != 0;
  }
  return failed;
}

}  // namespace

TEST_CASE("children that are forked while NVRTC compiles can compile") {
  skip_unless_threads_can_fork();
  CHECK(failures(8) == 0);
}

// ctest runs this test in a process of its own, which has not loaded NVRTC before.
TEST_CASE("children that are forked while NVRTC is loaded can compile") {
  skip_unless_threads_can_fork();
  std::vector<std::jthread> threads(2);
  for (std::jthread& thread : threads) thread = std::jthread([] { (void)compiler(); });
  std::vector<ChildProcess> children;
  for (int i = 0; i < 4; ++i) {
    children.emplace_back([] { return compile(long_source(0), {}).cubin.empty() ? 1 : 0; });
    std::this_thread::sleep_for(1ms);
  }
  for (auto& child : children) CHECK(child.exit_code(30s) == 0);
}
