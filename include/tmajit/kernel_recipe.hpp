#pragma once

#include <tmajit/cache.hpp>
#include <tmajit/pack.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

TMAJIT_BEGIN

/// Everything that is needed to compile a kernel, whichever NVRTC compiles it.
struct KernelRecipe {
  std::string generator;  ///< generator_id() of the library that made the source; empty for a user's own
  std::string plan_key;   ///< KernelPlan::key(), bytes; empty for a user's own source
  Source source;          ///< with text, entry and headers; the user's expressions are parts of the text
  CompileOptions options;
  MadeFor made_for;

  /// The key under which a runtime with these options and this compiler looks for the kernel.
  [[nodiscard]] TMAJIT_API CacheKey key(const CompilerIdentity& compiler) const;
  /// The record as a line of a manifest: JSON and a line break. Throws Error{invalid_argument} if the source
  /// is not UTF-8.
  [[nodiscard]] TMAJIT_API std::string line() const;
};

/// The record of a plan's kernel.
[[nodiscard]] TMAJIT_API KernelRecipe record_of(const KernelPlan& plan, const CompileOptions& options);

/// The kernels that runs had to compile: a line for each (RuntimeOptions::record).
struct Manifest {
  std::vector<KernelRecipe> kernels;
  std::size_t of_other_versions = 0;  ///< lines for sources of a library with another generator_id()
  std::size_t damaged = 0;            ///< lines that are no records, such as one torn by a full disk
};
/// Accepts any text. Empty lines are skipped.
[[nodiscard]] TMAJIT_API Manifest read_manifest(std::string_view text);

struct MakeOptions {
  std::uint32_t threads = 0;  ///< threads that compile; 0: one for each core
  KernelProgress progress = {};
};
struct MadeKernels {
  /// A kernel that NVRTC refused.
  struct Failure {
    CacheKey key;
    std::string why;
  };
  std::vector<CacheKey> keys;  ///< of all kernels that are now in the folder, in the records' order
  std::size_t compiled = 0;    ///< kernels that the folder did not have
  std::vector<Failure> failures;
};
/// Compiles, into a cache folder, those kernels that it does not have. Several threads, or processes, may
/// compile different kernels at once. Throws Error{unavailable} without NVRTC, Error{io} if the folder cannot
/// be written.
[[nodiscard]] TMAJIT_API MadeKernels make_kernels(std::span<const KernelRecipe> records,
                                                  const DiskCache& cache, const MakeOptions& options = {});

TMAJIT_END
