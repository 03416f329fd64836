#include "bench.hpp"
#include "case_list.hpp"
#include "workload.hpp"

#include <tmajit/error.hpp>

#include <spdlog/fmt/fmt.h>

namespace bench {
namespace {

/// Begins the names of groups of cases with a tile of the caller's choice.
constexpr std::string_view tile_group = "tile ";

/// The row's title: "map 2 inputs".
std::string title(const Case& bench_case) {
  const std::string group = bench_case.group.substr(tile_group.size());
  return bench_case.sources.size() == 1 ? group
                                        : fmt::format("{} {} inputs", group, bench_case.sources.size());
}

/// The samples in GB/s; the slowest launch gives the lowest bandwidth.
Samples bandwidth(const Samples& microseconds, std::uint64_t bytes) {
  std::vector<double> values;
  for (const double value : microseconds.sorted()) values.push_back(gigabytes_per_second(bytes, value));
  return Samples(std::move(values));
}

/// Checks and measures one case. Throws the errors of the runtime.
void measure_one(const Case& bench_case, std::uint64_t size, const Options& options, Machine& machine,
                 Report& report, nlohmann::ordered_json& entry) {
  const std::uint64_t moved = traffic(bench_case).bytes();
  const ContestPlan timing = machine.contest.plan(moved, options.rounds, Memory::beyond_l2);
  const Workload workload(machine, bench_case, timing.sets, options.seed);
  const std::vector<PreparedCase> prepared = workload.prepare(bench_case);
  const tmajit::KernelPlan& plan = prepared.front().plans().front();
  entry["spec"] = to_json(plan);
  workload.require_right(bench_case, prepared.front());

  const auto [our_times, driver_times] = workload.time_with_driver(prepared, timing);
  const Samples ours = bandwidth(our_times, moved);
  const Samples driver = bandwidth(driver_times, moved);
  const double ratio = ours.median() / driver.median();
  report.line(fmt::format("{:<14}{:<12}{:>9} {:>10.1f} {:>6.1f}% {:>12.1f} {:>6.1f}% {:>8.3f}",
                          title(bench_case), bench_case.types(), human_bytes(size), ours.median(),
                          100 * ours.spread(), driver.median(), 100 * driver.spread(), ratio));
  entry["bytes_moved"] = moved;
  entry["timing"] = timing.graph ? "graph" : "stream";
  entry["launches_in_a_sample"] = timing.launches;
  entry["buffer_sets"] = timing.sets;
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
  std::erase_if(cases, [&](const Case& bench_case) {
    return !bench_case.group.starts_with(tile_group) ||
           !options.wants(bench_case.group.substr(tile_group.size()));
  });
  report.line("\nBandwidth compared with cuMemcpyDtoDAsync, GB/s read plus written, medians");
  report.line(fmt::format("{:<14}{:<12}{:>9} {:>10} {:>7} {:>12} {:>7} {:>8}", "family", "type", "size",
                          "tmajit", "spread", "memcpy", "spread", "ratio"));
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const Case& bench_case = cases[i];
    // list_cases() repeats each case for all sizes in turn.
    const std::uint64_t size = options.sizes[i % options.sizes.size()];
    const std::string label =
        fmt::format("{} {} {}", title(bench_case), bench_case.types(), human_bytes(size));
    report.progress(fmt::format("[{}/{}] {}", i + 1, cases.size(), label));
    nlohmann::ordered_json entry{{"family", bench_case.family},
                                 {"group", bench_case.group.substr(tile_group.size())},
                                 {"expression", bench_case.library_expression()},
                                 {"types", bench_case.types()},
                                 {"inputs", bench_case.sources.size()},
                                 {"size", size},
                                 {"shape", bench_case.destinations.front().shape}};
    try {
      measure_one(bench_case, size, options, machine, report, entry);
    } catch (const tmajit::Error& error) {
      entry["error"] = error.what();
      report.failure(label, error);
      // After a fault on a GPU the context is gone; nothing further can be measured.
      if (machine.lost_by(error)) throw;
    }
    report.json["bandwidth"].push_back(std::move(entry));
  }
}

}  // namespace bench
