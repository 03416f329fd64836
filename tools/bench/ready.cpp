#include "bench.hpp"
#include "lib/null_device.hpp"
#include "temporary_folder.hpp"

#include <tmajit/error.hpp>
#include <tmajit/move.hpp>
#include <tmajit/plan.hpp>
#include <tmajit/prefetch.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <memory>
#include <numeric>
#include <random>
#include <thread>
#include <utility>
#include <vector>

#include <spdlog/fmt/fmt.h>

namespace bench {
namespace {

using Clock = std::chrono::steady_clock;
using namespace tmajit;

constexpr std::uint64_t max_tensor_bytes = 16 << 20;  // of a tensor
constexpr unsigned points_per_round = 10;
constexpr unsigned kept_per_point = 2;  // moves whose kernels are kept, for each measured move

double us_since(Clock::time_point start) {
  return std::chrono::duration<double, std::micro>(Clock::now() - start).count();
}

/// A random permutation, which includes copies, of dense tensors.
Operation random_move(std::mt19937_64& random, DevicePtr to, DevicePtr from) {
  constexpr std::array types{ElementType::u8, ElementType::bf16, ElementType::f32, ElementType::f64};
  const auto between = [&](std::uint64_t low, std::uint64_t high) {
    return low + random() % (high - low + 1);
  };
  const ElementType type = types.at(between(0, types.size() - 1));
  const std::size_t rank = between(2, 4);
  std::vector<std::uint64_t> shape(rank);
  std::uint64_t left = max_tensor_bytes / size_of(type);
  for (std::uint64_t& extent : shape) {
    extent = between(1, std::min<std::uint64_t>(left, rank == 2 ? 2048 : 128));
    if (between(0, 1) == 0) extent = std::max<std::uint64_t>(extent / 16 * 16, 1);
    left /= extent;
  }
  std::vector<std::uint32_t> axes(rank);
  std::iota(axes.begin(), axes.end(), 0U);
  std::shuffle(axes.begin(), axes.end(), random);
  std::vector<std::uint64_t> permuted;
  for (const std::uint32_t axis : axes) permuted.push_back(shape[axis]);
  return operation::permute({TensorView::contiguous(type, permuted), to},
                            {TensorView::contiguous(type, shape), from}, axes);
}

/// Times first calls on a device: a program's kernels are on disk, but not all that it needs.
class Ready {
 public:
  Ready(std::shared_ptr<Device> device, bool has_times, const Options& options, Report& report)
      : device_(std::move(device)),
        has_times_(has_times),
        points_(options.rounds * points_per_round),
        random_(options.seed),
        report_(report),
        to_(device_, 2 * max_tensor_bytes),
        from_(device_, 2 * max_tensor_bytes) {}

  void measure() {
    keep_kernels();
    for (unsigned point = 0; point < points_; ++point) measure_point();
    const std::size_t found = there_us_.size();
    const std::size_t served = served_us_.size();
    report_.line(fmt::format("{} moves: {} kernels were there, {} were served by another one, {} waited",
                             points_, found, served, points_ - found - served));
    nlohmann::ordered_json& json = report_.json["ready"][has_times_ ? "gpu" : "null"];
    report_.quantiles("first call, the kernel is there, us", json["there_us"], there_us_);
    report_.quantiles("first call, another kernel is served, us", json["served_us"], served_us_);
    report_.quantiles("swap: the first call after it over later ones, us", json["swap_us"], swap_us_);
    report_.quantiles("speed of the served kernel, parts of the planned one", json["speed"], speed_);
  }

 private:
  Operation move() { return random_move(random_, to_.address(), from_.address()); }

  [[nodiscard]] RuntimeOptions runtime_options(WhenMissing when) const {
    return {.device = device_, .cache_directory = folder_.path, .when_missing = when};
  }

  /// Compiles the kernels of random moves into the folder.
  void keep_kernels() {
    std::vector<Operation> moves;
    for (unsigned i = 0; i < points_ * kept_per_point; ++i) moves.push_back(move());
    report_.progress(fmt::format("ready: kernels of {} moves", moves.size()));
    prefetch(Runtime(runtime_options(WhenMissing::compile)), moves,
             {.threads = std::thread::hardware_concurrency()})
        .wait();
  }

  void measure_point() {
    const Operation operation = move();
    const Runtime runtime(runtime_options(WhenMissing::serve));
    const Clock::time_point start = Clock::now();
    const Plan first = plan(runtime, operation);
    first();
    const double first_us = us_since(start);
    const KernelPlan launched = first.plans().front();
    const KernelPlan planned =
        plan_kernels(operation, {.chip = runtime.chip(), .tuning = &tuning(runtime)}).front();
    if (launched.key() == planned.key()) {
      if (first.kernels().front().level() == CacheLevel::disk) there_us_.push_back(first_us);
      return;
    }
    served_us_.push_back(first_us);
    wait_for_swap(first, planned);
    // Later calls also come after a pause, in which caches of the core grow cold and the device grows idle.
    std::vector<double> calls;
    for (int i = 0; i < 9; ++i) {
      const Clock::time_point call = Clock::now();
      first();
      calls.push_back(us_since(call));
      device_->streams().synchronize(nullptr);
      wait_for_swap(first, planned);
    }
    swap_us_.push_back(calls.front() - Samples(std::vector<double>(calls.begin() + 1, calls.end())).median());
    if (has_times_) speed_.push_back(time_of(runtime, planned) / time_of(runtime, launched));
  }

  static void wait_for_swap(const Plan& served, const KernelPlan& planned) {
    const Clock::time_point end = Clock::now() + std::chrono::seconds(30);
    do {
      if (Clock::now() > end)
        throw Error(ErrorCode::internal, "a served kernel was not replaced within 30 s");
      std::this_thread::sleep_for(std::chrono::microseconds(50));
    } while (served.plans().front().key() != planned.key());
  }

  double time_of(const Runtime& runtime, const KernelPlan& plan) {
    const PreparedLaunch launch = runtime.kernel(plan).prepare(plan);
    launch();
    const std::vector<float> times = device_->timing().time(nullptr, 15, [&] { launch(); });
    return Samples(std::vector<double>(times.begin(), times.end())).median();
  }

  std::shared_ptr<Device> device_;
  bool has_times_;  ///< a GPU, whose times mean something
  unsigned points_;
  std::mt19937_64 random_;
  Report& report_;
  TemporaryFolder folder_;
  Buffer to_;
  Buffer from_;
  std::vector<double> there_us_;
  std::vector<double> served_us_;
  std::vector<double> swap_us_;
  std::vector<double> speed_;
};

}  // namespace

void measure_ready(const Options& options, Machine* gpu, Report& report) {
  report.line(
      "\nFirst calls of random permutations by new runtimes that serve kernels from disk; the device "
      "\"null\"");
  report.quantile_heads("does nothing");
  Ready(std::make_shared<tools::NullDevice>(), false, options, report).measure();
  if (gpu != nullptr) Ready(gpu->device, true, options, report).measure();
}

}  // namespace bench
