#include "compile/options.hpp"

#include <tmajit/error.hpp>

#include <algorithm>
#include <string_view>
#include <utility>

#include <spdlog/fmt/fmt.h>

TMAJIT_BEGIN

namespace {

/// A compiled kernel must follow from its source and options alone: that is what the cache key holds.
/// These options let other files in, write files, make something that the driver cannot load, or name an
/// architecture again.
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

/// "-time" and "-time=x", not "-timer".
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
  // Leaves out the declarations of textures, device-side launches and the runtime API, which kernels that
  // include nothing have no use for; the mathematics stay. CUDA's own headers do use them. Saves 3 to 4 ms of
  // each compile (33 → 30 ms for a small kernel that calls sinf).
  if (!source.headers) result.emplace_back("-minimal");
  // With a driver present, NVRTC keeps a cache of its own since 12.9, and what it finds there comes without
  // ptxas's report. One cache, ours, is enough.
  if (std::pair(compiler.major, compiler.minor) >= std::pair(12, 9)) result.emplace_back("--no-cache");
  if (options.line_info) result.emplace_back("-lineinfo");
  for (const auto& option : options.extra) {
    if (is_refused(option)) {
      throw Error(
          ErrorCode::invalid_argument,
          fmt::format("NVRTC option \"{}\" is not taken: a kernel must follow from its source text and "
                      "options alone, so none that reads or writes files, makes no loadable cubin, or "
                      "names the architecture again",
                      option));
    }
    result.push_back(option);
  }
  return result;
}

TMAJIT_END
