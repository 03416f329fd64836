#include "bench.hpp"
#include "lib/allocations.hpp"
#include "lib/null_device.hpp"
#include "raw_launch.hpp"

#include <tmajit/move.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

#include <spdlog/fmt/fmt.h>
#include <unistd.h>

namespace bench {
namespace {

using Clock = std::chrono::steady_clock;
using tmajit::DevicePtr, tmajit::Tensor;

/// Each pair is a launch by the library and one by the driver alone. All launches of a round fit the driver's
/// queue; beyond its capacity the host would wait.
constexpr std::size_t pairs_in_round = 100;
constexpr std::size_t warm_up_rounds = 3;  // not counted
constexpr std::size_t warm_cache_rounds = 150;
constexpr std::size_t cold_cache_rounds =
    30;  // few: evicting the caches takes longer than the timed launches
constexpr std::array<unsigned, 2> thread_counts{1, 16};
constexpr std::uint64_t slot = 1 << 16;  // bytes of a tensor's memory, far more than it needs

/// Nanoseconds of one launch by the library and by the driver alone, measured alternately, and the library's
/// heap allocations.
struct Cost {
  double ns = 0;
  double raw_ns = 0;
  double over_ns = 0;  ///< median over the rounds of the library's time minus the driver's
  double allocations = 0;
};

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::ranges::nth_element(values, middle);
  return *middle;
}

/// Evicts the library's data from the core's own caches, as the work of the program and of the driver between
/// two launches does.
class CacheEviction {
 public:
  void operator()() {
    for (std::size_t at = 0; at < memory_.size(); at += line) ++memory_[at];
  }

 private:
  static constexpr std::size_t line = 64;
  /// Returns the size of the first- and second-level caches together, or that of a large core if the system
  /// does not report it.
  static std::size_t cache_bytes() {
    const long first = ::sysconf(_SC_LEVEL1_DCACHE_SIZE);
    const long second = ::sysconf(_SC_LEVEL2_CACHE_SIZE);
    return first > 0 && second > 0 ? static_cast<std::size_t>(first + second) : std::size_t{2304} << 10;
  }
  std::vector<unsigned char> memory_ = std::vector<unsigned char>(cache_bytes());
};

/// Times both ways of launching alternately. `between` runs before each launch, and is not timed; `wait`
/// waits for the launches of a round.
template <class Ours, class Raw, class Between>
Cost race(std::size_t rounds, Ours&& ours, Raw&& raw, Between&& between, const std::function<void()>& wait) {
  std::vector<double> library_ns(rounds);
  std::vector<double> driver_ns(rounds);
  std::vector<double> difference_ns(rounds);
  std::size_t allocated = 0;
  for (std::size_t round = 0; round < rounds + warm_up_rounds; ++round) {
    Clock::duration library_time{};
    Clock::duration driver_time{};
    const std::size_t allocated_before = allocations();
    for (std::size_t i = 0; i < pairs_in_round; ++i) {
      // The second launch of a pair may find the driver busy, so each way goes first in half of the pairs:
      // two pairs in turn, because `ours` alternates between two sets of addresses.
      const bool raw_first = i % 4 < 2;
      between();
      const Clock::time_point start = Clock::now();
      raw_first ? raw() : ours(i);
      const Clock::time_point middle = Clock::now();
      between();
      const Clock::time_point second_start = Clock::now();
      raw_first ? ours(i) : raw();
      const Clock::time_point end = Clock::now();
      library_time += raw_first ? end - second_start : middle - start;
      driver_time += raw_first ? middle - start : end - second_start;
    }
    const std::size_t allocated_now = allocations() - allocated_before;
    wait();
    if (round < warm_up_rounds) continue;
    allocated += allocated_now;
    const std::size_t counted_round = round - warm_up_rounds;
    const auto ns = [](Clock::duration total) {
      return std::chrono::duration<double, std::nano>(total).count() / pairs_in_round;
    };
    library_ns[counted_round] = ns(library_time);
    driver_ns[counted_round] = ns(driver_time);
    difference_ns[counted_round] = ns(library_time) - ns(driver_time);
  }
  return {median(library_ns), median(driver_ns), median(difference_ns),
          static_cast<double>(allocated) / static_cast<double>(rounds * pairs_in_round)};
}

/// Several threads call `one` at the same time. Returns the mean of their results.
template <class Race>
Cost race_threads(unsigned threads, Race&& one) {
  std::vector<Cost> costs(threads);
  {
    std::vector<std::jthread> running;
    for (unsigned t = 0; t < threads; ++t) running.emplace_back([&, t] { costs[t] = one(); });
  }
  Cost mean;
  for (const Cost& cost : costs) {
    mean.ns += cost.ns / threads;
    mean.raw_ns += cost.raw_ns / threads;
    mean.over_ns += cost.over_ns / threads;
    mean.allocations += cost.allocations / threads;
  }
  return mean;
}

/// Measures all ways to launch on one device.
class Dispatch {
 public:
  Dispatch(std::shared_ptr<tmajit::Device> device, Machine* gpu, Report& report)
      : device_(std::move(device)),
        gpu_(gpu),
        runtime_({.device = device_}),
        report_(report),
        memory_(device_, 4 * slot) {}

  void measure() {
    for (const unsigned threads : thread_counts) {
      for (const bool maps : {false, true}) measure_kernel(maps, threads);
    }
    if (gpu_ != nullptr) return;  // on a GPU the driver's own work evicts the caches
    cold_ = true;
    for (const bool maps : {false, true}) measure_kernel(maps, 1);
  }

 private:
  [[nodiscard]] Tensor tensor(std::uint64_t rows, std::uint64_t columns, std::uint64_t index) const {
    const std::array shape{rows, columns};
    return {tmajit::TensorView::contiguous(tmajit::ElementType::f32, shape),
            memory_.address() + index * slot};
  }

  /// Measures a copy by the copy engine, whose kernel has two tensor maps (`maps`), or a transposition by a
  /// kernel without tensor maps.
  void measure_kernel(bool maps, unsigned threads) {
    constexpr std::array<std::uint32_t, 2> axes{1, 0};
    Tensor source = tensor(16, 64, 1);
    if (maps) source.view.strides[0] *= 2;  // so that the two dimensions are not merged
    const Tensor destination = maps ? tensor(16, 64, 0) : tensor(64, 16, 0);
    const tmajit::Operation operation = maps ? tmajit::operation::copy(destination, source)
                                             : tmajit::operation::permute(destination, source, axes);
    const tmajit::Plan plan = tmajit::plan(runtime_, operation, maps ? "engine_rows" : "transpose");
    const tmajit::Kernel& kernel = plan.kernels().front();
    const tmajit::KernelPlan& step = plan.plans().front();
    const tmajit::PreparedLaunch prepared = kernel.prepare(step);
    const std::array address_pairs{std::pair{destination.address, source.address},
                                   std::pair{destination.address + 2 * slot, source.address + 2 * slot}};

    const auto race_way = [&](const char* path, auto&& way) {
      const Cost cost = race_threads(threads, [&] {
        if (gpu_ != nullptr) gpu_->driver->make_current();
        const ThreadLaunch launch(*this, kernel, step);
        CacheEviction evict_caches;
        const auto ours = [&](std::size_t i) { way(i, launch.stream); };
        const auto raw = [&] { launch.raw(); };
        const auto wait = [&] { device_->streams().synchronize(launch.stream); };
        return cold_ ? race(cold_cache_rounds, ours, raw, evict_caches, wait)
                     : race(
                           warm_cache_rounds, ours, raw, [] {}, wait);
      });
      show(path, maps, threads, cost);
    };
    race_way("prepared launch", [&](std::size_t, tmajit::Stream stream) { prepared(stream); });
    race_way("plan, same addresses", [&](std::size_t, tmajit::Stream stream) { plan(stream); });
    race_way("plan, new addresses", [&](std::size_t i, tmajit::Stream stream) {
      const auto& [to, from] = address_pairs[i % address_pairs.size()];
      plan({&to, 1}, {&from, 1}, stream);
    });
    if (!maps) {
      race_way("one call, warm", [&](std::size_t i, tmajit::Stream stream) {
        const auto& [to, from] = address_pairs[i % address_pairs.size()];
        tmajit::permute(runtime_, {destination.view, to}, {source.view, from}, axes, stream);
      });
      race_way("Runtime::kernel()", [&](std::size_t, tmajit::Stream) { (void)runtime_.kernel(step); });
    }
  }

  /// A stream for one thread, and the launch of the kernel on it by the driver alone.
  struct ThreadLaunch {
    ThreadLaunch(const Dispatch& dispatch, const tmajit::Kernel& kernel, const tmajit::KernelPlan& step)
        : device(dispatch.device_.get()), stream(device->streams().create()), parameters(*device, step) {
      if (dispatch.gpu_ != nullptr) launcher.emplace(*dispatch.gpu_, kernel, step.launch_shape(), stream);
    }
    ~ThreadLaunch() { device->streams().destroy(stream); }
    ThreadLaunch(const ThreadLaunch&) = delete;
    ThreadLaunch& operator=(const ThreadLaunch&) = delete;
    void raw() const {
      if (launcher) (*launcher)(pointers);
    }

    tmajit::Device* device;
    tmajit::Stream stream;
    RawParameters parameters;
    std::span<void*> pointers = parameters.pointers();
    std::optional<RawLauncher> launcher;
  };

  void show(const char* path, bool maps, unsigned threads, const Cost& cost) {
    const char* const kernel = maps ? "two maps" : "threads";
    const char* const caches = cold_ ? "cold" : "warm";
    report_.line(fmt::format("{:<8}{:<10}{:<24}{:<8}{:>8}{:>10.0f}{:>10.0f}{:>10.0f}{:>14.2f}",
                             gpu_ == nullptr ? "null" : "gpu", kernel, path, caches, threads, cost.ns,
                             cost.raw_ns, cost.over_ns, cost.allocations));
    report_.json[cold_ ? "dispatch_cold" : "dispatch"].push_back(
        {{"path", path},
         {"kernel", kernel},
         {"device", gpu_ == nullptr ? "null" : "gpu"},
         {"threads", threads},
         {"ns", cost.ns},
         {"raw_ns", cost.raw_ns},
         {"over_ns", cost.over_ns},
         {"allocations", cost.allocations}});
  }

  std::shared_ptr<tmajit::Device> device_;
  Machine* gpu_;
  tmajit::Runtime runtime_;
  Report& report_;
  tmajit::Buffer memory_;
  bool cold_ = false;  ///< evicts the library's data from the caches before each launch
};

}  // namespace

void measure_dispatch(const Options& /*options*/, Machine* gpu, Report& report) {
  report.line("\nHost time of a launch over the driver's own, ns, medians; the device \"null\" does nothing");
  report.line("Before a \"cold\" launch, memory of the size of the core's own caches is written");
  report.line(fmt::format("{:<8}{:<10}{:<24}{:<8}{:>8}{:>10}{:>10}{:>10}{:>14}", "device", "kernel", "path",
                          "caches", "threads", "ns", "raw ns", "over ns", "allocations"));
  report.progress("dispatch");
  Dispatch(std::make_shared<tools::NullDevice>(), nullptr, report).measure();
  if (gpu != nullptr) Dispatch(gpu->device, gpu, report).measure();
}

}  // namespace bench
