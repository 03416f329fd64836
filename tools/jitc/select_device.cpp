#include "select_device.hpp"

#include <tmajit/error.hpp>

#include <charconv>
#include <string_view>

#include <spdlog/fmt/fmt.h>

namespace jitc {
namespace {

using tmajit::Error;
using tmajit::ErrorCode;

/// N of "gpu:N".
std::optional<int> parse_ordinal(std::string_view text) {
  constexpr std::string_view prefix = "gpu:";
  if (!text.starts_with(prefix)) return std::nullopt;
  int ordinal = -1;
  const char* const end = text.data() + text.size();
  const auto [last, error] = std::from_chars(text.data() + prefix.size(), end, ordinal);
  if (error != std::errc() || last != end || ordinal < 0) return std::nullopt;
  return ordinal;
}

DeviceChoice simulate(const SimulationOptions& options, std::string why) {
  DeviceChoice choice;
  choice.simulation = std::make_unique<Simulation>(options);
  choice.device = choice.simulation->device();
  choice.why = std::move(why);
  return choice;
}

}  // namespace

GpuSearch find_hopper() {
  const auto gpus = tmajit::list_gpus();
  for (const auto& gpu : gpus) {
    if (gpu.compute_major == 9 && gpu.compute_minor == 0) return {gpu.ordinal, {}};
  }
  if (gpus.empty()) {
    const auto why = tmajit::why_no_gpu();
    return {std::nullopt, why.empty() ? "the driver shows no GPU" : why};
  }
  return {std::nullopt,
          fmt::format("{} has compute capability {}.{}, but the kernels need 9.0", gpus.front().name,
                      gpus.front().compute_major, gpus.front().compute_minor)};
}

std::shared_ptr<tmajit::Device> open_named_gpu(const std::string& text, std::string_view otherwise) {
  if (const auto ordinal = parse_ordinal(text)) return tmajit::open_gpu(*ordinal);
  if (text != "gpu") return nullptr;
  const auto found = find_hopper();
  if (found.ordinal) return tmajit::open_gpu(*found.ordinal);
  throw Error(ErrorCode::unavailable,
              fmt::format("no Hopper GPU to run on: {}; {}, and jitc doctor says what this machine has",
                          found.why, otherwise));
}

DeviceChoice select_device(const std::string& text, const SimulationOptions& simulation,
                           bool wants_simulation) {
  if (text != "auto" && text != "gpu" && text != "sim" && !parse_ordinal(text)) {
    throw Error(ErrorCode::invalid_argument,
                fmt::format("--device {}; legal are auto, sim, gpu and gpu:0, gpu:1 …", text));
  }
  if (text == "sim" || (text == "auto" && wants_simulation)) return simulate(simulation, {});
  if (wants_simulation) {
    throw Error(ErrorCode::invalid_argument,
                fmt::format("--device {}, but --ptx and what begins with --sim- are of the simulated device: "
                            "--device sim",
                            text));
  }
  if (auto gpu = open_named_gpu(text, "--device sim runs the kernel without one"))
    return {std::move(gpu), nullptr, {}};
  const auto found = find_hopper();
  if (found.ordinal) return {tmajit::open_gpu(*found.ordinal), nullptr, {}};
  // What to do about it follows a semicolon; nothing need be done here.
  return simulate(simulation, found.why.substr(0, found.why.find(';')));
}

}  // namespace jitc
