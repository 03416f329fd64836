#include "compile/options.hpp"

#include <tmajit/error.hpp>

#include <algorithm>
#include <string_view>
#include <utility>

#include <spdlog/fmt/fmt.h>

TMAJIT_BEGIN

namespace {

/// A compiled kernel must depend only on its source and options, which the cache key holds. These options
/// read other files, write files, make code that the driver cannot load, or name an architecture again.
constexpr std::pair<std::string_view, std::string_view> refused[] = {
    {"-I", "--include-path"},
    {"-include", "--pre-include"},
    {"-pch", "--pch"},
    {"-create-pch", "--create-pch"},
    {"-use-pch", "--use-pch"},
    {"-time", "--time"},
    {"-fdevice-time-trace", "--fdevice-time-trace"},
    {"-dlto", "--dlink-time-opt"},
    {"-dc", "--device-c"},
    {"-rdc", "--relocatable-device-code"},
    {"-ewp", "--extensible-whole-program"},
    {"-optix-ir", "--optix-ir"},
    {"-fdevice-syntax-only", "--fdevice-syntax-only"},
    {"-arch", "--gpu-architecture"},
};

/// Whether `option` is `name`, perhaps with a value: "-time" and "-time=x", but not "-timer".
bool is_option(std::string_view option, std::string_view name) {
  if (!option.starts_with(name)) return false;
  return option.size() == name.size() || option[name.size()] == '=' || option[name.size()] == ' ';
}

bool is_refused(std::string_view option) {
  // "-I<folder>" needs no separator.
  return option.starts_with("-I") || std::ranges::any_of(refused, [&](const auto& names) {
           return is_option(option, names.first) || is_option(option, names.second);
         });
}

}  // namespace

bool makes_cubin(const CompileOptions& options) noexcept {
  return options.arch.starts_with("sm_");
}

std::vector<std::string> nvrtc_options(const Source& source, const CompileOptions& options,
                                       const CompilerIdentity& compiler) {
  if (!makes_cubin(options) && !options.arch.starts_with("compute_")) {
    throw Error(ErrorCode::invalid_argument,
                fmt::format("architecture \"{}\": a cubin needs a real one, such as sm_90a; a virtual one, "
                            "such as compute_90a, gives PTX alone",
                            options.arch));
  }
  std::vector<std::string> result{
      "-arch=" + options.arch,
      "-std=c++20",
      "-default-device",     // a kernel's helper functions need no __device__
      "-no-source-include",  // the working directory is not searched: sources hold all they need
      "-Xptxas=-v",          // registers, spills and shared memory, into the log; costs no measurable time
  };
  // Omits the declarations of textures, device-side launches and the runtime API, but not those of
  // mathematical functions. Only CUDA's own headers use them, so a kernel without headers does not. Saves 3
  // to 4 ms of each compile (33 → 30 ms for a small kernel that calls sinf).
  if (!source.headers) result.emplace_back("-minimal");
  // Since 12.9, if a driver is present, NVRTC has its own cache, whose results lack the report of ptxas. The
  // cache of tmajit is enough.
  if (std::pair(compiler.major, compiler.minor) >= std::pair(12, 9)) result.emplace_back("--no-cache");
  if (options.line_info) result.emplace_back("-lineinfo");
  for (const auto& option : options.extra) {
    if (is_refused(option)) {
      throw Error(
          ErrorCode::invalid_argument,
          fmt::format("NVRTC option \"{}\" is refused: a kernel must depend on its source text and options "
                      "alone, so no option may read or write files, make no loadable cubin, or name the "
                      "architecture again",
                      option));
    }
    result.push_back(option);
  }
  return result;
}

TMAJIT_END
