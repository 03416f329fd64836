#include "machine.hpp"

#include <tmajit/compile.hpp>
#include <tmajit/sim.hpp>

#include <charconv>
#include <utility>

#include <spdlog/fmt/fmt.h>

namespace bench {

using tmajit::Error;
using tmajit::ErrorCode;

namespace {

std::shared_ptr<tmajit::Device> open(const std::string& name) {
  if (name == "sim") return tmajit::make_sim_device();
  int ordinal = -1;
  if (name.starts_with("gpu:")) {
    const char* const end = name.data() + name.size();
    const auto [rest, error] = std::from_chars(name.data() + 4, end, ordinal);
    if (error != std::errc() || rest != end) ordinal = -1;
  }
  if (name != "auto" && name != "gpu" && ordinal < 0) {
    throw Error(ErrorCode::invalid_argument,
                fmt::format("unknown device '{}'; legal are auto, none, gpu, gpu:N and sim", name));
  }
  if (const std::string missing = tmajit::why_no_gpu(); !missing.empty()) {
    throw Error(ErrorCode::unavailable, fmt::format("no Hopper GPU: {}", missing));
  }
  if (ordinal < 0) {
    ordinal = 0;  // open_gpu() throws an error that says what is missing
    for (const tmajit::DeviceInfo& gpu : tmajit::list_gpus()) {
      if (gpu.compute_major != 9 || gpu.compute_minor != 0) continue;
      ordinal = gpu.ordinal;
      break;
    }
  }
  return tmajit::open_gpu(ordinal);
}

}  // namespace

std::shared_ptr<tmajit::Device> open_device(const std::string& name, std::string* why) {
  if (why == nullptr) return open(name);
  if (name == "none") {
    *why = "--device none";
    return nullptr;
  }
  try {
    return open(name);
  } catch (const Error& error) {
    if (name != "auto" || error.code() != ErrorCode::unavailable) throw;
    *why = error.what();
    return nullptr;
  }
}

nlohmann::ordered_json to_json(const tmajit::DeviceInfo& info) {
  return {{"name", info.name},
          {"ordinal", info.ordinal},
          {"sm_count", info.sm_count},
          {"memory_bytes", info.memory_bytes},
          {"l2_bytes", info.l2_bytes}};
}

std::string nvrtc_version() {
  try {
    return fmt::format("{}.{}", tmajit::compiler().major, tmajit::compiler().minor);
  } catch (const Error& error) {
    if (error.code() != ErrorCode::unavailable) throw;
    return {};
  }
}

Machine::Machine(std::shared_ptr<tmajit::Device> opened, const std::filesystem::path& cache)
    : device(std::move(opened)),
      cache_directory(cache),
      runtime({.device = device,
               .cache_directory = cache,
               .compile = {.arch = device->info().ordinal < 0 ? "compute_90a" : "sm_90a"}}),
      stream(device->streams().create()),
      driver(device->info().ordinal < 0 ? nullptr : std::make_unique<RawDriver>(device->info().ordinal)),
      contest(device, stream, driver.get()) {}

Machine::~Machine() {
  device->streams().destroy(stream);
}

}  // namespace bench
