#pragma once

/// The state that the CTAs of one launch share.
#include "sim/launch/reports.hpp"
#include "sim/memory/heap.hpp"
#include "sim/memory/map_changes.hpp"
#include "sim/memory/region.hpp"
#include "sim/memory/tensor_maps.hpp"
#include "sim/program/grid.hpp"
#include "sim/program/program.hpp"

#include <tmajit/sim.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string_view>

TMAJIT_BEGIN
namespace sim {

struct LaunchOrder;
struct Flight;
/// Earlier launches that on a GPU may still run when a launch begins, the latest first (flights.hpp).
using Flights = std::vector<std::shared_ptr<const Flight>>;

struct Launch {
  const Program& program;
  const LaunchShape& shape;
  const SimOptions& options;
  TensorMaps& tensor_maps;
  std::vector<std::byte> parameters;
  std::vector<Region> regions;  ///< regions of global memory, by address
  Reports reports;
  std::atomic<std::uint64_t> thread_instructions = 0;
  std::atomic<bool> stopped = false;  ///< a violation ended the launch
  std::atomic<std::uint64_t> next_cluster = 0;
  Triple cluster{1, 1, 1};                       ///< CTAs a cluster; divides the grid
  bool explicit_cluster = false;                 ///< the launch or the kernel asked for clusters
  std::shared_ptr<LaunchOrder> order = nullptr;  ///< null: SimOptions::races is off
  std::atomic<std::uint64_t> ctas_done = 0;
  std::mutex print_mutex{};
  std::uint64_t number = 0;  ///< TensorMaps::begin_launch()
  MapChanges map_changes{};
  std::chrono::steady_clock::time_point deadline = std::chrono::steady_clock::time_point::max();
  std::atomic<bool> deadline_reported = false;  ///< the missed deadline has been reported
  std::uint64_t ctas_at_once = 1;               ///< CTAs that the chip holds at a time
  std::uint64_t grid_workspace = 0;  ///< cooperative launches: global address of the grid barrier's memory
  Flights overlapped{};
  std::atomic<bool> waited = false;         ///< a thread executed griddepcontrol.wait
  std::atomic<bool> triggered = false;      ///< a thread executed griddepcontrol.launch_dependents
  std::atomic<std::uint64_t> reported = 0;  ///< reports of rules that are not allowed
  DeviceHeap* heap = nullptr;               ///< null: the kernel does not use the heap, and no block exists

  /// The launch's regions and the region of the heap, by address.
  [[nodiscard]] std::vector<Region> all_regions() const {
    std::vector<Region> all = regions;
    if (heap != nullptr) all.push_back(heap->region());  // its addresses are above all allocations
    return all;
  }

  /// The position in the grid of the CTA with rank `rank` in cluster `cluster_number`.
  [[nodiscard]] Triple ctaid(std::uint64_t cluster_number, std::uint32_t rank) const noexcept {
    return sim::ctaid(shape.grid, cluster, cluster_number, rank);
  }
  /// Whether SimOptions::allowed has the rule.
  [[nodiscard]] bool allows(std::string_view rule) const {
    return std::ranges::find(options.allowed, rule) != options.allowed.end();
  }
  /// Whether the launch continues after a violation of the rule.
  [[nodiscard]] bool continues_after(std::string_view rule) const {
    return (options.keep_going && reported < Reports::max_violations) || allows(rule);
  }
  /// Passes the output of a thread to SimOptions::print.
  void print(const std::string& text);
};

/// Sets a report's kernel, PTX line, source line and instruction. `location`: index into Program::locations.
void locate(Report& report, const Program& program, std::uint32_t location);
/// Reports the heap blocks that the launch has allocated and to which no pointer is left.
void report_lost(Launch& launch);

/// Runs every cluster on `threads` host threads (workers.cpp).
void run(Launch& launch, std::uint32_t threads);

}  // namespace sim
TMAJIT_END
