#include "bench.hpp"
#include "workload.hpp"

#include <tmajit/error.hpp>

#include <spdlog/fmt/fmt.h>

namespace bench {
namespace {

double gigabytes_per_second(std::uint64_t bytes, double microseconds) {
  return static_cast<double>(bytes) / microseconds * 1e-3;
}

/// The samples as GB/s; the slowest launch is the lowest bandwidth.
Samples bandwidth(const Samples& microseconds, std::uint64_t bytes) {
  std::vector<double> values;
  for (const double value : microseconds.sorted()) values.push_back(gigabytes_per_second(bytes, value));
  return Samples(std::move(values));
}

/// Checks and measures one case at one size; throws what the runtime throws.
void measure(const Case& c, std::uint64_t size, const Options& options, Gpu& gpu, const Spacer& spacer,
             Report& report, nlohmann::ordered_json& entry) {
  const tmajit::KernelSpec spec = c.spec(size);
  entry["spec"] = to_json(spec);
  const tmajit::Kernel kernel = gpu.runtime.kernel(spec);

  const std::uint64_t moved = bytes_moved(c, spec, size);
  const Plan plan = plan_for(moved, options.rounds, gpu.device->info());
  const tmajit::TensorView output = output_of(c, spec, size);
  const Workload workload(gpu, c, size, plan, output.elements() * tmajit::size_of(output.type), moved / 2,
                          options.seed);
  const std::vector<tmajit::PreparedLaunch> launches = workload.prepare(kernel, spec);
  if (const std::string wrong = workload.check(launches.front(), spec); !wrong.empty()) {
    throw tmajit::Error(tmajit::ErrorCode::internal, wrong);
  }

  const std::array<Contender, 2> contenders{
      [&](std::size_t set) { launches[set](gpu.stream); },
      [&](std::size_t set) { workload.copy(set); },
  };
  const std::vector<Samples> microseconds = race(gpu, spacer, contenders, plan);
  const Samples ours = bandwidth(microseconds[0], moved);
  const Samples reference = bandwidth(microseconds[1], moved);
  const double ratio = ours.median() / reference.median();

  report.line(fmt::format("{:<14}{:<12}{:>9} {:>10.1f} {:>6.1f}% {:>12.1f} {:>6.1f}% {:>8.3f}", c.title(),
                          c.types(), human_bytes(size), ours.median(), 100 * ours.spread(),
                          reference.median(), 100 * reference.spread(), ratio));
  entry["bytes_moved"] = moved;
  entry["timing"] = plan.graph ? "graph" : "stream";
  entry["launches_in_a_sample"] = plan.launches;
  entry["buffer_sets"] = plan.sets;
  entry["registers"] = kernel.artifact().resources.registers;
  entry["grid"] = launches.front().shape().grid;
  entry["shared_bytes"] = launches.front().shape().shared_bytes;
  entry["ours_us"] = to_json(microseconds[0]);
  entry["memcpy_us"] = to_json(microseconds[1]);
  entry["ours_gbps"] = ours.median();
  entry["memcpy_gbps"] = reference.median();
  entry["ratio"] = ratio;
}

}  // namespace

void measure_bandwidth(const Options& options, Gpu& gpu, Report& report) {
  const std::vector<Case> all = cases(options);
  if (all.empty()) return;
  const Spacer spacer(gpu);
  report.line("\nBandwidth beside cuMemcpyDtoDAsync, GB/s read plus written, medians");
  report.line(fmt::format("{:<14}{:<12}{:>9} {:>10} {:>7} {:>12} {:>7} {:>8}", "family", "type", "size",
                          "tmajit", "spread", "memcpy", "spread", "ratio"));
  std::size_t done = 0;
  for (const Case& c : all) {
    for (const std::uint64_t size : options.sizes) {
      report.progress(fmt::format("[{}/{}] {} {} {}", ++done, all.size() * options.sizes.size(), c.title(),
                                  c.types(), human_bytes(size)));
      nlohmann::ordered_json entry{{"family", tmajit::name(c.family)},
                                   {"group", c.group},
                                   {"expression", c.expression},
                                   {"types", c.types()},
                                   {"inputs", c.inputs.size()},
                                   {"size", size},
                                   {"shape", c.shape(size)}};
      try {
        measure(c, size, options, gpu, spacer, report, entry);
      } catch (const tmajit::Error& error) {
        const std::string where = fmt::format("{} {} {}", c.title(), c.types(), human_bytes(size));
        entry["error"] = error.what();
        if (error.code() == tmajit::ErrorCode::out_of_memory) {
          report.line(fmt::format("{}: not run: {}", where, error.what()));
        } else {
          report.failure(fmt::format("{}: {}", where, error.what()));
        }
        // After a fault the context is gone; nothing further can be measured.
        if (error.code() == tmajit::ErrorCode::device_failed) throw;
      }
      report.json["bandwidth"].push_back(std::move(entry));
    }
  }
}

}  // namespace bench
