#pragma once

#include <tmajit/cache.hpp>

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

TMAJIT_BEGIN

/// The right to make one kernel, for which others wait while this object lives.
class MakingLease {
 public:
  MakingLease() = default;
  MakingLease(const MakingLease&) = delete;
  MakingLease& operator=(const MakingLease&) = delete;
  virtual ~MakingLease() = default;
  /// Whether another process or machine had the right for as long as this caller would wait. The caller then
  /// makes the kernel without it.
  [[nodiscard]] virtual bool timed_out() const noexcept = 0;
};

/// A place that keeps compiled kernels by key: a pack, a folder, the store of a fleet. Thread-safe.
///
/// A level never makes a request fail. If it cannot be read, it finds nothing; if it cannot be written, it
/// keeps nothing; both are logged. Each returned artifact was verified: length, checksum and the whole key.
class KernelLevel {
 public:
  KernelLevel() = default;
  KernelLevel(const KernelLevel&) = delete;
  KernelLevel& operator=(const KernelLevel&) = delete;
  virtual ~KernelLevel() = default;

  [[nodiscard]] virtual CacheLevel kind() const noexcept = 0;
  /// For messages: "the cache in /home/me/.cache/tmajit".
  [[nodiscard]] virtual std::string name() const = 0;

  /// The compilers whose kernels may be used although this process has not loaded NVRTC, the best first.
  [[nodiscard]] virtual std::vector<CompilerIdentity> usable_compilers() const = 0;
  /// All compilers that have made kernels here, for a process that has no NVRTC.
  [[nodiscard]] virtual std::vector<CompilerIdentity> all_compilers() const = 0;

  /// Whether fetch() would probably find the kernel. Cheap: reads no kernel.
  [[nodiscard]] virtual bool has(const CacheKey& key) const = 0;
  /// The kernel. It has an entry, resources, and a cubin or PTX; `whole` asks for the source, PTX and log,
  /// too, and finds nothing if the level does not keep them.
  [[nodiscard]] virtual std::optional<Artifact> fetch(const CacheKey& key, bool whole) const = 0;

  /// Whether keep() can keep anything.
  [[nodiscard]] virtual bool is_writable() const noexcept { return false; }
  /// Keeps a kernel that `compiler` made. Returns whether a later fetch() with `whole` will find it.
  virtual bool keep(const CacheKey& /*key*/, const Artifact& /*artifact*/,
                    const CompilerIdentity& /*compiler*/) const {
    return false;
  }
  /// Waits, for at most `patience`, until no other process or machine makes the kernel here. Null if there is
  /// no way to know.
  [[nodiscard]] virtual std::unique_ptr<MakingLease> lease(const CacheKey& /*key*/,
                                                           std::chrono::milliseconds /*patience*/) const {
    return nullptr;
  }
};

TMAJIT_END
