// WhenMissing: a kernel that is there is served, and the planned one replaces it between two calls; or the
// request is refused.
#include "captured_log.hpp"
#include "error_of.hpp"
#include "lib/allocations.hpp"
#include "ops/serve_fixture.hpp"
#include "runtime/companion.hpp"

#include <tmajit/counters.hpp>
#include <tmajit/fusion.hpp>

#include <algorithm>
#include <set>
#include <string>
#include <thread>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

namespace serve_test {

using namespace tests;
using Catch::Matchers::ContainsSubstring;

Operation sum_of_rows(ElementType type) {
  return operation::reduce(Tensor::contiguous(type, {512}, ServeFixture::to_address),
                           {.op = ReductionOp::sum, .axes = {1}},
                           {Tensor::contiguous(type, {512, 4096}, ServeFixture::from_address)});
}

TEST_CASE("a kernel that is there runs at once, and the planned one replaces it between two calls") {
  const ServedTransposition fixture;
  const Operation& operation = fixture.operation;
  fake_compiler.blocked = true;
  const Runtime runtime = fixture.runtime();
  const Plan move = plan(runtime, operation);
  const std::span<const Kernel> kernels = move.kernels();
  const std::vector<DevicePtr> to{ServeFixture::to_address + 4096};
  const std::vector<DevicePtr> from{ServeFixture::from_address + 4096};
  move();
  move(to, from);
  CHECK(move.plans()[0].choice() == fixture.served.choice());
  CHECK(fixture.device->launched() == std::vector{0, 0});
  CHECK(fake_compiler.compiles == 1);
  fake_compiler.unblock();
  REQUIRE(eventually([&] { return counters(runtime).swaps == 1; }));
  CHECK(move.plans()[0].choice() == fixture.wanted(operation).choice());
  CHECK(move.explain().steps.at(0).choice == move.plans()[0].choice().text());
  CHECK(kernels[0].key() != move.kernels()[0].key());  // the served kernel still exists
  const std::size_t before = allocations();
  move();
  move(to, from);
  CHECK(allocations() == before);
  CHECK(fixture.device->launched() == std::vector{0, 0, 1, 1});
  CHECK(fake_compiler.compiles == 2);
  CHECK(counters(runtime).served == 1);
  CHECK(counters(runtime).waited == 0);
  const std::vector<KernelRecord> made = history(runtime);
  REQUIRE(made.size() == 2);
  CHECK(name(made[0].made_by) == "caller");
  CHECK(name(made[1].made_by) == "swap");
}

TEST_CASE("calls in one line are served and swapped, too") {
  const ServedTransposition fixture;
  const Operation& operation = fixture.operation;
  fake_compiler.blocked = true;
  const Runtime runtime = fixture.runtime();
  const auto call = [&] {
    permute(runtime, operation.destinations.front(), operation.sources.front(), {1, 0});
  };
  call();
  call();
  fake_compiler.unblock();
  REQUIRE(eventually([&] { return counters(runtime).swaps == 1; }));
  call();
  CHECK(fixture.device->launched() == std::vector{0, 0, 1});
}

TEST_CASE("each class of addresses is served and swapped by itself") {
  const ServedTransposition fixture;
  const Operation& operation = fixture.operation;
  const Operation shifted = ServeFixture::transposition(4);
  fixture.keep(fixture.other(shifted));
  fake_compiler.blocked = true;
  const Runtime runtime = fixture.runtime();
  const Plan move = plan(runtime, operation);
  const auto call_shifted = [&] { move({ServeFixture::to_address + 4}, {ServeFixture::from_address + 4}); };
  move();
  call_shifted();
  CHECK(counters(runtime).served == 2);
  fake_compiler.unblock();
  REQUIRE(eventually([&] { return counters(runtime).swaps == 2; }));
  const std::size_t before = allocations();
  call_shifted();
  move();
  CHECK(allocations() == before);
  const std::vector<int> launched = fixture.device->launched();
  CHECK(std::ranges::find(launched.begin(), launched.begin() + 2, launched[2]) == launched.begin() + 2);
  CHECK(std::ranges::find(launched.begin(), launched.begin() + 2, launched[3]) == launched.begin() + 2);
  CHECK(launched[2] != launched[3]);
}

TEST_CASE("without a kernel to serve the caller waits for the compiler") {
  const ServeFixture fixture;
  const Runtime runtime = fixture.runtime();
  const Plan move = plan(runtime, ServeFixture::transposition());
  CHECK(move.plans()[0].choice() == fixture.wanted(ServeFixture::transposition()).choice());
  CHECK(counters(runtime).waited == 1);
  CHECK(counters(runtime).served == 0);
  CHECK(fake_compiler.compiles == 1);
}

TEST_CASE("a sum of floating-point numbers is served only if another rounding is allowed") {
  for (const ElementType type : {ElementType::f32, ElementType::i32}) {
    const ServeFixture fixture;
    const Operation operation = sum_of_rows(type);
    fixture.keep(fixture.other(operation));
    const Runtime strict = fixture.runtime();
    (void)plan(strict, operation);
    const bool is_exact = type == ElementType::i32;
    CHECK(counters(strict).served == (is_exact ? 1 : 0));
    CHECK(counters(strict).waited == (is_exact ? 0 : 1));
  }
  const ServeFixture fixture;
  fixture.keep(fixture.other(sum_of_rows(ElementType::f32)));
  RuntimeOptions options = fixture.options(WhenMissing::serve);
  options.allow_other_rounding = true;
  const Runtime lenient = make_runtime(options, FakeCompiler::toolchain());
  const Plan sum = plan(lenient, sum_of_rows(ElementType::f32));
  CHECK(counters(lenient).served == 1);
  CHECK(eventually([&] { return counters(lenient).swaps == 1; }));
}

TEST_CASE("without background threads a plan keeps the kernel that it was served") {
  const ServedTransposition fixture;
  const Operation& operation = fixture.operation;
  RuntimeOptions options = fixture.options(WhenMissing::serve);
  options.background_compiles = 0;
  const Runtime runtime = make_runtime(options, FakeCompiler::toolchain());
  const Plan move = plan(runtime, operation);
  move();
  CHECK(counters(runtime).served == 1);
  CHECK(fake_compiler.started == 1);
}

TEST_CASE("a kernel that cannot be made is logged once, and the served one stays") {
  const ServedTransposition fixture;
  const Operation& operation = fixture.operation;
  fake_compiler.fails = true;
  const Runtime runtime = fixture.runtime();
  const CapturedLog log;
  const Plan move = plan(runtime, operation);
  REQUIRE(eventually([&] { return log.lines() == 1; }));
  CHECK_THAT(log.text(), ContainsSubstring("the fake compiler refuses"));
  const Plan again = plan(runtime, operation);
  move();
  again();
  CHECK(move.plans()[0].choice() == fixture.served.choice());
  CHECK(fake_compiler.started == 2);
  CHECK(log.lines() == 1);
}

TEST_CASE("the kernel of a plan that is destroyed is made for later plans") {
  const ServedTransposition fixture;
  const Operation& operation = fixture.operation;
  fake_compiler.blocked = true;
  const Runtime runtime = fixture.runtime();
  (void)plan(runtime, operation);
  fake_compiler.unblock();
  REQUIRE(eventually([&] { return ReadyKernels(runtime).has(fixture.wanted(operation)); }));
  const Plan later = plan(runtime, operation);
  CHECK(later.plans()[0].choice() == fixture.wanted(operation).choice());
  CHECK(counters(runtime).swaps == 0);
}

TEST_CASE("a runtime that is destroyed while its kernel is made waits for nothing, and the kernel is kept") {
  const ServedTransposition fixture;
  const Operation& operation = fixture.operation;
  const Operation shifted = ServeFixture::transposition(4);
  fixture.keep(fixture.other(shifted));
  fake_compiler.blocked = true;
  {
    RuntimeOptions options = fixture.options(WhenMissing::serve);
    options.background_compiles = 1;
    const Runtime runtime = make_runtime(options, FakeCompiler::toolchain());
    plan(runtime, operation)();
    REQUIRE(eventually([&] { return fake_compiler.started == 3; }));
    plan(runtime, shifted)();  // its kernel waits for the thread, and is dropped
  }
  fake_compiler.unblock();
  const Runtime next = fixture.runtime();
  CHECK(eventually([&] { return ReadyKernels(next).has(fixture.wanted(operation)); }));
  CHECK(eventually([&] { return fixture.device->kernels_alive() == 0; }));
  CHECK_FALSE(ReadyKernels(next).has(fixture.wanted(shifted)));
}

TEST_CASE("threads that call a plan while it is swapped launch one kernel each call") {
  constexpr int threads = 16;
  constexpr int calls = 300;
  const ServedTransposition fixture;
  const Operation& operation = fixture.operation;
  fake_compiler.blocked = true;
  const Runtime runtime = fixture.runtime();
  const Plan move = plan(runtime, operation);
  {
    std::vector<std::jthread> running;
    running.reserve(threads);
    for (int t = 0; t < threads; ++t) {
      running.emplace_back([&, t] {
        for (int i = 0; i < calls; ++i) {
          const DevicePtr shift = 4096 * static_cast<DevicePtr>(i % 3);
          if (t % 2 == 0) move();
          if (t % 2 == 1) move({ServeFixture::to_address + shift}, {ServeFixture::from_address + shift});
          (void)move.plans()[0].choice();
          if (t == 0 && i == calls / 3) fake_compiler.unblock();
          if (i == calls / 2) (void)eventually([&] { return counters(runtime).swaps == 1; });
        }
      });
    }
  }
  const std::vector<int> launched = fixture.device->launched();
  CHECK(launched.size() == threads * calls);
  CHECK(std::ranges::count(launched, 1) >= threads * (calls / 2 - 1));
  CHECK(std::ranges::count(launched, 0) >= calls / 3);
}

TEST_CASE("a trial's kernels are made in the background, and calls launch the default one meanwhile") {
  const ServeFixture fixture;
  const Operation operation = ServeFixture::transposition();
  fixture.keep(fixture.wanted(operation));
  fake_compiler.blocked = true;
  RuntimeOptions options = fixture.options(WhenMissing::serve);
  options.improve = {.candidates = 3, .timed_calls = 1, .min_predicted_us = 0};
  const Runtime runtime = make_runtime(options, FakeCompiler::toolchain());
  const Plan move = plan(runtime, operation);
  for (int i = 0; i < 20; ++i) move();
  CHECK(fixture.device->launched() == std::vector<int>(20, 0));
  fake_compiler.unblock();
  CHECK(eventually([&] {
    move();
    return fixture.device->loaded() >= 3;
  }));
  for (const KernelRecord& made : history(runtime))
    CHECK(name(made.made_by) == (made.level == CacheLevel::disk ? "caller" : "trial"));
}

TEST_CASE("a missing kernel is refused without a compiler, with the facts in which the nearest one differs") {
  const ServeFixture fixture;
  const Operation operation = ServeFixture::transposition();
  const Runtime empty = fixture.runtime(WhenMissing::refuse);
  const Error nothing = tests::error_of([&] { return plan(empty, operation); });
  CHECK(nothing.code() == ErrorCode::missing_kernel);
  CHECK_THAT(nothing.what(), ContainsSubstring("no other kernel that can do this is there either") &&
                                 ContainsSubstring("it has no key"));
  CHECK(fake_compiler.asked == 0);

  const KernelPlan wanted = fixture.wanted(operation);
  const std::vector<KernelPlan> candidates = plan_candidates(operation.moves.front(), fixture.planning());
  for (const KernelPlan& other : candidates) {
    if (other.key() == wanted.key()) continue;
    std::set<std::string> choices;  // of the same kernel
    for (const KernelPlan& one : candidates)
      if (one.key() == other.key()) choices.insert(one.choice().text());
    const ServeFixture one;
    one.keep(other);
    fake_compiler.asked = 0;
    const Runtime runtime = one.runtime(WhenMissing::refuse);
    try {
      (void)plan(runtime, operation);
      FAIL("the kernel was not refused");
    } catch (const MissingKernelError& error) {
      const MissingKernel& missing = error.missing();
      CHECK(missing.family == wanted.family().name);
      CHECK(missing.choice == wanted.choice().text());
      CHECK(missing.made_for.operation == "copy");
      CHECK(missing.key == cache_key(wanted, options_of(runtime).compile, fake_identity()));
      CHECK(choices.contains(missing.nearest));
      REQUIRE_FALSE(missing.differences.empty());
      const bool same_family = other.family().name == wanted.family().name;
      CHECK((missing.differences.front().fact == "family") == !same_family);
      CHECK_THAT(error.what(), ContainsSubstring("the nearest kernel that is there, " + missing.nearest));
    }
    CHECK(fake_compiler.compiles == 1);
  }
}

TEST_CASE("a kernel that is there for aligned tensors alone is the nearest one") {
  const ServeFixture fixture;
  const KernelPlan aligned = fixture.wanted(ServeFixture::transposition());
  fixture.keep(aligned);
  const Runtime runtime = fixture.runtime(WhenMissing::refuse);
  try {
    (void)plan(runtime, ServeFixture::transposition(4));
    FAIL("the kernel was not refused");
  } catch (const MissingKernelError& error) {
    CHECK(error.missing().nearest == aligned.choice().text());
    CHECK_FALSE(error.missing().differences.empty());
  }
}

TEST_CASE("a fused chain is served and swapped like its operations") {
  const ServeFixture fixture;
  const auto vector_at = [](DevicePtr address) {
    return Tensor::contiguous(ElementType::f32, {1 << 20}, address);
  };
  const Tensor between = vector_at(ServeFixture::to_address - (1 << 24));
  const Fusion fusion = fuse({operation::map(between, "x + 1", {vector_at(ServeFixture::from_address)}),
                              operation::map(vector_at(ServeFixture::to_address), "-x", {between})},
                             {between});
  REQUIRE(fusion.operations.size() == 1);
  fixture.keep(fixture.other(fusion.operations.front()));
  const Runtime runtime = fixture.runtime();
  const ChainPlan chain = plan(runtime, fusion);
  chain();
  CHECK(counters(runtime).served == 1);
  REQUIRE(eventually([&] { return counters(runtime).swaps == 1; }));
  chain();
  CHECK(fixture.device->launched() == std::vector{0, 1});
}

TEST_CASE("launches on a captured stream use the kernel that was published when they were enqueued") {
  const ServedTransposition fixture;
  const Operation& operation = fixture.operation;
  fake_compiler.blocked = true;
  const Runtime runtime = fixture.runtime();
  const Plan move = plan(runtime, operation);
  const auto stream = reinterpret_cast<Stream>(std::uintptr_t{16});  // NOLINT: never dereferenced
  fixture.device->captured = stream;
  move(stream);
  fake_compiler.unblock();
  REQUIRE(eventually([&] { return counters(runtime).swaps == 1; }));
  move(stream);
  CHECK(fixture.device->launched() == std::vector{0, 1});
}

TEST_CASE("kernels that are there run although a runtime may not compile") {
  const ServeFixture fixture;
  const Operation operation = ServeFixture::transposition();
  fixture.keep(fixture.wanted(operation));
  fake_compiler.asked = 0;
  const Runtime runtime = fixture.runtime(WhenMissing::refuse);
  plan(runtime, operation)();
  CHECK(fixture.device->launched() == std::vector{0});
  CHECK(fake_compiler.asked == 0);
  const Source source{"text", "entry", ""};
  const Error own = tests::error_of([&] { return runtime.kernel(source); });
  CHECK(own.code() == ErrorCode::missing_kernel);
  CHECK_THAT(own.what(), ContainsSubstring("this kernel of your own"));
}

}  // namespace serve_test
