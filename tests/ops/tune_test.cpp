// tune() on a device whose clock the test sets.
#include "ops/scripted_device.hpp"
#include "ptx_alone.hpp"
#include "temporary_folder.hpp"

#include <tmajit/error.hpp>
#include <tmajit/move.hpp>

#include <cmath>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <random>
#include <utility>
#include <vector>

#include <catch2/catch_test_macros.hpp>

using namespace tmajit;
using tests::ScriptedDevice;

namespace {

/// A scripted device that claims to be a GPU. Times by events include launch_ns for the launch, times in
/// graphs do not.
class ScriptedGpu final : public ScriptedDevice {
 public:
  explicit ScriptedGpu(Time time) : ScriptedDevice(std::move(time)) { info_.ordinal = 0; }

  std::int64_t launch_ns = 0;
  int by_events = 0;  ///< number of measurements by events
  int in_graphs = 0;  ///< number of measurements in graphs

  std::vector<float> time(Stream stream, std::uint32_t repeats, const std::function<void()>& work) override {
    ++by_events;
    std::vector<float> milliseconds = ScriptedDevice::time(stream, repeats, work);
    for (float& one : milliseconds) one += static_cast<float>(launch_ns) / 1e6F;
    return milliseconds;
  }
  std::vector<float> time_in_graph(std::uint32_t repeats, std::uint32_t nodes,
                                   const std::function<void(Stream)>& work) override {
    ++in_graphs;
    return ScriptedDevice::time(nullptr, repeats * nodes, [&] { work(nullptr); });
  }
};

/// The cache folder that the tests of this file share, so that each kernel is compiled once.
const std::filesystem::path& kernels() {
  static const TemporaryFolder folder;
  static const std::filesystem::path path = tests::shared_kernels().value_or(folder.path());
  return path;
}

/// The result of tune() for a transposition on a ScriptedGpu: its report, and a plan made afterwards.
struct Tuned {
  explicit Tuned(
      ScriptedDevice::Time time, std::int64_t launch_ns = 0,
      std::function<void(int number)> on_load = [](int) {})
      : device(std::make_shared<ScriptedGpu>(std::move(time))),
        runtime({.device = device, .cache_directory = kernels(), .compile = tests::ptx_without_lines}) {
    device->launch_ns = launch_ns;
    device->on_load = std::move(on_load);
    const Operation operation =
        operation::permute(Tensor::contiguous(ElementType::f32, {2048, 2048}, 0x7f00'0000'0000),
                           Tensor::contiguous(ElementType::f32, {2048, 2048}, 0x7e00'0000'0000), {1, 0});
    const Plan before = plan(runtime, operation);
    device->by_events = 0;
    report = tune(runtime, before);
    after.emplace(plan(runtime, operation));
  }
  std::shared_ptr<ScriptedGpu> device;
  Runtime runtime;
  TuneReport report;
  std::optional<Plan> after;
};

}  // namespace

TEST_CASE("plans made after tune() use the fastest choice") {
  const Tuned tuned([](int number, const LaunchShape&) { return 100'000 + 1000 * ((number + 5) % 9); });
  REQUIRE(tuned.report.candidates.size() > 9);
  CHECK(std::lround(tuned.report.candidates.front().microseconds) == 100);
  CHECK(tuned.after->plans()[0].tuned());
  CHECK(tuned.after->plans()[0].choice() == tuned.report.candidates.front().choice);
}

TEST_CASE("batches of copies can be tuned") {
  const auto device = std::make_shared<ScriptedGpu>(
      [](int number, const LaunchShape&) { return 100'000 + 1000 * ((number + 2) % 3); });
  const Runtime runtime(
      {.device = device, .cache_directory = kernels(), .compile = tests::ptx_without_lines});
  std::vector<Tensor> to;
  std::vector<Tensor> from;
  for (std::int64_t n = 0; n < 50; ++n) {
    const auto at = static_cast<DevicePtr>(n) << 22;
    to.push_back(Tensor::contiguous(ElementType::bf16, {40 * n, 1024}, 0x7f00'0000'0000 + at));
    from.push_back(Tensor::contiguous(ElementType::bf16, {40 * n, 1024}, 0x7e00'0000'0000 + at));
  }
  const Operation operation = operation::copy_ragged(to, from);
  const Plan before = plan(runtime, operation);
  const TuneReport report = tune(runtime, before);
  REQUIRE(report.candidates.size() >= 4);
  CHECK(report.left_out.empty());
  CHECK(report.shape_class.text() == before.explain().shape_class);
  for (const TuneReport::Candidate& one : report.candidates) CHECK(one.predicted_us > 0);
  const Plan after = plan(runtime, operation);
  CHECK(after.plans()[0].tuned());
  CHECK(after.plans()[0].choice() == report.candidates.front().choice);
  // Launches at other addresses use the same kernel.
  std::vector<DevicePtr> elsewhere;
  elsewhere.reserve(to.size());
  for (const Tensor& tensor : to) elsewhere.push_back(tensor.address + (DevicePtr{1} << 40));
  std::vector<DevicePtr> sources;
  sources.reserve(from.size());
  for (const Tensor& tensor : from) sources.push_back(tensor.address);
  const int loaded = device->loaded();
  after(elsewhere, sources);
  CHECK(device->loaded() == loaded);
}

TEST_CASE("tune() leaves out candidates that cannot be loaded and measures the others") {
  const auto time = [](int number, const LaunchShape&) { return 100'000 + 1000 * number; };
  const Tuned tuned(time, 0, [](int number) {
    // Kernel 0 is the planner's choice, which was loaded before.
    if (number == 2 || number == 5) throw Error(ErrorCode::device_failed, "no room for this one");
  });
  REQUIRE(tuned.report.left_out.size() == 2);
  for (const TuneReport::LeftOut& one : tuned.report.left_out) {
    CHECK(one.why == "no room for this one");
    for (const TuneReport::Candidate& measured : tuned.report.candidates)
      CHECK(measured.choice != one.choice);
  }
  CHECK(tuned.report.candidates.size() > 9);
  CHECK(tuned.after->plans()[0].choice() == tuned.report.candidates.front().choice);
}

TEST_CASE("tune() times all candidates near the fastest by the same method, events or graphs") {
  // Candidates that take less than 50 us are timed in graphs. With their launches, some of these take more.
  const auto near_limit = [](int number, const LaunchShape&) -> std::int64_t {
    return number % 3 == 0 ? 200'000 : 46'000 + 500 * (number % 12);
  };
  const Tuned mixed(near_limit, 2500);
  const auto count = static_cast<int>(mixed.report.candidates.size());
  CHECK(mixed.device->by_events == count);  // one first measurement of each candidate
  CHECK(mixed.device->in_graphs > 0);
  for (const TuneReport::Candidate& one : mixed.report.candidates) {
    CHECK((one.microseconds < 52 || one.microseconds > 200));  // times in graphs do not include the launch
  }
  const Tuned above_limit([](int, const LaunchShape&) { return 60'000; });
  CHECK(above_limit.device->in_graphs == 0);
}

TEST_CASE("tune() measures candidates of similar times until they can be distinguished") {
  int right = 0;
  constexpr int tries = 20;
  for (unsigned seed = 0; seed < tries; ++seed) {
    // Times have a standard deviation of 1.5 %. Kernel 4 is faster than all others by 1 %.
    std::mt19937 random(seed);
    const Tuned tuned([&random](int number, const LaunchShape&) {
      std::normal_distribution<double> noise(1, 0.015);
      return static_cast<std::int64_t>((number == 4 ? 198'000 : 200'000) * noise(random));
    });
    (*tuned.after)();
    if (tuned.device->launched().back() == 4) ++right;
  }
  CHECK(right >= tries - 1);
}
