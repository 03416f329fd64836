#include "machine.hpp"

#include <tmajit/error.hpp>
#include <tmajit/sim.hpp>

#include <charconv>

#include <spdlog/fmt/fmt.h>

namespace movement {

using tmajit::Error;
using tmajit::ErrorCode;

std::shared_ptr<tmajit::Device> open_device(const std::string& name) {
  if (name == "sim") return tmajit::make_sim_device();
  int ordinal = -1;
  if (name.starts_with("gpu:")) {
    const char* const end = name.data() + name.size();
    const auto [rest, error] = std::from_chars(name.data() + 4, end, ordinal);
    if (error != std::errc() || rest != end) ordinal = -1;
  }
  if (name != "auto" && name != "gpu" && ordinal < 0) {
    throw Error(ErrorCode::invalid_argument,
                fmt::format("unknown device '{}'; legal are auto, gpu and gpu:N", name));
  }
  if (const std::string missing = tmajit::why_no_gpu(); !missing.empty()) {
    throw Error(ErrorCode::unavailable, fmt::format("no Hopper GPU: {}", missing));
  }
  if (ordinal < 0) {
    ordinal = 0;  // open_gpu() then says what is missing
    for (const tmajit::DeviceInfo& gpu : tmajit::list_gpus()) {
      if (gpu.compute_major != 9 || gpu.compute_minor != 0) continue;
      ordinal = gpu.ordinal;
      break;
    }
  }
  return tmajit::open_gpu(ordinal);
}

}  // namespace movement
