#pragma once

#include "runtime/built_kernel.hpp"
#include "runtime/hash.hpp"

#include <optional>

TMAJIT_BEGIN

/// Where kernels come from if they are not in a cache: NVRTC, or a test's stand-in for it.
struct Toolchain {
  const CompilerIdentity& (*identity)();  ///< throws Error{unavailable} if there is none
  Artifact (*compile)(const Source& source, const CompileOptions&);
};

/// NVRTC, as compiler() and compile() give it.
[[nodiscard]] Toolchain nvrtc_toolchain() noexcept;

/// Makes kernels: generate, look up on disk or compile and store, load. Knows nothing of the memory level.
/// Thread-safe; holds no lock.
class Builder {
 public:
  explicit Builder(RuntimeOptions options, Toolchain toolchain = nvrtc_toolchain());

  /// Throws SpecError, CompileError, Error{unavailable}, and what Device::load() throws.
  [[nodiscard]] BuiltKernel build(const KernelSpec& spec) const;
  [[nodiscard]] BuiltKernel build(const CustomKernel& kernel) const;

  [[nodiscard]] const std::shared_ptr<Device>& device() const noexcept { return options_.device; }

 private:
  void make(const Source& source, BuiltKernel& kernel) const;
  [[nodiscard]] bool fetch(const Source& source, const CompilerIdentity& compiler, BuiltKernel& kernel) const;
  [[nodiscard]] bool fetch_without_compiler(const Source& source, BuiltKernel& kernel) const;
  void compile(const Source& source, const CompilerIdentity& compiler, BuiltKernel& kernel) const;
  void load(BuiltKernel& kernel) const;

  RuntimeOptions options_;
  Toolchain toolchain_;
  std::optional<DiskCache> disk_;
};

TMAJIT_END
