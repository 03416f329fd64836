#pragma once

/// The state that the CTAs of one launch share.
#include "sim/heap.hpp"
#include "sim/map_changes.hpp"
#include "sim/program.hpp"

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

/// Extents of a grid, a cluster or a block, or a place in one: x, y, z.
using Triple = std::array<std::uint32_t, 3>;
[[nodiscard]] constexpr std::uint64_t volume(const Triple& extent) noexcept {
  return std::uint64_t{extent[0]} * extent[1] * extent[2];
}
/// The place with number `n`, counted x first.
[[nodiscard]] constexpr Triple place_in(const Triple& extent, std::uint64_t n) noexcept {
  return {static_cast<std::uint32_t>(n % extent[0]), static_cast<std::uint32_t>(n / extent[0] % extent[1]),
          static_cast<std::uint32_t>(n / extent[0] / extent[1])};
}
/// The place in a grid of the CTA with rank `rank` in cluster `number`.
[[nodiscard]] constexpr Triple ctaid(const Triple& grid, const Triple& cluster, std::uint64_t number,
                                     std::uint32_t rank) noexcept {
  Triple clusters = grid;
  for (std::size_t d = 0; d < 3; ++d) clusters[d] /= cluster[d];
  const Triple first = place_in(clusters, number);
  Triple place = place_in(cluster, rank);
  for (std::size_t d = 0; d < 3; ++d) place[d] += first[d] * cluster[d];
  return place;
}
/// "(x, y, z)"
[[nodiscard]] std::string text_of(const Triple& place);

/// One allocation as a launch sees it.
struct Region {
  std::uint64_t begin = 0;
  std::uint64_t bytes = 0;
  std::shared_ptr<std::byte[]> memory;
};

struct TensorMap {
  TensorMapSpec spec;
  std::uint64_t address = 0;
  std::uint64_t changed_in = 0;  ///< the launch that has changed it; 0: it is as the host encoded it
};

/// The tensor maps that a device has encoded: a handle and a checksum in 128 bytes that only the simulator
/// reads. Thread-safe.
class TensorMaps {
 public:
  [[nodiscard]] EncodedTensorMap encode(const TensorMapSpec& spec, std::uint64_t address,
                                        std::uint64_t changed_in = 0);
  /// Nothing if these bytes are none that encode() gave.
  [[nodiscard]] std::optional<TensorMap> decode(const std::byte* bytes) const;
  /// A number for TensorMap::changed_in.
  [[nodiscard]] std::uint64_t begin_launch() noexcept { return ++launches_; }

 private:
  mutable std::mutex mutex_;
  std::vector<TensorMap> maps_;
  std::map<std::string, std::uint64_t> known_;
  std::atomic<std::uint64_t> launches_ = 0;
};

/// Collects reports of all CTAs, one of each rule and place. Thread-safe.
class Reports {
 public:
  /// At most this many differ; the rest is counted with the last.
  static constexpr std::size_t most = 100;
  /// Reports of a launch that goes on after them (SimOptions::keep_going), however many of them are one.
  static constexpr std::uint64_t most_kept_going = 10'000;
  /// Reports are one if they share a rule and an instruction, or a rule and one of these.
  struct Cause {
    std::uint32_t other_line = 0;  ///< of a second instruction that the report is about; 0: there is none
    std::uint32_t statement = 0;   ///< Place::statement; 0: unknown
    std::string name{};            ///< of one rule, and with '*' in front of all; empty: unknown
    // See About.
    std::string symptom{};
    std::uint32_t symptom_line = 0;
    std::optional<Report> swapped{};
    bool leads = false;
  };
  void add(Report report, Cause cause);
  void add(Report report) { add(std::move(report), Cause{}); }
  /// The launch could not go on after the last report of that rule, though the rule is allowed: says so in
  /// it.
  void keep_allowed(std::string_view rule);
  /// Removes the reports of allowed rules. A launch that `stopped` keeps a report that says why.
  void drop_allowed(const std::vector<std::string>& allowed, bool stopped);
  /// Counts one more of a rule and line if it is known already.
  [[nodiscard]] bool again(std::string_view rule, std::uint32_t ptx_line);
  /// In the order in which they came; but a race of two instructions stands behind a report that one of them
  /// meets a load of the other in flight, which says more.
  [[nodiscard]] std::vector<Report> take();

 private:
  struct Entry {
    Report report;
    std::uint32_t other_line;
    Cause cause;
    /// Rules and lines that count as this one.
    std::vector<std::pair<std::string, std::uint32_t>> shown;
    [[nodiscard]] bool is(std::string_view rule, std::uint32_t line) const {
      return std::ranges::any_of(shown,
                                 [&](const auto& each) { return each.second == line && each.first == rule; });
    }
    bool says_why = false;  ///< the launch has ended, though the rule is allowed
    [[nodiscard]] bool is_race() const { return report.rule.starts_with("race."); }
    [[nodiscard]] bool is_in_flight() const { return report.rule.find(".in-flight-") != std::string::npos; }
    [[nodiscard]] bool of_the_two_of(const Entry& other) const {
      return other_line != 0 &&
             std::minmax(report.ptx_line, other_line) == std::minmax(other.report.ptx_line, other.other_line);
    }
  };
  bool count(std::string_view rule, std::uint32_t ptx_line);
  void lead_with_barriers();
  [[nodiscard]] static Report finished(Entry entry);

  std::mutex mutex_;
  std::vector<Entry> entries_;
};

struct LaunchOrder;
struct Flight;
/// Launches that may still run when another begins, the latest first (flights.hpp).
using Flights = std::vector<std::shared_ptr<const Flight>>;

struct Launch {
  const Program& program;
  const LaunchShape& shape;
  const SimOptions& options;
  TensorMaps& tensor_maps;
  std::vector<std::byte> parameters;
  std::vector<Region> regions;  ///< of global memory, by address
  Reports reports;
  std::atomic<std::uint64_t> thread_instructions = 0;
  std::atomic<bool> stopped = false;  ///< a fault ended the launch
  std::atomic<std::uint64_t> next_cluster = 0;
  Triple cluster{1, 1, 1};                       ///< CTAs a cluster; divides the grid
  bool explicit_cluster = false;                 ///< the launch or the kernel asked for clusters
  std::shared_ptr<LaunchOrder> order = nullptr;  ///< null: races are not looked for
  std::atomic<std::uint64_t> ctas_done = 0;
  std::mutex print_mutex{};
  std::uint64_t number = 0;  ///< that the tensor maps it changes have
  MapChanges map_changes{};
  std::chrono::steady_clock::time_point deadline = std::chrono::steady_clock::time_point::max();
  std::atomic<bool> late = false;    ///< it has been reported that the deadline is over
  std::uint64_t ctas_at_once = 1;    ///< that the chip holds
  std::uint64_t grid_workspace = 0;  ///< address, of a cooperative launch
  Flights overlapped{};
  std::atomic<bool> waited = false;         ///< a thread executed griddepcontrol.wait
  std::atomic<bool> triggered = false;      ///< a thread executed griddepcontrol.launch_dependents
  std::atomic<std::uint64_t> reported = 0;  ///< reports of rules that are not allowed
  DeviceHeap* heap = nullptr;               ///< null: no kernel takes memory from it

  /// The region that holds an address of the heap, and all others.
  [[nodiscard]] std::vector<Region> all_regions() const {
    std::vector<Region> all = regions;
    if (heap != nullptr) all.push_back(heap->region());  // the last by address
    return all;
  }

  /// The place in the grid of the CTA with rank `rank` in the cluster of that number.
  [[nodiscard]] Triple ctaid(std::uint64_t cluster_number, std::uint32_t rank) const noexcept {
    return sim::ctaid(shape.grid, cluster, cluster_number, rank);
  }
  [[nodiscard]] bool allows(std::string_view rule) const {
    return std::ranges::find(options.allowed, rule) != options.allowed.end();
  }
  /// Whether the launch goes on after a report of the rule, if it can.
  [[nodiscard]] bool goes_on(std::string_view rule) const {
    return (options.keep_going && reported < Reports::most_kept_going) || allows(rule);
  }
  /// Passes the output of a thread to SimOptions::print.
  void print(const std::string& text);
};

/// Says in a report where in the program it was.
void locate(Report& report, const Program& program, std::uint32_t place);
/// Reports the blocks that the launch has taken from the heap and lost.
void report_lost(Launch& launch);

/// Runs every cluster on `threads` host threads (workers.cpp).
void run(Launch& launch, std::uint32_t threads);

}  // namespace sim
TMAJIT_END
