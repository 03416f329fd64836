// tmajit-bench: ours and the reference in the same run.
#include "bench.hpp"

#include <tmajit/error.hpp>
#include <tmajit/version.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdio>
#include <exception>
#include <fstream>

#include <spdlog/fmt/fmt.h>
#include <spdlog/fmt/ranges.h>

namespace {

using bench::Options;
using bench::Report;

/// The GPU that --device asks for; nullopt for "none". Throws Error{unavailable} if there is none such.
std::optional<int> choose_gpu(const std::string& device) {
  if (device == "none") return std::nullopt;
  if (device.starts_with("gpu:")) {
    int ordinal = 0;
    std::from_chars(device.data() + 4, device.data() + device.size(), ordinal);
    return ordinal;
  }
  for (const tmajit::DeviceInfo& gpu : tmajit::list_gpus()) {
    if (gpu.compute_major == 9 && gpu.compute_minor == 0) return gpu.ordinal;
  }
  return 0;  // open_gpu() then says what is missing
}

/// Null if `options` want no GPU, or "auto" found none; `why` then says so.
std::unique_ptr<bench::Gpu> open_gpu(const Options& options, std::string& why) {
  const std::optional<int> ordinal = choose_gpu(options.device);
  if (!ordinal) {
    why = "--device none";
    return nullptr;
  }
  try {
    if (const std::string missing = tmajit::why_no_gpu(); !missing.empty()) {
      throw tmajit::Error(tmajit::ErrorCode::unavailable, missing);
    }
    return std::make_unique<bench::Gpu>(*ordinal);
  } catch (const tmajit::Error& error) {
    if (options.device != "auto" || error.code() != tmajit::ErrorCode::unavailable) throw;
    why = error.what();
    return nullptr;
  }
}

std::string first_line(const char* path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

/// What the numbers were measured with.
void describe_machine(const Options& options, const bench::Gpu* gpu, Report& report) {
  report.json["tmajit"] = TMAJIT_VERSION_STRING;
  report.json["rounds"] = options.rounds;
  report.json["seed"] = options.seed;
  try {
    const tmajit::CompilerIdentity& nvrtc = tmajit::compiler();
    report.json["nvrtc"] = {{"version", fmt::format("{}.{}", nvrtc.major, nvrtc.minor)},
                            {"build", nvrtc.build}};
    report.line(fmt::format("tmajit {}, NVRTC {}.{}", TMAJIT_VERSION_STRING, nvrtc.major, nvrtc.minor));
  } catch (const tmajit::Error& error) {
    if (error.code() != tmajit::ErrorCode::unavailable) throw;
    report.json["nvrtc"] = nullptr;
    report.line(
        fmt::format("tmajit {}, no NVRTC: only kernels in the cache can be measured", TMAJIT_VERSION_STRING));
  }
  if (gpu == nullptr) {
    report.json["device"] = nullptr;
    return;
  }
  const tmajit::DeviceInfo& info = gpu->device->info();
  report.json["device"] = {{"name", info.name},
                           {"ordinal", info.ordinal},
                           {"sm_count", info.sm_count},
                           {"memory_bytes", info.memory_bytes},
                           {"l2_bytes", info.l2_bytes}};
  const std::string kernel_driver = first_line("/sys/module/nvidia/version");
  report.json["driver"] = {{"cuda", gpu->driver.version()}, {"kernel_module", kernel_driver}};
  report.line(fmt::format("{} (GPU {}), {} SMs, driver of CUDA {}{}{}", info.name, info.ordinal,
                          info.sm_count, gpu->driver.version(), kernel_driver.empty() ? "" : ", ",
                          kernel_driver));
}

/// Runs what the options ask for; says what it leaves out.
void measure(const Options& options, Report& report) {
  std::string why;
  const std::unique_ptr<bench::Gpu> gpu = open_gpu(options, why);
  describe_machine(options, gpu.get(), report);
  if (options.sweep) {
    if (!gpu) throw tmajit::Error(tmajit::ErrorCode::unavailable, "--sweep needs a Hopper GPU: " + why);
    bench::sweep(options, *gpu, report);
    return;
  }
  constexpr std::array groups{"copy", "map", "cast", "bulk", "snapshot"};
  const bool bandwidth =
      std::any_of(groups.begin(), groups.end(), [&](const char* group) { return options.wants(group); });
  if (options.wants("jit")) bench::measure_jit(options, report);
  if (gpu && options.wants("launch")) bench::measure_launch(options, *gpu, report);
  if (gpu && bandwidth) bench::measure_bandwidth(options, *gpu, report);
  if (gpu) return;
  nlohmann::ordered_json left_out = nlohmann::ordered_json::array();
  if (options.wants("launch")) left_out.push_back("launch");
  if (bandwidth) left_out.push_back("bandwidth");
  if (left_out.empty()) return;
  report.line(fmt::format("\nNot run without a Hopper GPU: {}. {}",
                          fmt::join(left_out.get<std::vector<std::string>>(), ", "), why));
  report.json["not_run"] = {{"what", left_out}, {"why", why}};
}

int run(const Options& options) {
  if (!options.probe.empty()) {
    bench::run_probe(options.probe);
    return 0;
  }
  Report report("tmajit-bench");
  if (!options.json.empty())
    report.write(options.json);  // a path that cannot be written fails before, not after
  std::exception_ptr failure;
  try {
    measure(options, report);
  } catch (const std::exception& error) {
    report.json["failures"].push_back(error.what());
    failure = std::current_exception();
  }
  // What was measured before a failure is still worth keeping.
  if (!options.json.empty()) report.write(options.json);
  if (failure) std::rethrow_exception(failure);
  return report.failed() ? 1 : 0;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    const bench::Parsed parsed = bench::parse(argc, argv);
    return parsed.exit_code ? *parsed.exit_code : run(parsed.options);
  } catch (const tmajit::Error& error) {
    std::fprintf(stderr, "tmajit-bench: %s\n", error.what());
    const bool usage = error.code() == tmajit::ErrorCode::invalid_argument ||
                       error.code() == tmajit::ErrorCode::illegal_spec;
    return usage ? 2 : 1;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "tmajit-bench: %s\n", error.what());
    return 1;
  }
}
