#include "bench.hpp"
#include "data.hpp"

#include <tmajit/codegen.hpp>
#include <tmajit/error.hpp>

#include <array>
#include <chrono>
#include <functional>

#include <spdlog/fmt/fmt.h>

namespace bench {
namespace {

using Clock = std::chrono::steady_clock;
using tmajit::ElementType;
using tmajit::Operand;
using tmajit::TensorView;

/// Fewer launches than the driver queues before it makes the host wait.
constexpr std::size_t launches = 256;

constexpr const char* two_maps_and_an_int = R"(
#include "tmajit/tensor_map.cuh"
extern "C" __global__ void two_maps_and_an_int(const __grid_constant__ tmajit::TensorMap a,
                                               const __grid_constant__ tmajit::TensorMap b, int n) {
  if (n == 0) return;  // as it is here; the rest only keeps the parameters in use
  tmajit::ptx::prefetch_tensor_map(a);
  tmajit::ptx::prefetch_tensor_map(b);
}
)";

struct Way {
  std::string name;
  std::function<void()> launch;
};

/// Host microseconds of a launch, the ways taking turns.
void race_host(const Options& options, Gpu& gpu, Report& report, const char* kernel, std::vector<Way> ways) {
  std::vector<std::vector<double>> values(ways.size());
  for (unsigned round = 0; round <= options.rounds; ++round) {
    for (std::size_t way = 0; way < ways.size(); ++way) {
      const auto start = Clock::now();
      for (std::size_t i = 0; i < launches; ++i) ways[way].launch();
      const double microseconds = std::chrono::duration<double, std::micro>(Clock::now() - start).count();
      gpu.device->synchronize(gpu.stream);
      if (round > 0) values[way].push_back(microseconds / launches);  // round 0 warms up
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

/// A launch with nothing of tmajit's around it.
std::function<void()> raw_launch(Gpu& gpu, const RawKernel& kernel, const tmajit::LaunchShape& shape,
                                 void** parameters) {
  CUlaunchConfig config{};
  config.gridDimX = shape.grid[0];
  config.gridDimY = shape.grid[1];
  config.gridDimZ = shape.grid[2];
  config.blockDimX = shape.block[0];
  config.blockDimY = shape.block[1];
  config.blockDimZ = shape.block[2];
  config.sharedMemBytes = shape.shared_bytes;
  config.hStream = gpu.stream;
  return [&gpu, &kernel, config, parameters] {
    gpu.driver.check(gpu.driver.launch_kernel(&config, kernel.function(), parameters, nullptr),
                     "cuLaunchKernelEx");
  };
}

void measure_custom(const Options& options, Gpu& gpu, Report& report, tmajit::EncodedTensorMap& map) {
  const tmajit::Kernel kernel =
      gpu.runtime.kernel(tmajit::custom_source(two_maps_and_an_int, "two_maps_and_an_int"));
  const RawKernel raw(gpu.driver, kernel.artifact(), 0);
  const tmajit::LaunchShape shape{{1, 1, 1}, {32, 1, 1}, 0};
  int n = 0;
  std::array<void*, 3> parameters{&map, &map, &n};
  race_host(options, gpu, report, "two maps and an int",
            {{"cuLaunchKernelEx", raw_launch(gpu, raw, shape, parameters.data())},
             {"Kernel::launch(shape, parameters)", [&] { kernel.launch(shape, parameters, gpu.stream); }}});
}

/// The last parameter of a copy of rank 2 (docs/plan.md, "What a kernel takes").
struct RowTail {
  std::uint64_t address = 0;
  std::array<std::uint64_t, 2> strides{};
  std::array<std::uint32_t, 2> extent{};
  std::uint32_t begin = 0;
};

/// Both sides must do the same work: what `launch` leaves in `out` is what is in `in`.
void require_copied(Gpu& gpu, const Operand& in, const Operand& out, const std::function<void()>& launch) {
  const std::uint64_t bytes = in.view.span_bytes();
  fill_random(gpu, in.address, bytes, in.view.type, 1);
  gpu.device->fill(out.address, std::byte{0xA5}, bytes, gpu.stream);
  launch();
  if (read(gpu, in.address, bytes) == read(gpu, out.address, bytes)) return;
  throw tmajit::Error(tmajit::ErrorCode::internal,
                      "the copy launched through the driver alone is wrong: its parameters are not those of "
                      "the kernel");
}

}  // namespace

void measure_launch(const Options& options, Gpu& gpu, Report& report) {
  report.line("\nHost time of a launch, us, medians");
  report.line(fmt::format("{:<22}{:<40}{:>8} {:>7} {:>8}", "kernel", "", "us", "spread", "over raw"));
  report.progress("launch");

  // One tile: the kernel takes less time than its launch.
  constexpr std::array<std::uint64_t, 2> extents{16, 64};
  const TensorView view = TensorView::contiguous(ElementType::f32, extents);
  const tmajit::KernelSpec spec = tmajit::copy_spec(view, view);
  const tmajit::Kernel kernel = gpu.runtime.kernel(spec);
  const tmajit::Buffer source(gpu.device, view.span_bytes());
  const tmajit::Buffer destination(gpu.device, view.span_bytes());
  Operand in;
  in.view = view;
  in.address = source.address();
  Operand out = in;
  out.address = destination.address();
  const tmajit::PreparedLaunch prepared = kernel.prepare({&in, 1}, out);

  tmajit::EncodedTensorMap source_map = gpu.device->encode(tmajit::tensor_map(spec, 0, view), in.address);
  tmajit::EncodedTensorMap destination_map =
      gpu.device->encode(tmajit::tensor_map(spec, 1, view), out.address);
  measure_custom(options, gpu, report, source_map);

  std::array<std::uint32_t, 2> tiles{1, 1};
  for (std::size_t d = 0; d < tiles.size(); ++d) {
    tiles.at(d) = (static_cast<std::uint32_t>(extents.at(d)) + spec.tile.at(d) - 1) / spec.tile.at(d);
  }
  RowTail tail{.address = out.address, .strides = {extents[1] * sizeof(float), sizeof(float)}};
  tail.extent = {static_cast<std::uint32_t>(extents[0]), static_cast<std::uint32_t>(extents[1])};
  tail.begin = tail.extent[1];  // rows of whole 16-byte chunks: the tensor map reaches every column
  std::array<void*, 4> parameters{&source_map, &destination_map, &tiles, &tail};
  const RawKernel raw(gpu.driver, kernel.artifact(), prepared.shape().shared_bytes);
  const auto launch_raw = raw_launch(gpu, raw, prepared.shape(), parameters.data());
  require_copied(gpu, in, out, launch_raw);
  race_host(options, gpu, report, "copy, one tile",
            {{"cuLaunchKernelEx", launch_raw},
             {"PreparedLaunch", [&] { prepared(gpu.stream); }},
             {"Kernel::launch(operands), maps encoded", [&] {
                kernel.launch({&in, 1}, out, gpu.stream);
              }}});
}

}  // namespace bench
