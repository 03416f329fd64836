#pragma once

#include <tmajit/tuning.hpp>

#include <atomic>
#include <filesystem>
#include <mutex>
#include <optional>

TMAJIT_BEGIN

/// A runtime's choices for moves: those that are shipped and, over them, those of a file that all processes
/// with the same cache share. Thread-safe.
class TuningStore {
 public:
  /// Without a cache directory there is no file.
  explicit TuningStore(const std::optional<std::filesystem::path>& cache_directory);

  /// The choices; the first call reads the file. A file that cannot be read is logged and left as it is.
  [[nodiscard]] TuningTable& table() noexcept {
    if (!loaded_.load(std::memory_order_acquire)) load_once();
    return table_;
  }

  /// Adds a choice to the table, and to the file beside what other processes have added meanwhile. False if
  /// the file could not be written or is broken: that is logged, and the file is as before.
  bool remember(const TunedChoice& choice);

 private:
  void load() noexcept;
  void load_once() noexcept;

  std::optional<std::filesystem::path> file_;
  TuningTable table_;
  std::once_flag load_once_;
  std::atomic<bool> loaded_ = false;
};

TMAJIT_END
