// prefetch(): kernels are made in the background, with progress, errors and cancellation.
#include "captured_log.hpp"
#include "ops/serve_fixture.hpp"
#include "runtime/background_threads.hpp"
#include "runtime/child_process.hpp"

#include <tmajit/counters.hpp>
#include <tmajit/prefetch.hpp>

#include <mutex>
#include <set>
#include <thread>

#include <catch2/catch_test_macros.hpp>

namespace prefetch_test {

using namespace tests;
using namespace std::chrono_literals;

/// Copies of different element sizes and alignments, whose kernels differ.
std::vector<Operation> copies() {
  std::vector<Operation> operations;
  for (const ElementType type : {ElementType::u8, ElementType::bf16, ElementType::f32, ElementType::f64}) {
    operations.push_back(operation::permute(Tensor::contiguous(type, {300, 500}, ServeFixture::to_address),
                                            Tensor::contiguous(type, {500, 300}, ServeFixture::from_address),
                                            {1, 0}));
  }
  return operations;
}

TEST_CASE("prefetched kernels are in memory, and each reports its progress") {
  const ServeFixture fixture;
  const Runtime runtime = fixture.runtime(WhenMissing::compile);
  const std::vector<Operation> operations = copies();
  std::mutex mutex;
  std::set<std::size_t> seen;
  const Prefetch made =
      prefetch(runtime, operations, {.threads = 3, .progress = [&](const PrefetchProgress& now) {
                                       const std::lock_guard lock(mutex);
                                       CHECK(now.total == 4);
                                       CHECK_FALSE(now.kernel.empty());
                                       CHECK(now.error.empty());
                                       seen.insert(now.done);
                                     }});
  made.wait();
  CHECK(made.done() == 4);
  CHECK(made.made() == 4);
  CHECK(made.failures().empty());
  CHECK(seen == std::set<std::size_t>{1, 2, 3, 4});
  for (const KernelRecord& kernel : history(runtime)) CHECK(name(kernel.made_by) == "prefetch");
  CHECK(fake_compiler.compiles == 4);
  for (const Operation& operation : operations) (void)plan(runtime, operation);
  CHECK(fake_compiler.compiles == 4);
  CHECK(fixture.device->loaded() == 4);
}

TEST_CASE("a caller who needs a prefetched kernel waits for the same compile") {
  const ServeFixture fixture;
  const Runtime runtime = fixture.runtime(WhenMissing::compile);
  fake_compiler.blocked = true;
  const Operation operation = ServeFixture::transposition();
  const Prefetch made = prefetch(runtime, {operation});
  REQUIRE(eventually([] { return fake_compiler.started == 1; }));
  std::jthread caller([&] { (void)plan(runtime, operation); });
  CHECK_FALSE(made.wait_for(20ms));
  fake_compiler.unblock();
  caller.join();
  CHECK(made.wait_for(30s));
  CHECK(fake_compiler.compiles == 1);
}

TEST_CASE("a cancelled prefetch completes the kernels that are being made, and makes no other") {
  const ServeFixture fixture;
  const Runtime runtime = fixture.runtime(WhenMissing::compile);
  fake_compiler.blocked = true;
  const Prefetch made = prefetch(runtime, copies());
  REQUIRE(eventually([] { return fake_compiler.started == 2; }));
  made.cancel();
  fake_compiler.unblock();
  made.wait();
  CHECK(made.done() == 4);
  CHECK(made.made() == 2);
  CHECK(made.failures().empty());
  CHECK(fake_compiler.started == 2);
}

TEST_CASE("errors are collected for each kernel") {
  const ServeFixture fixture;
  for (const WhenMissing when : {WhenMissing::compile, WhenMissing::refuse}) {
    fake_compiler.reset();
    fake_compiler.fails = true;
    const Runtime runtime = fixture.runtime(when);
    const Prefetch made = prefetch(runtime, copies());
    made.wait();
    CHECK(made.made() == 0);
    REQUIRE(made.failures().size() == 4);
    const std::string error = made.failures()[3].error;
    const bool refused = when == WhenMissing::refuse;
    CHECK((error.find("WhenMissing::refuse") != std::string::npos) == refused);
    CHECK((error.find("the fake compiler refuses") != std::string::npos) == !refused);
    CHECK(fake_compiler.started == (refused ? 0 : 4));
  }
}

TEST_CASE("a prefetch without a handle keeps its runtime until it ends") {
  const ServeFixture fixture;
  fake_compiler.blocked = true;
  (void)prefetch(fixture.runtime(WhenMissing::compile), copies());
  fake_compiler.unblock();
  const Runtime next = fixture.runtime();
  for (const Operation& operation : copies())
    CHECK(eventually([&] { return ReadyKernels(next).has(fixture.wanted(operation)); }));
  CHECK(eventually([&] { return fixture.device->kernels_alive() == 0; }));
}

TEST_CASE("an illegal operation is refused before any kernel is made") {
  const ServeFixture fixture;
  const Tensor tensor = Tensor::contiguous(ElementType::f32, {64}, ServeFixture::to_address);
  Operation overlapping = ServeFixture::transposition();
  overlapping.moves.front().destination = tensor;
  CHECK_THROWS_AS(prefetch(fixture.runtime(), {ServeFixture::transposition(), overlapping}), SpecError);
  CHECK(fake_compiler.started == 0);
}

TEST_CASE("a forked child makes the kernels that its parent was making and those that were waiting") {
  skip_unless_threads_can_fork();
  const ServeFixture fixture;
  const Runtime runtime = fixture.runtime(WhenMissing::compile);
  fake_compiler.blocked = true;
  const Prefetch made = prefetch(runtime, copies());
  REQUIRE(eventually([] { return fake_compiler.started == 2; }));
  ChildProcess child([&] {
    fake_compiler.unblock();
    made.wait();
    return made.made() == 4 ? 0 : 1;
  });
  CHECK(child.exit_code(30s) == 0);
  CHECK(made.made() == 0);
  fake_compiler.unblock();
  made.wait();
  CHECK(made.made() == 4);
}

TEST_CASE("the end of a process waits for the kernel that is being made, and begins no other") {
  skip_unless_threads_can_fork();
  const ServeFixture fixture;
  ChildProcess child([&]() -> int {
    static const Runtime runtime = fixture.runtime(WhenMissing::compile);
    fake_compiler.blocked = true;
    (void)prefetch(runtime, copies(), {.threads = 1});
    if (!eventually([] { return fake_compiler.started >= 2; })) return 2;
    std::thread([] {
      if (eventually(&BackgroundThreads::process_ends)) fake_compiler.unblock();
    }).detach();
    std::exit(0);  // NOLINT(concurrency-mt-unsafe): the subject of this test
  });
  CHECK(child.exit_code(30s) == 0);
  const Runtime next = fixture.runtime();
  const std::vector<Operation> operations = copies();
  const auto made = std::ranges::count_if(operations, [&](const Operation& operation) {
    return ReadyKernels(next).has(fixture.wanted(operation));
  });
  CHECK(made == 2);
}

}  // namespace prefetch_test
