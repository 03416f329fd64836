#pragma once

#include <tmajit/compile.hpp>

#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include <nvrtc.h>

TMAJIT_BEGIN

/// The NVRTC functions that tmajit calls. Members have the functions' names in snake case, without "nvrtc"
/// and "Get".
struct NvrtcApi {
  /// `handle`: a library that dlopen() returned.
  explicit NvrtcApi(void* handle = nullptr) : library(handle) {}

  void* library;
  bool complete = library != nullptr;  ///< whether the library has all functions; find() clears it

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
  /// The address of a function in the library; null if the library does not have it.
  Address find(const char* name);
};

/// NVRTC, loaded at run time. It stays loaded until the process ends: it has threads and state of its own, so
/// that unloading it is not safe.
class Nvrtc {
 public:
  /// The NVRTC of this process. The first call loads it from nvrtc_paths(). If loading fails, the call throws
  /// and the next call tries again.
  static const Nvrtc& instance();

  /// Loads the first of `paths` (file names as for dlopen) that is NVRTC 12.4 or later. If there is none,
  /// throws Error{unavailable}. The message says why existing files are unusable.
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

/// Marks the thread that holds it as being inside NVRTC. A thread must hold one while it loads or calls
/// NVRTC.
///
/// A fork waits until no thread holds an NvrtcUse: NVRTC and the loader have locks, and a child that is
/// forked while a thread holds such a lock would wait for it forever. A thread with an NvrtcUse must not run
/// a user's callback, which may fork or wait for a thread that forks. It must not construct a second NvrtcUse
/// either, because a fork that already waits for this thread would block the constructor.
///
/// The end of the process waits in the same way. Afterwards the constructor throws Error{unavailable}.
class NvrtcUse {
 public:
  NvrtcUse();
  ~NvrtcUse();
  NvrtcUse(const NvrtcUse&) = delete;
  NvrtcUse& operator=(const NvrtcUse&) = delete;
};

/// How to get a usable NVRTC: the advice at the end of messages about a missing or incomplete one.
[[nodiscard]] std::string nvrtc_remedy();

/// The file names, as for dlopen, that are tried for NVRTC, in this order.
///
/// If `$TMAJIT_NVRTC` names a file, that file is the only one. If not, NVRTC is searched for in the folder
/// that CMake found, by the loader itself (LD_LIBRARY_PATH, ldconfig), in `$CUDA_HOME` and `$CUDA_PATH`
/// (lib64, lib), in /usr/local/cuda/lib64, and in the folder that holds libtmajit.
[[nodiscard]] std::vector<std::string> nvrtc_paths();

/// The folder of the file that holds this code: libtmajit or, if linked statically, the program.
[[nodiscard]] std::filesystem::path own_folder();

/// Identifies the build of a loaded library. `address` is an address in the library, `path` its file. Returns
/// the library's GNU build id in hex or, if it has none, the file's size and modification time. Returns an
/// empty text if neither is available.
[[nodiscard]] std::string build_id(const void* address, const std::string& path);
/// The size and modification time of a file; empty if it does not exist.
[[nodiscard]] std::string file_stamp(const std::string& path);

TMAJIT_END
