#include "raw_nvrtc.hpp"

#include <tmajit/error.hpp>

#include <chrono>
#include <filesystem>

#include <dlfcn.h>
#include <nvrtc.h>
#include <spdlog/fmt/fmt.h>

namespace bench {

using tmajit::Error;
using tmajit::ErrorCode;

struct RawNvrtc::Api {
  decltype(&::nvrtcVersion) version = nullptr;
  decltype(&::nvrtcGetErrorString) error_string = nullptr;
  decltype(&::nvrtcCreateProgram) create = nullptr;
  decltype(&::nvrtcDestroyProgram) destroy = nullptr;
  decltype(&::nvrtcCompileProgram) compile = nullptr;
  decltype(&::nvrtcGetPTXSize) ptx_size = nullptr;
  decltype(&::nvrtcGetPTX) ptx = nullptr;
  decltype(&::nvrtcGetCUBINSize) cubin_size = nullptr;
  decltype(&::nvrtcGetCUBIN) cubin = nullptr;
  decltype(&::nvrtcGetProgramLogSize) log_size = nullptr;
  decltype(&::nvrtcGetProgramLog) log = nullptr;
  std::vector<const char*> options;
};

namespace {

template <class Function>
void bind(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(dlsym(library, name));
  if (function == nullptr) throw Error(ErrorCode::unavailable, fmt::format("NVRTC has no {}", name));
}

}  // namespace

RawNvrtc::RawNvrtc(const std::string& path) {
  void* const library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    throw Error(ErrorCode::unavailable, fmt::format("NVRTC cannot be loaded: {}", dlerror()));
  }
  const auto loaded = std::make_shared<Api>();
  Api& api = *loaded;
  bind(library, "nvrtcVersion", api.version);
  bind(library, "nvrtcGetErrorString", api.error_string);
  bind(library, "nvrtcCreateProgram", api.create);
  bind(library, "nvrtcDestroyProgram", api.destroy);
  bind(library, "nvrtcCompileProgram", api.compile);
  bind(library, "nvrtcGetPTXSize", api.ptx_size);
  bind(library, "nvrtcGetPTX", api.ptx);
  bind(library, "nvrtcGetCUBINSize", api.cubin_size);
  bind(library, "nvrtcGetCUBIN", api.cubin);
  bind(library, "nvrtcGetProgramLogSize", api.log_size);
  bind(library, "nvrtcGetProgramLog", api.log);
  int major = 0;
  int minor = 0;
  api.version(&major, &minor);
  // Its builtins lie beside it, where the loader may not look.
  const auto folder = std::filesystem::path(path).parent_path();
  dlopen((folder / fmt::format("libnvrtc-builtins.so.{}.{}", major, minor)).c_str(), RTLD_NOW | RTLD_LOCAL);
  api.options = {"-arch=sm_90a", "-std=c++20", "-default-device", "-no-source-include", "-Xptxas=-v"};
  if (major > 12 || (major == 12 && minor >= 4)) api.options.push_back("-minimal");
  if (major > 12 || (major == 12 && minor >= 9)) api.options.push_back("--no-cache");
  api.options.push_back("-lineinfo");
  api_ = loaded;
}

RawNvrtc::Result RawNvrtc::compile(const tmajit::Source& source) const {
  const auto check = [this](nvrtcResult result, const char* call) {
    if (result == NVRTC_SUCCESS) return;
    throw Error(ErrorCode::internal, fmt::format("{} failed: {}", call, api_->error_string(result)));
  };
  const std::string name = source.entry + ".cu";
  Result result;
  const auto start = std::chrono::steady_clock::now();
  nvrtcProgram program = nullptr;
  check(api_->create(&program, source.text.c_str(), name.c_str(), 0, nullptr, nullptr), "nvrtcCreateProgram");
  check(api_->compile(program, static_cast<int>(api_->options.size()), api_->options.data()),
        "nvrtcCompileProgram");
  std::size_t bytes = 0;
  check(api_->ptx_size(program, &bytes), "nvrtcGetPTXSize");
  result.ptx.resize(bytes);
  check(api_->ptx(program, result.ptx.data()), "nvrtcGetPTX");
  check(api_->cubin_size(program, &bytes), "nvrtcGetCUBINSize");
  result.cubin.resize(bytes);
  check(api_->cubin(program, result.cubin.data()), "nvrtcGetCUBIN");
  check(api_->log_size(program, &bytes), "nvrtcGetProgramLogSize");
  result.log.resize(bytes);
  check(api_->log(program, result.log.data()), "nvrtcGetProgramLog");
  check(api_->destroy(&program), "nvrtcDestroyProgram");
  result.milliseconds =
      std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
  return result;
}

}  // namespace bench
