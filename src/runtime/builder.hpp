#pragma once

#include <tmajit/codegen.hpp>
#include <tmajit/compile.hpp>
#include <tmajit/runtime.hpp>

#include <chrono>
#include <memory>
#include <optional>
#include <string>

TMAJIT_BEGIN

/// A kernel with all that it took to make it, loaded if there is a device. Never changes once it is built.
struct BuiltKernel {
  Artifact artifact;
  CacheKey key;
  CacheLevel level = CacheLevel::compiled;
  StageTimes times;
  std::string memory_key;          ///< what it was asked for by
  std::uint32_t shared_bytes = 0;  ///< dynamic, the most that a launch may ask for

  // The kernel goes before the device that it is loaded on.
  std::shared_ptr<Device> device;
  std::unique_ptr<LoadedKernel> loaded;
};

struct Kernel::State : BuiltKernel {};

/// Where kernels come from if they are not in a cache: NVRTC, or a test's stand-in for it.
struct Toolchain {
  const CompilerIdentity& (*identity)() = &compiler;  ///< throws Error{unavailable} if there is none
  Artifact (*compile)(const Source& source, const CompileOptions&) = &tmajit::compile;
};

/// A kernel to be made: a plan's, whose source is written only if it must be, or a source of the user's own.
struct KernelRequest {
  const KernelPlan* plan = nullptr;
  const Source* custom = nullptr;
  std::uint32_t shared_bytes = 0;  ///< dynamic, the most that a launch asks for
};
/// What tells kernels apart in memory.
[[nodiscard]] std::string memory_key(const KernelRequest& request);

/// Makes kernels: write the source, look up on disk or compile and store, load. Knows nothing of the memory
/// level. Thread-safe. Of processes with the same cache that need a kernel at once one compiles it, and the
/// others wait for its entry.
class Builder {
 public:
  /// How long another process is waited for. A kernel compiles in well below a second; who takes longer was
  /// stopped.
  static constexpr std::chrono::seconds usual_patience{10};

  explicit Builder(RuntimeOptions options, Toolchain toolchain = {},
                   std::chrono::milliseconds patience = usual_patience);

  /// Throws CompileError, Error{unavailable}, and what DeviceKernels::load() throws.
  [[nodiscard]] BuiltKernel build(const KernelRequest& request) const;

  [[nodiscard]] const RuntimeOptions& options() const noexcept { return options_; }
  [[nodiscard]] const std::shared_ptr<Device>& device() const noexcept { return options_.device; }

 private:
  void make(const Source& source, BuiltKernel& kernel) const;
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
