#pragma once

#include "ops/move_plan.hpp"
#include "runtime/thread_number.hpp"

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

TMAJIT_BEGIN

/// The plans of operations that one thread has called without a Plan object, such as copy(). The key of a
/// plan has everything in a call but the addresses. Only that thread uses the table, so it needs no lock. It
/// is 4-way set-associative; the least recently used plan of a set is evicted.
class PlanTable {
 public:
  using Plan = std::shared_ptr<const PlanState>;
  static constexpr std::size_t max_plans = 256;

  /// The plan with this key; null if there is none.
  [[nodiscard]] Plan find(std::uint64_t hash, std::span<const std::uint64_t> key) noexcept {
    Set& set = sets_[hash % sets_.size()];
    for (std::size_t way = 0; way < ways; ++way) {
      if (set.tag[way] != tag_of(hash) || !set.entry[way] || !set.entry[way]->has_key(key)) continue;
      set.used[way] = ++turn_;
      return set.entry[way]->plan;
    }
    return nullptr;
  }
  void insert(std::uint64_t hash, std::span<const std::uint64_t> key, Plan plan);

 private:
  static constexpr std::size_t ways = 4;
  /// A plan, followed in memory by its key.
  struct Entry : WithTrailingBytes<Entry> {
    Entry(std::span<const std::uint64_t> key, Plan its_plan);
    [[nodiscard]] bool has_key(std::span<const std::uint64_t> key) const noexcept {
      if (key.size() != words) return false;
      const auto* const own_key = reinterpret_cast<const std::uint64_t*>(trailing_bytes());
      std::uint64_t differences = 0;
      for (std::size_t i = 0; i < key.size(); ++i) differences |= key[i] ^ own_key[i];
      return differences == 0;
    }
    Plan plan;
    std::size_t words;  ///< length of the key
  };
  /// A look-up reads only one set and the entry that it finds.
  struct alignas(cache_line) Set {
    std::array<std::uint32_t, ways> tag{};
    std::array<std::uint32_t, ways> used{};  ///< value of `turn_` at the last use
    std::array<std::unique_ptr<const Entry>, ways> entry{};
  };
  [[nodiscard]] static std::uint32_t tag_of(std::uint64_t hash) noexcept {
    return static_cast<std::uint32_t>(hash >> 32);
  }

  std::array<Set, max_plans / ways> sets_{};
  std::uint32_t turn_ = 0;
};

/// A runtime's plan tables, one for each thread.
class PlanTables {
 public:
  /// The calling thread's table. Null if more than `max_numbered_threads` threads are alive, or if the
  /// thread is ending and has returned its number. Calls of such a thread make a plan each time.
  [[nodiscard]] PlanTable* of_this_thread();

  PlanTables() = default;
  ~PlanTables();
  PlanTables(const PlanTables&) = delete;
  PlanTables& operator=(const PlanTables&) = delete;

 private:
  std::array<std::atomic<PlanTable*>, max_numbered_threads> tables_{};
};

TMAJIT_END
