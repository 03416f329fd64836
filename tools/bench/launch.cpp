#include "bench.hpp"
#include "check.hpp"
#include "planning.hpp"
#include "raw_launch.hpp"
#include "workload.hpp"

#include <tmajit/codegen.hpp>
#include <tmajit/move.hpp>

#include <array>
#include <chrono>
#include <functional>

#include <spdlog/fmt/fmt.h>

namespace bench {
namespace {

using Clock = std::chrono::steady_clock;

/// Launches in a measurement, fewer than the driver queues before it makes the host wait.
constexpr std::size_t launches = 256;

constexpr const char* two_maps_and_an_int = R"(
#include "tmajit/tensor_map.cuh"
extern "C" __global__ void two_maps_and_an_int(const __grid_constant__ tmajit::TensorMap a,
                                               const __grid_constant__ tmajit::TensorMap b, int n) {
  if (n == 0) return;  // always true here; the rest only keeps the parameters in use
  tmajit::ptx::prefetch_tensor_map(a);
  tmajit::ptx::prefetch_tensor_map(b);
}
)";

/// One way to launch a kernel.
struct Way {
  std::string name;
  std::function<void()> launch;
};

/// Measures the host microseconds of a launch in several ways, which take turns, and compares them with the
/// first way.
void race_host(const Options& options, Machine& machine, Report& report, const char* kernel,
               const std::vector<Way>& ways) {
  const std::size_t count = machine.driver ? launches : 1;
  std::vector<std::vector<double>> values(ways.size());
  for (unsigned round = 0; round <= options.rounds; ++round) {
    for (std::size_t way = 0; way < ways.size(); ++way) {
      const auto start = Clock::now();
      for (std::size_t i = 0; i < count; ++i) ways[way].launch();
      const double microseconds = std::chrono::duration<double, std::micro>(Clock::now() - start).count();
      machine.device->streams().synchronize(machine.stream);
      if (round > 0) values[way].push_back(microseconds / static_cast<double>(count));  // round 0 warms up
    }
  }
  const double reference = Samples(values.front()).median();
  for (std::size_t way = 0; way < ways.size(); ++way) {
    const Samples samples(values[way]);
    report.line(fmt::format("{:<22}{:<40}{:>8.2f} {:>6.1f}% {:>8.2f}", kernel, ways[way].name,
                            samples.median(), 100 * samples.spread(), samples.median() / reference));
    report.json["launch"].push_back({{"kernel", kernel},
                                     {"way", ways[way].name},
                                     {"us", to_json(samples)},
                                     {"over_raw", samples.median() / reference}});
  }
}

Way raw_way(const RawLauncher& raw, std::span<void*> parameters) {
  return {raw.name(), [&raw, parameters] { raw(parameters); }};
}

void measure_custom(const Options& options, Machine& machine, Report& report, tmajit::EncodedTensorMap& map) {
  const tmajit::Kernel kernel =
      machine.runtime.kernel(tmajit::custom_source(two_maps_and_an_int, "two_maps_and_an_int"));
  const tmajit::LaunchShape shape{{1, 1, 1}, {32, 1, 1}, 0};
  const RawLauncher raw(machine, kernel, shape, machine.stream);
  int n = 0;
  std::array<void*, 3> parameters{&map, &map, &n};
  race_host(options, machine, report, "two maps and an int",
            {raw_way(raw, parameters), {"Kernel::launch(shape, parameters)", [&] {
                                          kernel.launch(shape, parameters, machine.stream);
                                        }}});
}

/// A case with a dense matrix of one tile, copied or transposed: the kernel takes less time than its launch.
Case small_case(const char* operation, tmajit::Arguments arguments = {}) {
  return make_case("launch", "one tile", operation, {{tmajit::ElementType::f32, {16, 64}}},
                   std::move(arguments));
}

/// Two sets of a case's buffers, for alternating launches.
struct Buffers {
  struct Pair {
    tmajit::DevicePtr destination, source;
  };
  Buffers(Machine& machine, const Case& bench_case)
      : bytes(buffer_bytes(bench_case, bench_case.destinations)),
        memory(machine.device, 4 * bytes),
        first{memory.address(), memory.address() + bytes},
        second{first.destination + 2 * bytes, first.source + 2 * bytes} {}
  Pair next() {
    turn = !turn;
    return turn ? second : first;
  }

  std::uint64_t bytes;
  tmajit::Buffer memory;
  Pair first, second;
  bool turn = false;
};

void measure_copy(const Options& options, Machine& machine, Report& report) {
  Case bench_case = small_case("copy");
  bench_case.family = "copy";
  bench_case = with_tile(bench_case, {});
  Buffers buffers(machine, bench_case);
  const tmajit::KernelPlan plan =
      plan_case(bench_case, buffers.first.destination, buffers.first.source).front();
  const tmajit::Kernel kernel = machine.runtime.kernel(plan);
  tmajit::PreparedLaunch prepared = kernel.prepare(plan);
  tmajit::PreparedLaunch rebound = kernel.prepare(plan);

  RawParameters parameters(*machine.device, plan);
  measure_custom(options, machine, report, parameters.map());
  const RawLauncher raw(machine, kernel, plan.launch_shape(), machine.stream);
  // Both sides must do the same work.
  const reference::Pattern pattern(bench_case.sources[0].type, options.seed);
  fill(*machine.device, pattern, buffers.first.source, buffers.bytes, machine.stream);
  raw(parameters.pointers());
  machine.device->streams().synchronize(machine.stream);
  Check(bench_case, pattern, options.seed)
      .require_right(*machine.device, buffers.first.destination, machine.stream);

  race_host(options, machine, report, "copy, one tile",
            {raw_way(raw, parameters.pointers()),
             {"PreparedLaunch", [&] { prepared(machine.stream); }},
             {"PreparedLaunch rebound, maps encoded",
              [&] {
                const auto [to, from] = buffers.next();
                rebound.rebind(std::array{to, from});
                rebound(machine.stream);
              }},
             {"Kernel::launch(plan), maps encoded", [&] { kernel.launch(plan, machine.stream); }}});
}

/// Measures the cost of a move in three ways: planned once, the plan used on other addresses, and planned for
/// each launch.
void measure_move(const Options& options, Machine& machine, Report& report) {
  const tmajit::Dims axes{1, 0};
  const Case bench_case = small_case("permute", {{"axes", axes}});
  Buffers buffers(machine, bench_case);
  const tmajit::Tensor destination = tensors(bench_case.destinations, buffers.first.destination).front();
  const tmajit::Tensor source = tensors(bench_case.sources, buffers.first.source).front();
  const tmajit::Plan move = tmajit::plan(
      machine.runtime, operation_of(bench_case, buffers.first.destination, buffers.first.source));
  const tmajit::PreparedLaunch prepared = move.kernels().front().prepare(move.plans().front());
  race_host(options, machine, report, "transpose, one tile",
            {{"PreparedLaunch", [&] { prepared(machine.stream); }},
             {"Plan", [&] { move(machine.stream); }},
             {"Plan, other addresses",
              [&] {
                const auto [to, from] = buffers.next();
                move({&to, 1}, {&from, 1}, machine.stream);
              }},
             {"permute(), planned again",
              [&] { tmajit::permute(machine.runtime, destination, source, axes, machine.stream); }}});
}

}  // namespace

void measure_launch(const Options& options, Machine& machine, Report& report) {
  report.line("\nHost time of a launch, us, medians");
  report.line(fmt::format("{:<22}{:<40}{:>8} {:>7} {:>8}", "kernel", "", "us", "spread", "over first"));
  report.progress("launch");
  measure_copy(options, machine, report);
  measure_move(options, machine, report);
}

}  // namespace bench
