#pragma once

#include <tmajit/compile.hpp>
#include <tmajit/device.hpp>

#include <cstdint>
#include <initializer_list>
#include <string>
#include <vector>

#include <cuda.h>
#include <nvrtc.h>

namespace bench {

/// The functions of libcuda.so.1 that the benchmark calls itself.
// clang-format off
#define TMAJIT_BENCH_DRIVER_FUNCTIONS(X) \
  X(cuInit) X(cuDeviceGet) X(cuDevicePrimaryCtxRetain) X(cuCtxSetCurrent) X(cuGetErrorString) \
  X(cuDriverGetVersion) X(cuLaunchKernelEx) X(cuLibraryLoadData) X(cuLibraryUnload) \
  X(cuLibraryGetKernel) X(cuKernelSetAttribute) X(cuStreamBeginCapture) X(cuStreamEndCapture) \
  X(cuGraphInstantiateWithFlags) X(cuGraphLaunch) X(cuGraphExecDestroy) X(cuGraphDestroy) X(cuMemGetInfo)
// clang-format on

/// The CUDA driver, called without tmajit: the reference for launches, and for graphs, which keep the host's
/// launch time out of measurements of short kernels.
class RawDriver {
 public:
  /// Loads the driver and makes the primary context of GPU `ordinal` current, for the process's life.
  /// Throws tmajit::Error{unavailable}.
  explicit RawDriver(int ordinal);

  /// Throws tmajit::Error{device_failed} that names `call` unless `result` is success.
  void check(CUresult result, const char* call) const;
  /// "13.0": the newest CUDA that the driver supports.
  [[nodiscard]] std::string version() const;
  [[nodiscard]] CUdevice device() const { return device_; }
  /// Makes the GPU's context current in the calling thread.
  void make_current() const { check(cuCtxSetCurrent(context_), "cuCtxSetCurrent"); }

// NOLINTNEXTLINE(bugprone-macro-parentheses)
#define TMAJIT_BENCH_DECLARE(function) decltype(&::function) function = nullptr;
  TMAJIT_BENCH_DRIVER_FUNCTIONS(TMAJIT_BENCH_DECLARE)

 private:
  CUdevice device_ = 0;
  CUcontext context_ = nullptr;
};

/// A kernel of a cubin, loaded with cuLibraryLoadData.
class RawKernel {
 public:
  RawKernel(const RawDriver& driver, const tmajit::Artifact& artifact, std::uint32_t shared_bytes);
  ~RawKernel();
  RawKernel(const RawKernel&) = delete;
  RawKernel& operator=(const RawKernel&) = delete;

  /// The kernel as an argument of cuLaunchKernelEx.
  [[nodiscard]] CUfunction function() const { return reinterpret_cast<CUfunction>(kernel_); }

 private:
  const RawDriver& driver_;
  CUlibrary library_ = nullptr;
  CUkernel kernel_ = nullptr;
};

// clang-format off
#define TMAJIT_BENCH_NVRTC_FUNCTIONS(X) \
  X(nvrtcVersion) X(nvrtcGetErrorString) X(nvrtcCreateProgram) X(nvrtcDestroyProgram) \
  X(nvrtcCompileProgram) X(nvrtcGetPTXSize) X(nvrtcGetPTX) X(nvrtcGetCUBINSize) X(nvrtcGetCUBIN) \
  X(nvrtcGetProgramLogSize) X(nvrtcGetProgramLog)
// clang-format on

/// NVRTC, called without tmajit: the reference for compiling.
class RawNvrtc {
 public:
  /// Loads the library at `path`. Throws tmajit::Error{unavailable}.
  explicit RawNvrtc(const std::string& path);

  struct Result {
    std::string ptx;
    std::vector<char> cubin;
    std::string log;
  };
  /// Compiles with the options that tmajit::compile() passes for default CompileOptions, plus the options
  /// `more`. Throws tmajit::Error{internal} if NVRTC refuses.
  [[nodiscard]] Result compile(const tmajit::Source& source,
                               std::initializer_list<const char*> more = {}) const;

 private:
  TMAJIT_BENCH_NVRTC_FUNCTIONS(TMAJIT_BENCH_DECLARE)
  std::vector<const char*> options_;
};
#undef TMAJIT_BENCH_DECLARE

}  // namespace bench
