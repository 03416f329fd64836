#pragma once

#include "ops/move_plan.hpp"
#include "runtime/companion.hpp"

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

TMAJIT_BEGIN

/// Plans of one-call operations by what they were asked for, but for addresses: of one thread, so that
/// nothing is locked. A plan that was not used for long makes room for another.
class PlanTable {
 public:
  using Plan = std::shared_ptr<const MovePlan::State>;

  /// Null if it is not there.
  [[nodiscard]] Plan find(std::uint64_t hash, std::span<const std::byte> key) noexcept;
  void insert(std::uint64_t hash, std::span<const std::byte> key, Plan plan);

  /// For the key that is being looked up: it keeps its memory.
  std::vector<std::byte> scratch;

 private:
  static constexpr std::size_t sets = 64;
  static constexpr std::size_t ways = 4;
  struct Entry {
    std::uint64_t hash = 0;
    std::uint64_t used = 0;  ///< the turn in which it was last asked for
    std::vector<std::byte> key;
    Plan plan;
  };
  [[nodiscard]] std::span<Entry> set_of(std::uint64_t hash) noexcept {
    return std::span(entries_).subspan(hash % sets * ways, ways);
  }

  std::array<Entry, sets * ways> entries_{};
  std::uint64_t turn_ = 0;
};

/// The tables of a runtime's threads.
class PlanTables final : public Companion {
 public:
  static constexpr std::size_t most_threads = 1024;

  /// The calling thread's in this runtime. Null if more threads than `most_threads` live, or if the thread
  /// ends and has given its own up: calls then plan each time.
  [[nodiscard]] static PlanTable* of_this_thread(const Runtime& runtime);

  PlanTables() = default;
  ~PlanTables() override;

 private:
  std::array<std::atomic<PlanTable*>, most_threads> tables_{};
};

TMAJIT_END
