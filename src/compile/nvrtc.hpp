#pragma once

#include <tmajit/compile.hpp>

#include <span>
#include <string>
#include <vector>

#include <nvrtc.h>

TMAJIT_BEGIN

/// The NVRTC functions that compile() calls, under their names in snake case, without "nvrtc" and "Get".
struct NvrtcApi {
  /// `handle`: a library that dlopen() returned.
  explicit NvrtcApi(void* handle = nullptr) : library(handle) {}

  void* library;
  bool complete = library != nullptr;  ///< find() clears it if a function is missing

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
  /// An address that converts to any type of function pointer.
  struct Address {
    void* address = nullptr;
    template <class Function>
    operator Function*() const noexcept {
      return reinterpret_cast<Function*>(address);
    }
  };
  Address find(const char* name);
};

/// NVRTC, loaded at run time. It stays loaded until the process ends, because it has its own threads and
/// state, and unloading it is not safe.
class Nvrtc {
 public:
  /// The NVRTC of this process, which the first call loads from nvrtc_paths(). After a call that throws, the
  /// next one tries again.
  static const Nvrtc& instance();

  /// Loads the first of `paths` (file names as for dlopen) that is NVRTC 12.4 or later. If there is none,
  /// throws Error{unavailable} with the number of paths and the reasons why existing files are unusable.
  explicit Nvrtc(std::span<const std::string> paths);

  [[nodiscard]] const NvrtcApi& api() const noexcept { return api_; }
  [[nodiscard]] const CompilerIdentity& identity() const noexcept { return identity_; }
  /// The log message about the loaded NVRTC.
  [[nodiscard]] const std::string& report() const noexcept { return report_; }

 private:
  NvrtcApi api_;
  CompilerIdentity identity_;
  std::string report_;
};

/// A thread holds an NvrtcUse while it is inside NVRTC or loads it. A fork waits until no thread holds one:
/// NVRTC and the loader have locks, for which a child that is forked meanwhile would wait forever. The end of
/// the process waits, too; from then on the constructor throws Error{unavailable}. No user callback may run
/// while a thread holds one, and a thread must not hold two.
class NvrtcUse {
 public:
  NvrtcUse();
  ~NvrtcUse();
  NvrtcUse(const NvrtcUse&) = delete;
  NvrtcUse& operator=(const NvrtcUse&) = delete;
};

/// The advice at the end of messages about a missing NVRTC.
[[nodiscard]] std::string nvrtc_remedy();

/// The file names, as for dlopen, under which NVRTC is searched for, in order.
///
/// If `$TMAJIT_NVRTC` (a file) is set, it is the only one. Otherwise: the folder that the build found, the
/// loader's own search (LD_LIBRARY_PATH, ldconfig), `$CUDA_HOME` and `$CUDA_PATH` (lib64, lib),
/// /usr/local/cuda, and the folder that holds libtmajit.
[[nodiscard]] std::vector<std::string> nvrtc_paths();

/// An id of the build of the loaded library that holds `address`: its GNU build id in hex or, if the linker
/// wrote none, its file's size and time. Empty if neither is available.
[[nodiscard]] std::string build_id(const void* address, const std::string& path);

TMAJIT_END
