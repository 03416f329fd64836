#pragma once

#include <tmajit/version.hpp>

#include <chrono>
#include <filesystem>

TMAJIT_BEGIN

/// Excludes other processes and threads from the same work while it lives: an advisory lock (flock) on a
/// separate file, which is removed with the lock. The lock ends with its process, even after a crash. A child
/// that was forked meanwhile does not hold the lock after this object is destroyed.
///
/// Correctness does not depend on the lock. It only avoids that work is done twice, or that one of two
/// changes is lost. If no lock is possible (a read-only folder, a filesystem without locks), or if it cannot
/// be taken in time, the caller continues without it.
class FileLock {
 public:
  /// Creates the file `path`, and its folder if that is missing (0700). Waits for the lock for at most
  /// `patience`, because a suspended process (SIGSTOP) keeps its lock.
  FileLock(std::filesystem::path path, std::chrono::milliseconds patience);
  ~FileLock();
  FileLock(const FileLock&) = delete;
  FileLock& operator=(const FileLock&) = delete;

  [[nodiscard]] bool is_held() const noexcept { return descriptor_ >= 0; }
  /// Whether another holder had the lock for all of `patience`.
  [[nodiscard]] bool timed_out() const noexcept { return timed_out_; }

 private:
  std::filesystem::path path_;
  int descriptor_ = -1;
  bool timed_out_ = false;
};

TMAJIT_END
