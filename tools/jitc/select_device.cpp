#include "select_device.hpp"

#include <tmajit/error.hpp>

#include <charconv>
#include <string_view>

#include <spdlog/fmt/fmt.h>

namespace jitc {
namespace {

using tmajit::Error;
using tmajit::ErrorCode;

constexpr std::string_view without_gpu =
    "source, ptx, sass, cubin and validate work without one; jitc doctor says what this machine has";

int first_hopper() {
  const auto gpus = tmajit::list_gpus();
  for (const auto& gpu : gpus) {
    if (gpu.compute_major == 9 && gpu.compute_minor == 0) return gpu.ordinal;
  }
  if (gpus.empty()) {
    auto why = tmajit::why_no_gpu();
    if (why.empty()) why = "the driver shows no GPU";
    throw Error(ErrorCode::unavailable, fmt::format("no GPU to run on: {}; {}", why, without_gpu));
  }
  throw Error(
      ErrorCode::unavailable,
      fmt::format("no Hopper GPU to run on: {} has compute capability {}.{}, but the kernels need 9.0; {}",
                  gpus.front().name, gpus.front().compute_major, gpus.front().compute_minor, without_gpu));
}

}  // namespace

std::shared_ptr<tmajit::Device> select_device(const std::string& text) {
  if (text == "auto" || text == "gpu") return tmajit::open_gpu(first_hopper());
  constexpr std::string_view prefix = "gpu:";
  int ordinal = -1;
  if (text.starts_with(prefix)) {
    const char* const end = text.data() + text.size();
    const auto [last, error] = std::from_chars(text.data() + prefix.size(), end, ordinal);
    if (error == std::errc() && last == end && ordinal >= 0) return tmajit::open_gpu(ordinal);
  }
  throw Error(ErrorCode::invalid_argument,
              fmt::format("--device {}; legal are auto, gpu and gpu:0, gpu:1 …", text));
}

}  // namespace jitc
