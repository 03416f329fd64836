#pragma once

#include <tmajit/compile.hpp>

#include <span>
#include <string>
#include <vector>

#include <nvrtc.h>

TMAJIT_BEGIN

/// The NVRTC functions that compile() calls, under their own names less the prefix.
struct NvrtcApi {
  /// Takes a library that dlopen() returned.
  explicit NvrtcApi(void* handle = nullptr) : library(handle) {}

  void* library;
  bool complete = library != nullptr;  ///< whether it has all of them

  decltype(&::nvrtcVersion) version = find("nvrtcVersion");
  decltype(&::nvrtcGetErrorString) error_string = find("nvrtcGetErrorString");
  decltype(&::nvrtcCreateProgram) create_program = find("nvrtcCreateProgram");
  decltype(&::nvrtcDestroyProgram) destroy_program = find("nvrtcDestroyProgram");
  decltype(&::nvrtcCompileProgram) compile_program = find("nvrtcCompileProgram");
  decltype(&::nvrtcGetPTXSize) ptx_size = find("nvrtcGetPTXSize");
  decltype(&::nvrtcGetPTX) ptx = find("nvrtcGetPTX");
  decltype(&::nvrtcGetCUBINSize) cubin_size = find("nvrtcGetCUBINSize");
  decltype(&::nvrtcGetCUBIN) cubin = find("nvrtcGetCUBIN");
  decltype(&::nvrtcGetProgramLogSize) log_size = find("nvrtcGetProgramLogSize");
  decltype(&::nvrtcGetProgramLog) log = find("nvrtcGetProgramLog");
  decltype(&::nvrtcAddNameExpression) add_name_expression = find("nvrtcAddNameExpression");
  decltype(&::nvrtcGetLoweredName) lowered_name = find("nvrtcGetLoweredName");

 private:
  /// A function of whatever type it is assigned to.
  struct Address {
    void* address = nullptr;
    template <class Function>
    operator Function*() const noexcept {
      return reinterpret_cast<Function*>(address);
    }
  };
  Address find(const char* name);
};

/// NVRTC, loaded at run time. It stays loaded until the process ends: it keeps threads and state of its own,
/// and unloading it under them is not safe.
class Nvrtc {
 public:
  /// The one of this process, loaded by the first call from nvrtc_places(). A call that throws is tried
  /// again by the next.
  static const Nvrtc& instance();

  /// Loads the first of `places` (file names as for dlopen) that is NVRTC 12.4 or later.
  /// Throws Error{unavailable} that names every place and why it would not do.
  explicit Nvrtc(std::span<const std::string> places);

  [[nodiscard]] const NvrtcApi& api() const noexcept { return api_; }
  [[nodiscard]] const CompilerIdentity& identity() const noexcept { return identity_; }
  /// Returns the log message about its loading.
  [[nodiscard]] const std::string& report() const noexcept { return report_; }

 private:
  NvrtcApi api_;
  CompilerIdentity identity_;
  std::string report_;
};

/// Held by a thread while it is inside NVRTC, or loads it. A fork waits until there is no such thread: NVRTC
/// and the loader have locks of their own, which a child that is forked meanwhile would wait for without end.
/// So does the end of the process, after which making one throws Error{unavailable}. No user's callback may
/// run while it is held, and it is not held twice.
class NvrtcUse {
 public:
  NvrtcUse();
  ~NvrtcUse();
  NvrtcUse(const NvrtcUse&) = delete;
  NvrtcUse& operator=(const NvrtcUse&) = delete;
};

/// Returns advice for a missing NVRTC; ends messages.
[[nodiscard]] std::string nvrtc_remedy();

/// Where NVRTC may be, in the order in which it is looked for; file names as for dlopen.
///
/// `$TMAJIT_NVRTC` (a file) is the only place if it is set: who names a file means that file. Otherwise the
/// folder that the build knew of, the loader's own search (LD_LIBRARY_PATH, ldconfig), `$CUDA_HOME` and
/// `$CUDA_PATH` (lib64), /usr/local/cuda, and the folder that holds libtmajit.
[[nodiscard]] std::vector<std::string> nvrtc_places();

/// Returns an id of the build of the loaded library that holds `address`: its GNU build id in hex, or, if
/// the linker left none, its file's size and time. Empty if neither can be had.
[[nodiscard]] std::string build_id(const void* address, const std::string& path);

TMAJIT_END
