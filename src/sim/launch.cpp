#include "sim/launch.hpp"

#include "sim/cluster.hpp"
#include "sim/races.hpp"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <exception>
#include <thread>

#include <spdlog/fmt/fmt.h>

TMAJIT_BEGIN
namespace sim {
namespace {

struct Handle {
  std::array<char, 16> magic{};
  std::uint64_t index = 0;
  std::uint64_t checksum = 0;
};
constexpr std::array<char, 16> magic{"tmajit sim map"};

std::uint64_t checksum(std::uint64_t index) {
  return (index + 1) * 0x9e3779b97f4a7c15ULL ^ 0x746d616a6974ULL;
}

/// Tells `tell` now and then how far the launch is, until it goes out of scope.
std::jthread watch(const Launch& launch, std::uint64_t ctas) {
  const auto& tell = launch.options.progress;
  if (!tell) return {};
  return std::jthread([&launch, &tell, ctas](const std::stop_token& stop) {
    std::mutex mutex;
    std::condition_variable_any wake;
    std::unique_lock lock(mutex);
    while (!wake.wait_for(lock, stop, std::chrono::milliseconds(200), [] { return false; })) {
      if (stop.stop_requested()) return;
      tell({launch.thread_instructions, launch.ctas_done, ctas});
    }
  });
}

}  // namespace

EncodedTensorMap TensorMaps::encode(const TensorMapSpec& spec, std::uint64_t address) {
  std::string key(sizeof spec + sizeof address, '\0');
  std::memcpy(key.data(), &spec, sizeof spec);
  std::memcpy(key.data() + sizeof spec, &address, sizeof address);
  const std::lock_guard lock(mutex_);
  const auto [found, fresh] = known_.try_emplace(std::move(key), maps_.size());
  if (fresh) maps_.push_back({spec, address});
  const Handle handle{magic, found->second, checksum(found->second)};
  EncodedTensorMap map;
  std::memcpy(map.opaque.data(), &handle, sizeof handle);
  return map;
}

std::optional<TensorMap> TensorMaps::decode(const std::byte* bytes) const {
  Handle handle;
  std::memcpy(&handle, bytes, sizeof handle);
  const std::lock_guard lock(mutex_);
  if (handle.magic != magic || handle.index >= maps_.size() || handle.checksum != checksum(handle.index))
    return {};
  return maps_[handle.index];
}

void Reports::add(Report report) {
  const std::lock_guard lock(mutex_);
  for (Report& known : reports_) {
    if (known.rule == report.rule && known.ptx_line == report.ptx_line) {
      ++known.count;
      return;
    }
  }
  if (reports_.size() == most) {
    ++reports_.back().count;
  } else {
    reports_.push_back(std::move(report));
  }
}

bool Reports::again(std::string_view rule, std::uint32_t ptx_line) {
  const std::lock_guard lock(mutex_);
  for (Report& known : reports_) {
    if (known.rule != rule || known.ptx_line != ptx_line) continue;
    ++known.count;
    return true;
  }
  return false;
}

std::vector<Report> Reports::take() {
  const std::lock_guard lock(mutex_);
  return std::exchange(reports_, {});
}

void Launch::print(const std::string& text) {
  if (!options.print) return;
  const std::lock_guard lock(print_mutex);
  options.print(text);
}

void run(Launch& launch, std::uint32_t threads) {
  const auto& extent = launch.cluster;
  const std::array<std::uint32_t, 3> grid{launch.shape.grid[0] / extent[0], launch.shape.grid[1] / extent[1],
                                          launch.shape.grid[2] / extent[2]};
  const std::uint64_t clusters = std::uint64_t{grid[0]} * grid[1] * grid[2];
  // The edges that a cluster makes are none that races know.
  std::optional<LaunchOrder> order;
  if (launch.options.races && extent == LaunchShape{}.cluster) launch.order = &order.emplace(launch.regions);
  std::mutex mutex;
  std::exception_ptr failure;
  const auto work = [&] {
    try {
      Cluster cluster(launch);
      while (!launch.stopped) {
        const std::uint64_t n = launch.next_cluster++;
        if (n >= clusters) break;
        cluster.run({static_cast<std::uint32_t>(n % grid[0]),
                     static_cast<std::uint32_t>(n / grid[0] % grid[1]),
                     static_cast<std::uint32_t>(n / grid[0] / grid[1])});
        launch.ctas_done += cluster.size();
      }
    } catch (...) {
      const std::lock_guard lock(mutex);
      if (!failure) failure = std::current_exception();
      launch.stopped = true;
    }
  };
  const std::jthread watcher = watch(launch, clusters * extent[0] * extent[1] * extent[2]);
  std::vector<std::jthread> workers;
  for (std::uint64_t i = 1; i < std::min<std::uint64_t>(threads, clusters); ++i) workers.emplace_back(work);
  work();
  workers.clear();
  if (failure) std::rethrow_exception(failure);
}

}  // namespace sim
TMAJIT_END
