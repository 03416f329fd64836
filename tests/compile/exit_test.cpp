// Tests that a process may exit while its threads compile.
#include "at_process_end.hpp"
#include "runtime/child_process.hpp"

#include <tmajit/codegen.hpp>
#include <tmajit/compile.hpp>
#include <tmajit/error.hpp>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <thread>

#include <catch2/catch_test_macros.hpp>

using namespace tmajit;
using namespace std::chrono_literals;

namespace {

tests::AtProcessEnd at_process_end;

// Exit codes of the child process; 0 is a success.
constexpr int wrong_error = 2;
constexpr int thread_still_compiles = 3;
constexpr int check_not_run = 4;

void compile_empty_kernel() {
  (void)compile(custom_source("extern \"C\" __global__ void k() {}", "k"));
}

/// Compiles until compile() throws `unavailable`, as it does once the process exits; then counts the thread
/// in `stopped_threads`. Any other error ends the process at once.
void compile_until_unavailable(std::atomic<int>& stopped_threads) {
  for (;;) {
    try {
      compile_empty_kernel();
    } catch (const Error& error) {
      if (error.code() != ErrorCode::unavailable) ::_exit(wrong_error);
      ++stopped_threads;
      return;
    }
  }
}

}  // namespace

TEST_CASE("a process can exit while its threads compile; further compiles fail as unavailable") {
  skip_unless_threads_can_fork();
  for (int i = 0; i < 4; ++i) {
    ChildProcess child([i]() -> int {
      static std::atomic<int> stopped_threads = 0;
      compile_empty_kernel();  // loads NVRTC, which registers exit handlers
      for (int t = 0; t < 2; ++t) std::thread([] { compile_until_unavailable(stopped_threads); }).detach();
      // Each child exits at a different moment of its threads' compiles.
      std::this_thread::sleep_for(std::chrono::milliseconds(7 * i));
      // ~AtProcessEnd() runs this function, and ends the process with its result.
      at_process_end.run = [] {
        for (int polls = 0; polls < 1000 && stopped_threads < 2; ++polls) std::this_thread::sleep_for(2ms);
        return stopped_threads == 2 ? 0 : thread_still_compiles;
      };
      std::exit(check_not_run);  // NOLINT(concurrency-mt-unsafe): the subject of this test
    });
    CHECK(child.exit_code(30s) == 0);
  }
}
