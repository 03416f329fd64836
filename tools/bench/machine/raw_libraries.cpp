#include "raw_libraries.hpp"

#include <tmajit/error.hpp>

#include <filesystem>

#include <dlfcn.h>
#include <spdlog/fmt/fmt.h>

/// The name of a function in its library. Macros of the headers rename some, such as cuStreamBeginCapture to
/// …_v2.
#define TMAJIT_BENCH_NAME(function) TMAJIT_BENCH_TEXT(function)
#define TMAJIT_BENCH_TEXT(text) #text

namespace bench {
namespace {

/// A library that is loaded at run time and never unloaded.
class DynamicLibrary {
 public:
  /// `what` is the library's name in messages. Throws tmajit::Error{unavailable}.
  DynamicLibrary(const char* what, const std::string& path)
      : name_(what), library_(dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL)) {
    if (library_ != nullptr) return;
    throw tmajit::Error(tmajit::ErrorCode::unavailable,
                        fmt::format("{} cannot be loaded: {}", what, dlerror()));
  }

  template <class Function>
  void bind(const char* name, Function& function) const {
    function = reinterpret_cast<Function>(dlsym(library_, name));
    if (function != nullptr) return;
    throw tmajit::Error(tmajit::ErrorCode::unavailable, fmt::format("{} has no {}", name_, name));
  }

 private:
  const char* name_;
  void* library_;
};

}  // namespace

RawDriver::RawDriver(int ordinal) {
  const DynamicLibrary library("the CUDA driver", "libcuda.so.1");
#define TMAJIT_BENCH_BIND(function) library.bind(TMAJIT_BENCH_NAME(function), function);
  TMAJIT_BENCH_DRIVER_FUNCTIONS(TMAJIT_BENCH_BIND)
  check(cuInit(0), "cuInit");
  check(cuDeviceGet(&device_, ordinal), "cuDeviceGet");
  check(cuDevicePrimaryCtxRetain(&context_, device_), "cuDevicePrimaryCtxRetain");
  make_current();
}

void RawDriver::check(CUresult result, const char* call) const {
  if (result == CUDA_SUCCESS) return;
  const char* text = nullptr;
  if (cuGetErrorString(result, &text) != CUDA_SUCCESS || text == nullptr) text = "unknown error";
  throw tmajit::Error(tmajit::ErrorCode::device_failed, fmt::format("{} failed: {}", call, text));
}

std::string RawDriver::version() const {
  int version = 0;
  check(cuDriverGetVersion(&version), "cuDriverGetVersion");
  return fmt::format("{}.{}", version / 1000, version % 1000 / 10);
}

RawKernel::RawKernel(const RawDriver& driver, const tmajit::Artifact& artifact, std::uint32_t shared_bytes)
    : driver_(driver) {
  driver.check(
      driver.cuLibraryLoadData(&library_, artifact.cubin.data(), nullptr, nullptr, 0, nullptr, nullptr, 0),
      "cuLibraryLoadData");
  driver.check(driver.cuLibraryGetKernel(&kernel_, library_, artifact.entry.c_str()), "cuLibraryGetKernel");
  driver.check(driver.cuKernelSetAttribute(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                                           static_cast<int>(shared_bytes), kernel_, driver.device()),
               "cuKernelSetAttribute");
}

RawKernel::~RawKernel() {
  if (library_ != nullptr) driver_.cuLibraryUnload(library_);
}

RawNvrtc::RawNvrtc(const std::string& path) {
  const DynamicLibrary library("NVRTC", path);
  TMAJIT_BENCH_NVRTC_FUNCTIONS(TMAJIT_BENCH_BIND)
  int major = 0;
  int minor = 0;
  nvrtcVersion(&major, &minor);
  // NVRTC's builtins are in the same folder, where the loader may not search.
  const auto folder = std::filesystem::path(path).parent_path();
  dlopen((folder / fmt::format("libnvrtc-builtins.so.{}.{}", major, minor)).c_str(), RTLD_NOW | RTLD_LOCAL);
  options_ = {"-arch=sm_90a", "-std=c++20", "-default-device", "-no-source-include", "-Xptxas=-v"};
  if (major > 12 || (major == 12 && minor >= 4)) options_.push_back("-minimal");
  if (major > 12 || (major == 12 && minor >= 9)) options_.push_back("--no-cache");
  options_.push_back("-lineinfo");
}

RawNvrtc::Result RawNvrtc::compile(const tmajit::Source& source,
                                   std::initializer_list<const char*> more) const {
  const auto check = [this](nvrtcResult result, const char* call) {
    if (result == NVRTC_SUCCESS) return;
    throw tmajit::Error(tmajit::ErrorCode::internal,
                        fmt::format("{} failed: {}", call, nvrtcGetErrorString(result)));
  };
  const std::string name = source.entry + ".cu";
  Result result;
  nvrtcProgram program = nullptr;
  check(nvrtcCreateProgram(&program, source.text.c_str(), name.c_str(), 0, nullptr, nullptr),
        "nvrtcCreateProgram");
  std::vector<const char*> options = options_;
  options.insert(options.end(), more);
  check(nvrtcCompileProgram(program, static_cast<int>(options.size()), options.data()),
        "nvrtcCompileProgram");
  const auto take = [&](auto& text, auto size_of, auto copy, const char* call) {
    std::size_t bytes = 0;
    check(size_of(program, &bytes), call);
    text.resize(bytes);
    check(copy(program, text.data()), call);
  };
  take(result.ptx, nvrtcGetPTXSize, nvrtcGetPTX, "nvrtcGetPTX");
  take(result.cubin, nvrtcGetCUBINSize, nvrtcGetCUBIN, "nvrtcGetCUBIN");
  take(result.log, nvrtcGetProgramLogSize, nvrtcGetProgramLog, "nvrtcGetProgramLog");
  check(nvrtcDestroyProgram(&program), "nvrtcDestroyProgram");
  return result;
}

}  // namespace bench
