// tmajit-bench: measures tmajit and its reference, the driver or NVRTC alone, in the same run.
#include "bench.hpp"

#include <tmajit/compile.hpp>
#include <tmajit/error.hpp>
#include <tmajit/version.hpp>

#include <fstream>
#include <memory>

#include <spdlog/fmt/fmt.h>
#include <spdlog/fmt/ranges.h>

namespace {

using bench::Machine;
using bench::Options;
using bench::Report;

std::string first_line(const char* path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

/// Reports the versions, options and device of the measurements.
void describe_setting(const Options& options, const Machine* machine, Report& report) {
  report.json["tmajit"] = TMAJIT_VERSION_STRING;
  report.json["rounds"] = options.rounds;
  report.json["seed"] = options.seed;
  const std::string nvrtc = bench::nvrtc_version();
  if (nvrtc.empty()) {
    report.json["nvrtc"] = nullptr;
    report.line(
        fmt::format("tmajit {}, no NVRTC: only kernels in the cache can be measured", TMAJIT_VERSION_STRING));
  } else {
    report.json["nvrtc"] = {{"version", nvrtc}, {"build", tmajit::compiler().build}};
    report.line(fmt::format("tmajit {}, NVRTC {}", TMAJIT_VERSION_STRING, nvrtc));
  }
  report.json["device"] = nullptr;
  if (machine == nullptr) return;
  const tmajit::DeviceInfo& info = machine->device->info();
  report.json["device"] = bench::to_json(info);
  if (!machine->driver) {
    report.line(fmt::format("{}, {} SMs: times mean nothing", info.name, info.sm_count));
    return;
  }
  const std::string kernel_driver = first_line("/sys/module/nvidia/version");
  report.json["driver"] = {{"cuda", machine->driver->version()}, {"kernel_module", kernel_driver}};
  report.line(fmt::format("{} (GPU {}), {} SMs, driver of CUDA {}{}{}", info.name, info.ordinal,
                          info.sm_count, machine->driver->version(), kernel_driver.empty() ? "" : ", ",
                          kernel_driver));
}

/// Runs the measurements that the options ask for, and reports those that need a GPU and are left out.
void measure(const Options& options, Report& report) {
  std::string why;
  const std::shared_ptr<tmajit::Device> device = bench::open_device(options.device, &why);
  const auto machine = device ? std::make_unique<Machine>(device) : nullptr;
  describe_setting(options, machine.get(), report);
  if (!options.sweep.empty()) {
    if (!machine) throw tmajit::Error(tmajit::ErrorCode::unavailable, "--sweep needs a Hopper GPU: " + why);
    bench::sweep(options, *machine, report);
    return;
  }
  if (options.wants("jit")) bench::measure_jit(options, report);
  if (options.wants("ready")) {
    bench::measure_ready(options, machine && machine->driver ? machine.get() : nullptr, report);
  }
  if (options.wants("cold")) {
    bench::measure_cold(options, machine && machine->driver ? machine.get() : nullptr, report);
  }
  if (options.wants("dispatch")) {
    bench::measure_dispatch(options, machine && machine->driver ? machine.get() : nullptr, report);
  }
  if (options.wants("kernels")) bench::measure_kernels(options, report);
  if (machine && options.wants("launch")) bench::measure_launch(options, *machine, report);
  if (machine && options.wants_bandwidth()) bench::measure_bandwidth(options, *machine, report);
  if (machine) return;
  std::vector<std::string> left_out;
  if (options.wants("launch")) left_out.emplace_back("launch");
  if (options.wants_bandwidth()) left_out.emplace_back("bandwidth");
  if (left_out.empty()) return;
  report.line(fmt::format("\nNot run without a Hopper GPU: {}. {}", fmt::join(left_out, ", "), why));
  report.json["not_run"] = {{"what", left_out}, {"why", why}};
}

}  // namespace

int main(int argc, char** argv) {
  return bench::run_program("tmajit-bench", [&] {
    Options options;
    if (const std::optional<int> exit_code = bench::parse(argc, argv, options)) return *exit_code;
    if (!options.probe.empty()) {
      (options.probe.starts_with(bench::cold_probe) ? bench::run_cold_probe
                                                    : bench::run_probe)(options.probe);
      return 0;
    }
    return bench::run_with_report("tmajit-bench", options, [&](Report& report) {
      measure(options, report);
      return true;
    });
  });
}
