#include "bench.hpp"
#include "case_list.hpp"
#include "workload.hpp"

#include <tmajit/error.hpp>

#include <spdlog/fmt/fmt.h>

namespace bench {
namespace {

constexpr std::string_view prefix = "tile ";  // begins the groups of cases with a tile of the caller's choice

/// The row's title: "map 2 inputs".
std::string title(const Case& c) {
  const std::string group = c.group.substr(prefix.size());
  return c.sources.size() == 1 ? group : fmt::format("{} {} inputs", group, c.sources.size());
}

/// The samples in GB/s; the slowest launch gives the lowest bandwidth.
Samples bandwidth(const Samples& microseconds, std::uint64_t bytes) {
  std::vector<double> values;
  for (const double value : microseconds.sorted()) values.push_back(gigabytes_per_second(bytes, value));
  return Samples(std::move(values));
}

/// Checks and measures one case. Throws the errors of the runtime.
void measure_one(const Case& c, std::uint64_t size, const Options& options, Machine& machine, Report& report,
                 nlohmann::ordered_json& entry) {
  const std::uint64_t moved = traffic(c).bytes();
  const ContestPlan how = machine.contest.plan(moved, options.rounds, Memory::beyond_l2);
  const Workload workload(machine, c, how.sets, options.seed);
  const std::vector<PreparedCase> prepared = workload.prepare(c);
  const tmajit::KernelPlan& plan = prepared.front().plans().front();
  entry["spec"] = to_json(plan);
  workload.require_right(c, prepared.front());

  const auto [our_times, driver_times] = workload.time_with_driver(prepared, how);
  const Samples ours = bandwidth(our_times, moved);
  const Samples driver = bandwidth(driver_times, moved);
  const double ratio = ours.median() / driver.median();
  report.line(fmt::format("{:<14}{:<12}{:>9} {:>10.1f} {:>6.1f}% {:>12.1f} {:>6.1f}% {:>8.3f}", title(c),
                          c.types(), human_bytes(size), ours.median(), 100 * ours.spread(), driver.median(),
                          100 * driver.spread(), ratio));
  entry["bytes_moved"] = moved;
  entry["timing"] = how.graph ? "graph" : "stream";
  entry["launches_in_a_sample"] = how.launches;
  entry["buffer_sets"] = how.sets;
  entry["registers"] = prepared.front().kernels().front().resources().registers;
  entry["grid"] = plan.launch_shape().grid;
  entry["shared_bytes"] = plan.launch_shape().shared_bytes;
  entry["ours_us"] = to_json(our_times);
  entry["memcpy_us"] = to_json(driver_times);
  entry["ours_gbps"] = ours.median();
  entry["memcpy_gbps"] = driver.median();
  entry["ratio"] = ratio;
}

}  // namespace

void measure_bandwidth(const Options& options, Machine& machine, Report& report) {
  std::vector<Case> cases =
      list_cases({.seed = options.seed, .types = options.types, .sizes = options.sizes});
  std::erase_if(cases, [&](const Case& c) {
    return !c.group.starts_with(prefix) || !options.wants(c.group.substr(prefix.size()));
  });
  report.line("\nBandwidth compared with cuMemcpyDtoDAsync, GB/s read plus written, medians");
  report.line(fmt::format("{:<14}{:<12}{:>9} {:>10} {:>7} {:>12} {:>7} {:>8}", "family", "type", "size",
                          "tmajit", "spread", "memcpy", "spread", "ratio"));
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const Case& c = cases[i];
    const std::uint64_t size =
        options.sizes[i % options.sizes.size()];  // the list has each case in every size
    const std::string where = fmt::format("{} {} {}", title(c), c.types(), human_bytes(size));
    report.progress(fmt::format("[{}/{}] {}", i + 1, cases.size(), where));
    nlohmann::ordered_json entry{{"family", c.family},
                                 {"group", c.group.substr(prefix.size())},
                                 {"expression", c.library_expression()},
                                 {"types", c.types()},
                                 {"inputs", c.sources.size()},
                                 {"size", size},
                                 {"shape", c.destinations.front().shape}};
    try {
      measure_one(c, size, options, machine, report, entry);
    } catch (const tmajit::Error& error) {
      entry["error"] = error.what();
      report.failure(where, error);
      // After a fault on a GPU the context is gone; nothing further can be measured.
      if (machine.lost_by(error)) throw;
    }
    report.json["bandwidth"].push_back(std::move(entry));
  }
}

}  // namespace bench
