// The option Improve, which times candidates during a program's calls, on a device whose clock the test sets.
#include "captured_log.hpp"
#include "lib/allocations.hpp"
#include "ops/move_caches.hpp"
#include "ops/scripted_device.hpp"
#include "ptx_alone.hpp"
#include "seed.hpp"
#include "temporary_folder.hpp"

#include <tmajit/error.hpp>
#include <tmajit/move.hpp>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

using namespace tmajit;
using Catch::Matchers::ContainsSubstring;
using tests::CapturedLog, tests::ScriptedDevice, tests::times;

namespace {

constexpr DevicePtr improved_destination = 0x7f00'0000'0000;
constexpr DevicePtr improved_source = 0x7e00'0000'0000;
const auto some_stream = reinterpret_cast<Stream>(std::uintptr_t{0x5000});

long whole_us(const TunedChoice& choice) {
  return std::lround(choice.microseconds);
}

constexpr Improve three_candidates{
    .candidates = 3, .timed_calls = 3, .max_calls = 100, .min_predicted_us = 0};

/// The choices that were added to a runtime's shipped ones.
std::vector<TunedChoice> added_choices(const Runtime& runtime) {
  std::vector<TunedChoice> all = tuning(runtime).all();
  std::erase_if(all, [&](const TunedChoice& choice) {
    return !tuning(runtime).has_added(choice.chip, choice.shape_class);
  });
  return all;
}

struct ImproveFixture {
  explicit ImproveFixture(ScriptedDevice::Time time, const Improve& improve = three_candidates,
                          std::string name = "scripted")
      : device(std::make_shared<ScriptedDevice>(std::move(time), std::move(name))),
        runtime({.device = device,
                 .cache_directory = std::nullopt,
                 .compile = tests::ptx_without_lines,
                 .improve = improve}) {}

  void call(std::uint64_t rows = 2048, Stream stream = nullptr, DevicePtr shift = 0) const {
    permute(runtime, Tensor::contiguous(ElementType::f32, {rows, 2048}, improved_destination + shift),
            Tensor::contiguous(ElementType::f32, {2048, rows}, improved_source + shift), {1, 0}, stream);
  }
  void calls(int count) const {
    for (int i = 0; i < count; ++i) call(2048, nullptr, static_cast<DevicePtr>(i) * 4096);
  }
  [[nodiscard]] Operation operation() const {
    return operation::permute(Tensor::contiguous(ElementType::f32, {2048, 2048}, improved_destination),
                              Tensor::contiguous(ElementType::f32, {2048, 2048}, improved_source), {1, 0});
  }
  /// The choices that trials added to the runtime's table.
  [[nodiscard]] std::vector<TunedChoice> found() const { return added_choices(runtime); }

  std::shared_ptr<ScriptedDevice> device;
  Runtime runtime;
};

}  // namespace

TEST_CASE("the fastest candidate becomes the choice, and each call launches once") {
  const ImproveFixture fixture(times({100, 50, 80}));
  const Plan untried =
      plan(Runtime({.device = fixture.device, .cache_directory = std::nullopt}), fixture.operation());
  fixture.device->takes = [](int number, const LaunchShape&) { return number == 2 ? 50'000 : 100'000; };
  for (int i = 1; i <= 6; ++i) {
    fixture.calls(1);
    CHECK(fixture.device->launched().size() == static_cast<std::size_t>(i));
  }
  // Kernel 0 belongs to the other runtime. Each kernel is launched once before it is timed. After that the
  // others are clearly slower than kernel 2.
  CHECK(fixture.device->launched() == std::vector{1, 1, 2, 2, 3, 3});
  CHECK(fixture.found().empty());
  fixture.calls(1);  // collects the last time, and launches the default kernel
  const std::vector<TunedChoice> found = fixture.found();
  REQUIRE(found.size() == 1);
  CHECK(found[0].chip == fixture.runtime.chip().name);
  CHECK(whole_us(found[0]) == 50);
  CHECK(found[0].choice != untried.plans()[0].choice());
  const auto timed = fixture.device->timers_started.load();
  CHECK(timed == 3);

  fixture.calls(5);
  const std::vector<int> launched = fixture.device->launched();
  CHECK(launched.size() == 12);
  CHECK(std::vector(launched.begin() + 6, launched.end()) == std::vector{1, 2, 2, 2, 2, 2});
  CHECK(fixture.device->timers_started == timed);
  CHECK(fixture.device->loaded() == 4);
  const std::size_t before = allocations();
  fixture.calls(5);
  CHECK(allocations() == before);

  // As with a choice of `jitc tune`, new plans use it, and it can be copied to other runtimes.
  const Plan improved = plan(fixture.runtime, fixture.operation());
  CHECK(improved.plans()[0].tuned());
  CHECK(improved.plans()[0].choice() == found[0].choice);
  const Runtime next({.device = fixture.device, .cache_directory = std::nullopt});
  tuning(next).add_json(tuning(fixture.runtime).json());
  CHECK(plan(next, fixture.operation()).plans()[0].choice() == found[0].choice);
}

TEST_CASE("the default kernel stays the choice unless another is clearly faster") {
  const ImproveFixture fixture(times({1000, 993, 995}));
  const KernelChoice default_choice = plan(fixture.runtime, fixture.operation()).plans()[0].choice();
  fixture.calls(60);
  const std::vector<TunedChoice> found = fixture.found();
  REQUIRE(found.size() == 1);
  CHECK(found[0].choice == default_choice);
  CHECK(whole_us(found[0]) == 1000);
  CHECK(fixture.device->launched().back() == 0);
  CHECK(fixture.device->timers_started == 3LL * 15);
}

TEST_CASE("candidates of similar times are timed until they can be distinguished") {
  // Calls 3 to 6 of kernel 2, the fastest, take so long that it would seem slower than the default kernel.
  std::map<int, int> calls;
  const ImproveFixture fixture([&calls](int number, const LaunchShape&) -> std::int64_t {
    const int call = ++calls[number];
    const bool is_disturbed = number == 2 && call >= 3 && call <= 6;
    return (number == 2 ? 970'000 : number == 1 ? 990'000 : 1'000'000) + (is_disturbed ? 40'000 : 0);
  });
  fixture.calls(70);
  REQUIRE(fixture.found().size() == 1);
  CHECK(whole_us(fixture.found()[0]) == 970);
}

TEST_CASE(
    "after 20 calls a class has its choice: one of the fastest of eight candidates, if times vary by 1 %") {
  const std::uint64_t seed = tests::seed(20261504);
  INFO("seed " << seed);
  std::mt19937_64 random(seed);
  for (int round = 0; round < 20; ++round) {
    std::vector<std::int64_t> base(8);
    for (auto& one : base) one = std::uniform_int_distribution<std::int64_t>(100'000, 250'000)(random);
    std::uniform_real_distribution<double> noise(0.99, 1.01);
    const ImproveFixture fixture(
        [&](int number, const LaunchShape&) {
          return static_cast<std::int64_t>(static_cast<double>(base.at(static_cast<std::size_t>(number))) *
                                           noise(random));
        },
        {.candidates = 8, .min_predicted_us = 0});
    fixture.calls(21);  // the last call collects the times
    REQUIRE(fixture.found().size() == 1);
    fixture.calls(1);
    const std::int64_t chosen = base.at(static_cast<std::size_t>(fixture.device->launched().back()));
    CHECK(chosen <= *std::ranges::min_element(base) * 104 / 100);
    const auto timed = fixture.device->timers_started.load();
    fixture.calls(10);
    CHECK(fixture.device->timers_started == timed);
  }
}

TEST_CASE("results are kept in the cache directory if the program asks for it") {
  for (const bool remember : {false, true}) {
    const TemporaryFolder folder;
    const auto runtime_with = [&](std::uint32_t candidates) {
      return Runtime({.device = std::make_shared<ScriptedDevice>(times({100, 50, 80})),
                      .cache_directory = folder.path(),
                      .compile = tests::ptx_without_lines,
                      .improve = {.candidates = candidates, .min_predicted_us = 0, .remember = remember}});
    };
    const auto call = [](const Runtime& runtime) {
      permute(runtime, Tensor::contiguous(ElementType::f32, {2048, 2048}, improved_destination),
              Tensor::contiguous(ElementType::f32, {2048, 2048}, improved_source), {1, 0});
    };
    const Runtime first = runtime_with(3);
    for (int i = 0; i < 21; ++i) call(first);
    CHECK(added_choices(first).size() == 1);
    CHECK(added_choices(runtime_with(0)).size() == (remember ? 1 : 0));
  }
}

TEST_CASE("the first launch of a kernel, which loads it, is not timed") {
  std::map<int, int> calls;
  const ImproveFixture fixture(
      [&calls](int number, const LaunchShape&) -> std::int64_t {
        return (number == 1 ? 50'000 : 100'000) + (++calls[number] == 1 ? 5'000'000 : 0);
      },
      {.candidates = 2, .timed_calls = 1, .min_predicted_us = 0});
  fixture.calls(6);
  REQUIRE(fixture.found().size() == 1);
  CHECK(whole_us(fixture.found()[0]) == 50);
}

TEST_CASE("no candidates are timed without Improve, for short moves, forced families or several kernels") {
  const auto tries = [](const Improve& improve, const std::function<void(const ImproveFixture&)>& make_call) {
    const ImproveFixture fixture(times({100, 50}), improve);
    for (int i = 0; i < 5; ++i) make_call(fixture);
    CHECK(fixture.device->launched().size() >= 5);
    CHECK(fixture.found().empty());
    return fixture.device->timers_started > 0;
  };
  const auto call = [](const ImproveFixture& fixture) { fixture.call(); };
  CHECK(tries(three_candidates, call));
  CHECK_FALSE(tries({}, call));
  CHECK_FALSE(tries({.candidates = 1, .min_predicted_us = 0}, call));
  CHECK_FALSE(tries({.candidates = 3, .min_predicted_us = 1e6}, call));
  CHECK_FALSE(tries(three_candidates, [](const ImproveFixture& fixture) {
    plan(fixture.runtime, fixture.operation(), "transpose")();
  }));
  CHECK_FALSE(tries(three_candidates, [](const ImproveFixture& fixture) {
    const Tensor part = Tensor::contiguous(ElementType::f32, {2048, 2048}, improved_source);
    const std::array parts{part, part};
    concat(fixture.runtime, Tensor::contiguous(ElementType::f32, {4096, 2048}, improved_destination), parts,
           0);
  }));
}

TEST_CASE("trials may replace a shipped choice, but not a choice that the user added") {
  const ImproveFixture fixture(times({100, 50}), three_candidates, "NVIDIA H200");
  fixture.calls(60);
  const std::vector<TunedChoice> found = fixture.found();
  REQUIRE(found.size() == 1);
  CHECK(TuningTable::shipped().find("NVIDIA H200", found[0].shape_class).has_value());
  CHECK(whole_us(found[0]) == 50);

  const ImproveFixture other(times({100, 50}), three_candidates, "NVIDIA H200");
  tuning(other.runtime).add(found[0]);
  other.calls(60);
  CHECK(other.device->timers_started == 0);
}

TEST_CASE("a choice that the user adds during a trial is kept") {
  const ImproveFixture fixture(times({100, 50}));
  fixture.calls(12);
  CHECK(fixture.found().empty());
  const ImproveFixture other(times({100, 50}));
  other.calls(60);
  TunedChoice own = other.found().at(0);
  own.microseconds = 7;
  const Plan plan_in_use = plan(fixture.runtime, fixture.operation());
  tuning(fixture.runtime).add(own);
  for (int i = 0; i < 60; ++i) plan_in_use();
  CHECK(fixture.found() == std::vector{own});
  CHECK(plan_in_use.plans()[0].choice() == own.choice);
}

TEST_CASE("launches on a captured stream use the default kernel, and nothing is compiled or timed") {
  const ImproveFixture fixture(times({100, 50, 80}));
  fixture.device->captured = some_stream;
  for (int i = 0; i < 30; ++i) fixture.call(2048, some_stream);
  CHECK(fixture.device->launched() == std::vector<int>(30, 0));
  CHECK(fixture.device->timers_started == 0);
  CHECK(fixture.device->loaded() == 1);
  // Other streams continue the trial during the capture. After its end, a captured launch of an existing plan
  // still uses its old kernel.
  const Plan plan_in_use = plan(fixture.runtime, fixture.operation());
  fixture.calls(60);
  REQUIRE(fixture.found().size() == 1);
  plan_in_use(some_stream);
  CHECK(fixture.device->launched().back() == 0);
  CHECK(plan_in_use.plans()[0].choice() != fixture.found()[0].choice);
  fixture.call(2048, some_stream);
  CHECK(fixture.device->launched().back() == 1);
}

TEST_CASE("calls do not wait for timers of a device that has much unfinished work") {
  const ImproveFixture fixture(times({100, 50, 80}));
  fixture.device->timers_pending = true;
  fixture.calls(200);
  CHECK(fixture.device->launched().size() == 200);
  CHECK(fixture.device->timers_started == 8);
  CHECK(fixture.device->timers_alive() == 8);
  CHECK(fixture.found().empty());
  fixture.device->timers_pending = false;
  fixture.calls(10);
  CHECK(whole_us(fixture.found().at(0)) == 50);
}

TEST_CASE("a candidate that cannot be loaded or launched is left out, and its call uses the default kernel") {
  const ImproveFixture fixture(
      [](int number, const LaunchShape&) -> std::int64_t {
        if (number == 2) throw Error(ErrorCode::device_failed, "no launch of kernel 2");
        return number == 3 ? 70'000 : 100'000;
      },
      {.candidates = 4, .timed_calls = 3, .min_predicted_us = 0});
  fixture.device->on_load = [](int number) {
    if (number == 1) throw Error(ErrorCode::device_failed, "no loading of kernel 1");
  };
  const CapturedLog log;
  fixture.calls(20);
  CHECK(fixture.device->launched().size() == 20);
  CHECK(whole_us(fixture.found().at(0)) == 70);
  CHECK(fixture.device->launched().back() == 3);
  CHECK_THAT(log.text(), ContainsSubstring("is not tried: no loading of kernel 1") &&
                             ContainsSubstring("is not tried: no launch of kernel 2"));
}

TEST_CASE("if no other candidate can be loaded, calls keep using the default kernel") {
  const ImproveFixture fixture(times({100}));
  fixture.device->on_load = [](int number) {
    if (number > 0) throw Error(ErrorCode::device_failed, "full");
  };
  const Plan plan_in_use = plan(fixture.runtime, fixture.operation());
  const CapturedLog log;
  fixture.calls(20);
  for (int i = 0; i < 20; ++i) plan_in_use();
  CHECK(fixture.device->launched() == std::vector<int>(40, 0));
  CHECK(fixture.found().empty());
  const auto timed = fixture.device->timers_started.load();
  const std::size_t before = allocations();
  fixture.calls(5);
  plan_in_use();
  CHECK(allocations() == before);
  CHECK(fixture.device->timers_started == timed);
  CHECK(fixture.device->loaded() == 3);
}

TEST_CASE("an error of the default kernel is thrown to the caller") {
  bool broken = true;
  const ImproveFixture fixture([&broken](int, const LaunchShape&) -> std::int64_t {
    if (broken) throw Error(ErrorCode::device_failed, "no launch");
    return 1000;
  });
  const CapturedLog log;
  CHECK_THROWS_AS(fixture.call(), Error);
  broken = false;
  fixture.calls(3);
  CHECK(fixture.device->launched() == std::vector{0, 0, 0});
  CHECK_THAT(log.text(), ContainsSubstring("nor is anything else: no launch"));
}

TEST_CASE("an existing plan switches to the better choice, and reports the kernel that it launches") {
  const ImproveFixture fixture(times({100, 50, 80}));
  const Plan plan_in_use = plan(fixture.runtime, fixture.operation());
  const KernelChoice default_choice = plan_in_use.plans()[0].choice();
  const std::span<const Kernel> kernels = plan_in_use.kernels();
  for (int i = 0; i < 6; ++i) plan_in_use();
  CHECK(plan_in_use.plans()[0].choice() == default_choice);
  for (int i = 0; i < 3; ++i) plan_in_use();
  CHECK(plan_in_use.plans()[0].choice() == fixture.found().at(0).choice);
  CHECK(plan_in_use.plans()[0].tuned());
  CHECK(plan_in_use.explain().steps.at(0).choice == plan_in_use.plans()[0].choice().text());
  CHECK(kernels[0].key() != plan_in_use.kernels()[0].key());  // the plan's first kernels still exist
  const std::vector<DevicePtr> to{improved_destination + 4096};
  const std::vector<DevicePtr> from{improved_source + 4096};
  const std::size_t before = allocations();
  plan_in_use();
  plan_in_use(to, from);
  CHECK(allocations() == before);
  CHECK(fixture.device->launched().back() == 1);
  // At another alignment, the plan works as before.
  plan_in_use({improved_destination + 4}, {improved_source + 4});
  CHECK_THROWS_AS(plan_in_use({improved_destination}, {improved_destination}), SpecError);
  CHECK_THROWS_AS(plan_in_use({improved_destination}, {}), Error);
}

TEST_CASE("a near shape uses the choice of a trial, another shape begins its own") {
  const ImproveFixture fixture(times({100, 50, 80}));
  fixture.calls(20);
  REQUIRE(fixture.found().size() == 1);
  const auto timed = fixture.device->timers_started.load();
  for (int i = 0; i < 10; ++i) fixture.call(2048 + 64);
  CHECK(fixture.device->timers_started == timed);
  for (int i = 0; i < 10; ++i) fixture.call(2560);
  CHECK(fixture.device->timers_started > timed);
}

TEST_CASE("calls of several threads contribute to one trial, and each call launches once") {
  const ImproveFixture fixture(times({100, 50, 80}));
  constexpr int threads = 8;
  constexpr int calls = 200;
  const Plan plan_in_use = plan(fixture.runtime, fixture.operation());
  {
    std::vector<std::jthread> running;
    running.reserve(threads);
    for (int t = 0; t < threads; ++t) {
      running.emplace_back([&, t] {
        if (t % 2 == 0) return fixture.calls(calls);
        for (int i = 0; i < calls; ++i) plan_in_use();
      });
    }
  }
  fixture.calls(12);
  CHECK(fixture.device->launched().size() == threads * calls + 12);
  CHECK(fixture.found().size() == 1);
  CHECK(fixture.device->loaded() == 3);
}

TEST_CASE("a runtime destroyed during a trial leaks no timers and kernels") {
  const auto device = std::make_shared<ScriptedDevice>(times({100, 50, 80}));
  device->timers_pending = true;
  for (const int calls : {2, 3, 5, 9, 12}) {
    std::optional<Plan> plan_in_use;
    {
      const Runtime runtime({.device = device, .cache_directory = std::nullopt, .improve = three_candidates});
      const Tensor to = Tensor::contiguous(ElementType::f32, {2048, 2048}, improved_destination);
      const Tensor from = Tensor::contiguous(ElementType::f32, {2048, 2048}, improved_source);
      plan_in_use = plan(runtime, operation::permute(to, from, {1, 0}));
      for (int i = 0; i < calls; ++i) permute(runtime, to, from, {1, 0});
    }
    (*plan_in_use)();
    CHECK(device->timers_alive() > 0);
    plan_in_use.reset();
    CHECK(device->timers_alive() == 0);
    CHECK(device->kernels_alive() == 0);
  }
}

TEST_CASE("only one thread at a time advances a trial, and a candidate that no call can run is given up") {
  const ShapeClass shape{.family = "rows", .rank = 1};
  const std::vector<KernelChoice> choices{
      {.family = "rows", .numbers = {{"tile", {1}, true}, {"threads", {1}}}},
      {.family = "rows", .numbers = {{"tile", {1}, true}, {"threads", {2}}}}};
  tools::NullDevice device;
  Trial trial(shape, choices, Improve{.timed_calls = 1});
  {
    const Trial::Turn one(trial);
    const Trial::Turn other(trial);
    CHECK(one);
    CHECK_FALSE(other);
  }
  const Trial::Turn turn(trial);
  REQUIRE(turn);
  Trial::Run* const run = trial.begin(0, static_cast<Device&>(device).timing());
  REQUIRE(run != nullptr);
  run->timer().start(nullptr);
  device.clock_ns += 5000;
  run->timer().stop(nullptr);
  run->hand_over();
  CHECK_FALSE(trial.verdict().has_value());
  trial.collect();
  const CapturedLog log;
  for (int i = 0; i < 200; ++i) CHECK_FALSE(trial.next({true, false}).has_value());
  const auto verdict = trial.verdict();
  REQUIRE(verdict.has_value());
  CHECK(verdict->choice == nullptr);
  CHECK(std::lround(verdict->us) == 5);
  CHECK_THAT(log.text(), ContainsSubstring("for long, no call came that it can run"));
}

TEST_CASE("a runtime keeps a limited number of trials, the most recently used ones") {
  Trials trials;
  const auto of = [&](std::uint8_t n) {
    return trials.of_class(std::make_shared<Trial>(ShapeClass{.family = "rows", .sources = n},
                                                   std::vector<KernelChoice>(2), Improve{}));
  };
  const auto first = of(0);
  const auto second = of(1);
  for (int n = 2; n < 256; ++n) {
    (void)of(static_cast<std::uint8_t>(n));
    CHECK(of(0) == first);
  }
  const auto one_more = trials.of_class(
      std::make_shared<Trial>(ShapeClass{.family = "transpose"}, std::vector<KernelChoice>(2), Improve{}));
  CHECK(of(0) == first);
  CHECK(of(1) != second);
}
