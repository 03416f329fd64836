#pragma once

#include "files/file_system.hpp"

#include <tmajit/cache.hpp>

#include <atomic>
#include <filesystem>
#include <mutex>
#include <optional>
#include <vector>

TMAJIT_BEGIN

/// The compilers that a cache folder knows, in memory while their folder does not change: every kernel that
/// is looked up needs them. Thread-safe.
class KnownCompilers {
 public:
  /// The compilers of a folder, the most recently used first. Always called with the same folder.
  [[nodiscard]] std::vector<CompilerIdentity> in(const std::filesystem::path& cache);

 private:
  std::mutex mutex_;
  std::optional<FileTime> time_;  ///< of the folder when compilers_ was read
  std::vector<CompilerIdentity> compilers_;
};

/// The state that copies of a DiskCache share.
struct DiskCache::State {
  std::atomic<bool> warned{false};  ///< only the first failure is a warning, not one for each kernel
  KnownCompilers compilers;
};

TMAJIT_END
