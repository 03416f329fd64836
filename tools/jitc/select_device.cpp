#include "select_device.hpp"

#include "spec/suggestion.hpp"
#include "text.hpp"
#include "usage.hpp"

#include <tmajit/error.hpp>

#include <algorithm>
#include <array>
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
  const auto ordinal = parse_number<int>(text.substr(prefix.size()));
  return ordinal && *ordinal >= 0 ? ordinal : std::nullopt;
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
    if (gpu.compute_major == 9 && gpu.compute_minor == 0) return {gpu, {}};
  }
  if (gpus.empty()) {
    const auto why = tmajit::why_no_gpu();
    return {std::nullopt, why.empty() ? "the driver shows no GPU" : why};
  }
  return {std::nullopt,
          fmt::format("{} has compute capability {}.{}, but the kernels need 9.0", gpus.front().name,
                      gpus.front().compute_major, gpus.front().compute_minor)};
}

std::optional<tmajit::DeviceInfo> find_named_gpu(const std::string& text, std::string_view alternative) {
  if (const auto ordinal = parse_ordinal(text)) {
    const auto gpus = tmajit::list_gpus();
    const auto found = std::ranges::find(gpus, *ordinal, &tmajit::DeviceInfo::ordinal);
    if (found != gpus.end()) return *found;
    fail(ErrorCode::unavailable, "there is no GPU {}: {}; {}", *ordinal,
         gpus.empty() ? tmajit::why_no_gpu() : fmt::format("the driver shows {}", gpus.size()), alternative);
  }
  if (text != "gpu") return std::nullopt;
  auto found = find_hopper();
  if (found.gpu) return found.gpu;
  fail(ErrorCode::unavailable, "no Hopper GPU to run on: {}; {}, and jitc doctor says what this machine has",
       found.why, alternative);
}

DeviceChoice select_device(const std::string& text, const SimulationOptions& simulation,
                           bool wants_simulation) {
  if (text != "auto" && text != "gpu" && text != "sim" && !parse_ordinal(text)) {
    refuse("--device {}; legal are auto, sim, gpu and gpu:0, gpu:1 …{}", text,
           tmajit::suggestion(text, std::array{"auto", "sim", "gpu", "gpu:0"}));
  }
  if (text == "sim" || (text == "auto" && wants_simulation)) return simulate(simulation, {});
  if (wants_simulation) {
    refuse("--device {}, but --ptx and options of the simulated device need --device sim", text);
  }
  if (const auto gpu = find_named_gpu(text, "--device sim runs the kernel without one"))
    return {tmajit::open_gpu(gpu->ordinal), nullptr, {}};
  const auto found = find_hopper();
  if (found.gpu) return {tmajit::open_gpu(found.gpu->ordinal), nullptr, {}};
  // The text before the semicolon is the reason. Advice follows it, which is not needed here.
  return simulate(simulation, found.why.substr(0, found.why.find(';')));
}

}  // namespace jitc
