#pragma once

#include <tmajit/list.hpp>
#include <tmajit/tuning.hpp>

#include <atomic>
#include <filesystem>
#include <mutex>
#include <optional>

TMAJIT_BEGIN

/// A runtime's tuned choices: the shipped ones, overridden by those of a file that all processes with the
/// same cache share. Thread-safe.
class TuningStore {
 public:
  /// Without a cache directory there is no file.
  explicit TuningStore(const std::optional<std::filesystem::path>& cache_directory);

  /// The choices; the first call reads the file. A file that cannot be read is logged and not changed.
  [[nodiscard]] TuningTable& table() noexcept {
    if (!loaded_.load(std::memory_order_acquire)) load_once();
    return table_;
  }

  /// Adds choices to the table and to the file, which keeps choices that other processes have added
  /// meanwhile. Returns false if the file is broken or could not be written: that is logged, and the file is
  /// unchanged.
  bool remember(List<TunedChoice> choices);

 private:
  void load() noexcept;
  void load_once() noexcept;

  std::optional<std::filesystem::path> file_;
  TuningTable table_;
  std::once_flag load_once_;
  std::atomic<bool> loaded_ = false;
};

TMAJIT_END
