#pragma once

#include <tmajit/version.hpp>

#include <chrono>
#include <filesystem>

TMAJIT_BEGIN

/// Keeps other processes and other threads from the same work while it lives: an advisory lock (flock) on a
/// file that is there for nothing else, and goes with the lock. It ends with its process, however that ends;
/// a child that was forked meanwhile does not keep it once this object goes.
///
/// Nothing relies on it for being right, only for not doing work twice or losing one of two changes: where
/// there can be no lock (a read-only folder, a filesystem without locks) and where it is not had in time,
/// work goes on without it.
class FileLock {
 public:
  /// Makes the file `path`, and its folder if that is missing (0700). Waits for the lock for at most
  /// `patience`: a stopped process keeps its lock.
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
