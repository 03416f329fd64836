// A process may end while its threads compile.
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

/// Compiles until the process ends. Any error other than `unavailable` ends the process at once.
void compile_on(std::atomic<int>& refused) {
  for (;;) {
    try {
      (void)compile(custom_source("extern \"C\" __global__ void k() {}", "k"));
    } catch (const Error& error) {
      if (error.code() != ErrorCode::unavailable) ::_exit(2);
      ++refused;
      return;
    }
  }
}

}  // namespace

TEST_CASE("a process can end while its threads compile; their calls then fail as unavailable") {
  skip_unless_threads_can_fork();
  for (int i = 0; i < 4; ++i) {
    ChildProcess child([i]() -> int {
      static std::atomic<int> refused = 0;
      (void)compile(custom_source("extern \"C\" __global__ void k() {}", "k"));
      for (int t = 0; t < 2; ++t) std::thread([] { compile_on(refused); }).detach();
      std::this_thread::sleep_for(std::chrono::milliseconds(7 * i));
      at_process_end.run = [] {
        for (int turn = 0; turn < 1000 && refused < 2; ++turn) std::this_thread::sleep_for(2ms);
        return refused == 2 ? 0 : 3;
      };
      std::exit(4);  // NOLINT(concurrency-mt-unsafe): this test is about exit() with running threads
    });
    CHECK(child.exit_code(30s) == 0);
  }
}
