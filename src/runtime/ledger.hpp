#pragma once

#include "runtime/counter_page.hpp"
#include "spec/fork_safe.hpp"

#include <tmajit/counters.hpp>

#include <deque>
#include <filesystem>
#include <functional>
#include <optional>
#include <vector>

TMAJIT_BEGIN

/// Counts the kernels that a runtime makes, those that it serves and its swaps. Remembers the last kernels,
/// and tells the program of each. Thread-safe.
class Ledger {
 public:
  static constexpr std::size_t max_history = 256;

  Ledger(std::optional<std::filesystem::path> statistics_directory,
         std::function<void(const KernelRecord&)> on_kernel)
      : page_(std::move(statistics_directory)), on_kernel_(std::move(on_kernel)) {}

  /// Adds a kernel, and calls the program's function.
  void add(const KernelRecord& record, std::uint64_t loaded_bytes, bool is_kept);
  void add_failure(const StageTimes& times);
  void add_served();
  void add_waited();
  void add_swap(double milliseconds);

  [[nodiscard]] Counters counters() const;
  [[nodiscard]] std::vector<KernelRecord> history() const;
  /// The counters of the table that finds kernels in memory.
  [[nodiscard]] LaneHits* memory_hits() const noexcept { return page_->memory.data(); }

 private:
  void add_times(const StageTimes& times);

  SharedCounterPage page_;
  std::function<void(const KernelRecord&)> on_kernel_;
  mutable ForkSafe<std::deque<KernelRecord>> history_;  ///< its lock also orders writers of the page
};

TMAJIT_END
