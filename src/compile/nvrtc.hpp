#pragma once

#include <tmajit/compile.hpp>

#include <span>
#include <string>

#include <nvrtc.h>

TMAJIT_BEGIN

/// The NVRTC functions that compile() calls, under their own names less the prefix.
struct NvrtcApi {
  decltype(&::nvrtcVersion) version = nullptr;
  decltype(&::nvrtcGetErrorString) error_string = nullptr;
  decltype(&::nvrtcCreateProgram) create_program = nullptr;
  decltype(&::nvrtcDestroyProgram) destroy_program = nullptr;
  decltype(&::nvrtcCompileProgram) compile_program = nullptr;
  decltype(&::nvrtcGetPTXSize) ptx_size = nullptr;
  decltype(&::nvrtcGetPTX) ptx = nullptr;
  decltype(&::nvrtcGetCUBINSize) cubin_size = nullptr;
  decltype(&::nvrtcGetCUBIN) cubin = nullptr;
  decltype(&::nvrtcGetProgramLogSize) log_size = nullptr;
  decltype(&::nvrtcGetProgramLog) log = nullptr;
};

/// NVRTC, loaded at run time. It stays loaded until the process ends: it keeps threads and state of its own,
/// and unloading it under them is not safe.
class Nvrtc {
 public:
  /// The one of this process, loaded by the first call from nvrtc_places(). A call that throws is tried
  /// again by the next.
  static const Nvrtc& instance();

  /// Loads the first of `places` (file names as for dlopen) that is NVRTC 12.0 or later.
  /// Throws Error{unavailable} that names every place and why it would not do.
  explicit Nvrtc(std::span<const std::string> places);

  [[nodiscard]] const NvrtcApi& api() const noexcept { return api_; }
  [[nodiscard]] const CompilerIdentity& identity() const noexcept { return identity_; }

 private:
  NvrtcApi api_;
  CompilerIdentity identity_;
};

/// What to do about a missing NVRTC; ends messages.
[[nodiscard]] std::string nvrtc_remedy();

TMAJIT_END
