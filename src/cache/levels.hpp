#pragma once

#include "cache/kernel_level.hpp"

#include <functional>
#include <memory>
#include <optional>
#include <vector>

TMAJIT_BEGIN

/// The key of one kernel for a compiler.
using KeyFor = std::function<CacheKey(const CompilerIdentity&)>;

/// The levels that a runtime searches for kernels, in the order of the search. Thread-safe.
class Levels {
 public:
  struct Found {
    Artifact artifact;
    CacheKey key;
    CompilerIdentity compiler;
    CacheLevel level;
    bool is_kept = false;  ///< a level keeps the whole artifact
  };

  Levels() = default;
  explicit Levels(std::vector<std::unique_ptr<const KernelLevel>> levels) : levels_(std::move(levels)) {}

  /// Searches with the compilers that each level names; loads no compiler. `suits` says whether an artifact
  /// has the code that the device needs. A kernel of a fleet's store is kept on disk, too.
  [[nodiscard]] std::optional<Found> find(const KeyFor& key_for, bool (*suits)(const Artifact&)) const;
  /// Searches for the kernel of one compiler.
  [[nodiscard]] std::optional<Found> find(const CacheKey& key, const CompilerIdentity& compiler,
                                          bool (*suits)(const Artifact&)) const;
  /// Searches with every compiler that has made kernels in a level.
  [[nodiscard]] std::optional<Found> find_of_any_compiler(const KeyFor& key_for,
                                                          bool (*suits)(const Artifact&)) const;
  /// The kernel with source, PTX and log, if a level keeps them.
  [[nodiscard]] std::optional<Artifact> whole(const CacheKey& key) const;

  /// Keeps a new kernel in every level that can. Returns whether one of them keeps the whole artifact.
  bool keep(const CacheKey& key, const Artifact& artifact, const CompilerIdentity& compiler) const;
  /// The levels whose leases the maker of a kernel takes, in this order.
  [[nodiscard]] std::vector<const KernelLevel*> writable() const;

  [[nodiscard]] const std::vector<std::unique_ptr<const KernelLevel>>& all() const noexcept {
    return levels_;
  }

 private:
  [[nodiscard]] std::optional<Found> fetch(std::size_t level, const CacheKey& key,
                                           const CompilerIdentity& compiler,
                                           bool (*suits)(const Artifact&)) const;
  template <class Compilers>
  [[nodiscard]] std::optional<Found> search(const KeyFor& key_for, bool (*suits)(const Artifact&),
                                            Compilers compilers_of) const;

  std::vector<std::unique_ptr<const KernelLevel>> levels_;
};

TMAJIT_END
