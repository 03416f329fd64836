#pragma once

#include "runtime/kernel_origin.hpp"

#include <tmajit/codegen.hpp>
#include <tmajit/compile.hpp>
#include <tmajit/runtime.hpp>

#include <chrono>
#include <memory>
#include <optional>

TMAJIT_BEGIN

/// A kernel that was just built, with everything from its source to its times. It is loaded if there is a
/// device. KernelState keeps the part that launches need.
struct BuiltKernel {
  Artifact artifact;
  bool on_disk = false;  ///< the disk cache has the artifact
  CacheKey key;
  CacheLevel level = CacheLevel::compiled;
  StageTimes times;
  std::uint32_t shared_bytes = 0;  ///< the most dynamic shared memory that a launch may use

  // In this order, the loaded kernel is destroyed before its device.
  std::shared_ptr<Device> device;
  std::unique_ptr<LoadedKernel> loaded;
};

/// The compiler of kernels that are in no cache: NVRTC, or a test's replacement.
struct Toolchain {
  const CompilerIdentity& (*identity)() = &compiler;  ///< throws Error{unavailable} if there is none
  Artifact (*compile)(const Source& source, const CompileOptions&) = &tmajit::compile;
};

/// Makes kernels: generates the source, reads the kernel from disk or compiles and stores it, and loads it.
/// The cache in memory is KernelTable's. Thread-safe. If several processes with the same cache need a kernel
/// at once, one compiles it, and the others wait for its entry.
class Builder {
 public:
  /// Time to wait for another process that compiles the kernel. A kernel compiles in well below a second; a
  /// process that takes longer was stopped.
  static constexpr std::chrono::seconds default_patience{10};

  explicit Builder(RuntimeOptions options, Toolchain toolchain = {},
                   std::chrono::milliseconds patience = default_patience);

  /// Throws CompileError, Error{unavailable}, and what DeviceKernels::load() throws.
  [[nodiscard]] BuiltKernel build(const KernelRequest& request) const;
  /// The artifact of a kernel that was built before: from the disk cache or, if its entry has gone, made
  /// again. Throws CompileError, Error{unavailable}.
  [[nodiscard]] Artifact artifact(const CacheKey& key, const KernelRequest& request) const;

  [[nodiscard]] const RuntimeOptions& options() const noexcept { return options_; }
  [[nodiscard]] const std::shared_ptr<Device>& device() const noexcept { return options_.device; }

 private:
  [[nodiscard]] static Source generate(const KernelRequest& request, StageTimes& times);
  /// Reads the kernel from disk or compiles it. Returns the compiler; null if there is none.
  const CompilerIdentity* fetch_or_compile(const Source& source, BuiltKernel& kernel) const;
  void load_or_compile(const Source& source, const CompilerIdentity* compiler, BuiltKernel& kernel) const;
  /// Sets the kernel's key for `compiler` and reads the kernel from disk. Returns false if it is not there.
  [[nodiscard]] bool fetch(const Source& source, const CompilerIdentity& compiler, BuiltKernel& kernel) const;
  /// Reads a kernel from disk that any of the compilers known to the cache has made.
  [[nodiscard]] bool fetch_without_compiler(const Source& source, BuiltKernel& kernel) const;
  /// Reads the kernel with the key `kernel.key` from disk.
  [[nodiscard]] bool fetch_entry(BuiltKernel& kernel) const;
  /// Compiles the kernel, or waits for another process that compiles it and reads its entry.
  void compile_once(const Source& source, const CompilerIdentity& compiler, BuiltKernel& kernel) const;
  void compile(const Source& source, const CompilerIdentity& compiler, BuiltKernel& kernel) const;
  void load(BuiltKernel& kernel) const;

  RuntimeOptions options_;
  Toolchain toolchain_;
  std::chrono::milliseconds patience_;
  std::optional<DiskCache> disk_;
};

TMAJIT_END
