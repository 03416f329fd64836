#pragma once

#include "cache/levels.hpp"
#include "runtime/kernel_origin.hpp"
#include "runtime/ledger.hpp"
#include "runtime/recorder.hpp"

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
  bool is_kept = false;  ///< a level of the cache keeps the whole artifact
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

/// Makes kernels: finds the kernel in a level of the cache, or generates its source, compiles and keeps it;
/// and loads it. The cache in memory is KernelTable's. Thread-safe. If several processes that share a level
/// need a kernel at once, one compiles it, and the others wait for its entry. NVRTC is loaded only for a
/// kernel that no level has.
class Builder {
 public:
  /// Time to wait for another process that compiles the kernel. A kernel compiles in well below a second; a
  /// process that takes longer was stopped.
  static constexpr std::chrono::seconds default_patience{10};

  explicit Builder(RuntimeOptions options, Toolchain toolchain = {},
                   std::chrono::milliseconds patience = default_patience);

  /// Throws CompileError, Error{unavailable}, MissingKernelError, and what DeviceKernels::load() throws.
  [[nodiscard]] BuiltKernel build(const KernelRequest& request) const;
  /// The artifact of a kernel that was built before: from a level of the cache or, if none has it, made
  /// again. Without NVRTC, a kernel of a pack has what the pack holds. Throws CompileError,
  /// Error{unavailable}, MissingKernelError.
  [[nodiscard]] Artifact artifact(const CacheKey& key, const KernelRequest& request) const;

  [[nodiscard]] const RuntimeOptions& options() const noexcept { return options_; }
  [[nodiscard]] const std::shared_ptr<Device>& device() const noexcept { return options_.device; }
  [[nodiscard]] const std::shared_ptr<Ledger>& ledger() const noexcept { return ledger_; }
  [[nodiscard]] const Levels& levels() const noexcept { return levels_; }
  /// The key of a request's kernel by compiler. It refers to the request.
  [[nodiscard]] KeyFor key_for(const KernelRequest& request) const;

 private:
  /// Whether an artifact has the code that the device runs.
  using Suits = bool (*)(const Artifact&);

  /// The contents of a MissingKernelError for a request, without a nearest kernel.
  [[nodiscard]] MissingKernel missing(const KernelRequest& request) const;
  /// Searches the levels for a kernel of any compiler. For the simulated device, PTX that was compiled
  /// without a cubin counts, too: it is the same.
  [[nodiscard]] std::optional<Levels::Found> find_of_any_compiler(const KernelRequest& request) const;
  void find_or_compile(const KernelRequest& request, BuiltKernel& kernel) const;
  /// NVRTC's identity. Null if there is no NVRTC and a level has the kernel, which is then `kernel`.
  const CompilerIdentity* require_compiler(const KernelRequest& request, BuiltKernel& kernel) const;
  /// Compiles the kernel, or waits for another process that compiles it and reads its entry.
  void compile_once(const KernelRequest& request, const CompilerIdentity& compiler,
                    BuiltKernel& kernel) const;
  void compile(const KernelRequest& request, const CompilerIdentity& compiler, BuiltKernel& kernel) const;
  void load_or_compile(const KernelRequest& request, BuiltKernel& kernel) const;
  void load(BuiltKernel& kernel) const;

  RuntimeOptions options_;
  Toolchain toolchain_;
  std::chrono::milliseconds patience_;
  Levels levels_;
  Recorder recorder_;
  Suits suits_;
  std::shared_ptr<Ledger> ledger_;
};

TMAJIT_END
