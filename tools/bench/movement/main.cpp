// tmajit-movement: the library's moves beside the driver's copy, in the same run on the same buffers.
#include "case_list.hpp"
#include "machine.hpp"
#include "measure.hpp"

#include <tmajit/compile.hpp>
#include <tmajit/error.hpp>
#include <tmajit/version.hpp>

#include <cstdio>
#include <exception>

#include <spdlog/fmt/fmt.h>

namespace {

using bench::Report;
using movement::Options;

void list(const Options& options) {
  for (const movement::Case& c : movement::list_cases({options.seed, options.tiny})) {
    if (options.wants(c)) fmt::print("{}\n", c.label());
  }
}

/// Null if "auto" finds no GPU, which is then said.
std::shared_ptr<tmajit::Device> open(const Options& options, Report& report) {
  try {
    return movement::open_device(options.device);
  } catch (const tmajit::Error& error) {
    if (options.device != "auto" || error.code() != tmajit::ErrorCode::unavailable) throw;
    report.line(fmt::format("Not run: {}", error.what()));
    report.json["not_run"] = error.what();
    return nullptr;
  }
}

void describe(const Options& options, const tmajit::Device& device, Report& report) {
  const tmajit::DeviceInfo& info = device.info();
  report.json["rounds"] = options.rounds;
  report.json["seed"] = options.seed;
  report.json["device"] = {{"name", info.name},
                           {"ordinal", info.ordinal},
                           {"sm_count", info.sm_count},
                           {"memory_bytes", info.memory_bytes},
                           {"l2_bytes", info.l2_bytes}};
  std::string nvrtc = "none";
  try {
    nvrtc = fmt::format("{}.{}", tmajit::compiler().major, tmajit::compiler().minor);
  } catch (const tmajit::Error&) {  // plans whose kernels are cached still work
  }
  report.json["versions"] = {{"tmajit", TMAJIT_VERSION_STRING}, {"NVRTC", nvrtc}};
  report.json["peers"] = nlohmann::ordered_json::array();
  report.json["results"] = nlohmann::ordered_json::array();
  report.line(fmt::format("tmajit {}, NVRTC {}, {} with {} SMs, seed {}", TMAJIT_VERSION_STRING, nvrtc,
                          info.name, info.sm_count, options.seed));
}

int run(const Options& options) {
  if (options.list) {
    list(options);
    return 0;
  }
  Report report("tmajit-movement");
  if (!options.json.empty())
    report.write(options.json);  // a path that cannot be written fails before, not after
  const std::shared_ptr<tmajit::Device> device = open(options, report);
  bool reached = true;
  if (device) {
    describe(options, *device, report);
    reached = movement::measure(options, device, report);
  }
  if (!options.json.empty()) report.write(options.json);
  return report.failed() || (options.targets && !reached) ? 1 : 0;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    const movement::Parsed parsed = movement::parse(argc, argv);
    return parsed.exit_code ? *parsed.exit_code : run(parsed.options);
  } catch (const tmajit::Error& error) {
    std::fprintf(stderr, "tmajit-movement: %s\n", error.what());
    return error.code() == tmajit::ErrorCode::invalid_argument ? 2 : 1;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "tmajit-movement: %s\n", error.what());
    return 1;
  }
}
