#pragma once

#include "runtime/kernel_origin.hpp"

#include <tmajit/codegen.hpp>
#include <tmajit/compile.hpp>
#include <tmajit/runtime.hpp>

#include <chrono>
#include <memory>
#include <optional>

TMAJIT_BEGIN

/// A kernel with all that it took to make it, loaded if there is a device: KernelState keeps less.
struct BuiltKernel {
  Artifact artifact;
  bool on_disk = false;  ///< the disk cache has the artifact
  CacheKey key;
  CacheLevel level = CacheLevel::compiled;
  StageTimes times;
  std::uint32_t shared_bytes = 0;  ///< dynamic, the most that a launch may ask for

  // The kernel goes before the device that it is loaded on.
  std::shared_ptr<Device> device;
  std::unique_ptr<LoadedKernel> loaded;
};

/// Where kernels come from if they are not in a cache: NVRTC, or a test's stand-in for it.
struct Toolchain {
  const CompilerIdentity& (*identity)() = &compiler;  ///< throws Error{unavailable} if there is none
  Artifact (*compile)(const Source& source, const CompileOptions&) = &tmajit::compile;
};

/// Makes kernels: write the source, look up on disk or compile and store, load. Knows nothing of the memory
/// level. Thread-safe. If several processes with the same cache need a kernel at once, one compiles it, and
/// the rest wait for its entry.
class Builder {
 public:
  /// How long another process is waited for. A kernel compiles in well below a second; who takes longer was
  /// stopped.
  static constexpr std::chrono::seconds usual_patience{10};

  explicit Builder(RuntimeOptions options, Toolchain toolchain = {},
                   std::chrono::milliseconds patience = usual_patience);

  /// Throws CompileError, Error{unavailable}, and what DeviceKernels::load() throws.
  [[nodiscard]] BuiltKernel build(const KernelRequest& request) const;
  /// The artifact of a kernel that was built before, from the disk cache or, where its entry has gone, made
  /// again. Throws CompileError, Error{unavailable}.
  [[nodiscard]] Artifact artifact(const CacheKey& key, const KernelRequest& request) const;

  [[nodiscard]] const RuntimeOptions& options() const noexcept { return options_; }
  [[nodiscard]] const std::shared_ptr<Device>& device() const noexcept { return options_.device; }

 private:
  [[nodiscard]] static Source written(const KernelRequest& request, StageTimes& times);
  /// From disk or compiled. Returns the compiler, null if there is none.
  const CompilerIdentity* make(const Source& source, BuiltKernel& kernel) const;
  void load_or_compile(const Source& source, const CompilerIdentity* compiler, BuiltKernel& kernel) const;
  [[nodiscard]] bool fetch(const Source& source, const CompilerIdentity& compiler, BuiltKernel& kernel) const;
  [[nodiscard]] bool fetch_without_compiler(const Source& source, BuiltKernel& kernel) const;
  [[nodiscard]] bool fetch_entry(BuiltKernel& kernel) const;
  void compile_once(const Source& source, const CompilerIdentity& compiler, BuiltKernel& kernel) const;
  void compile(const Source& source, const CompilerIdentity& compiler, BuiltKernel& kernel) const;
  void load(BuiltKernel& kernel) const;

  RuntimeOptions options_;
  Toolchain toolchain_;
  std::chrono::milliseconds patience_;
  std::optional<DiskCache> disk_;
};

TMAJIT_END
