#include "ops/plan_table.hpp"

#include <algorithm>
#include <utility>

TMAJIT_BEGIN
PlanTable::Entry::Entry(std::span<const std::uint64_t> key, Plan its_plan)
    : plan(std::move(its_plan)), words(key.size()) {
  std::ranges::copy(key, reinterpret_cast<std::uint64_t*>(trailing_bytes()));
}

void PlanTable::insert(std::uint64_t hash, std::span<const std::uint64_t> key, Plan plan) {
  std::unique_ptr<const Entry> entry(new (TrailingBytes{key.size_bytes()}) Entry(key, std::move(plan)));
  Set& set = sets_[hash % sets_.size()];
  const auto oldest = static_cast<std::size_t>(std::ranges::min_element(set.used) - set.used.begin());
  set.tag[oldest] = tag_of(hash);
  set.used[oldest] = ++turn_;
  // The evicted plan may be destroyed on return. Its destructor may call operations, so the table is already
  // consistent.
  std::swap(set.entry[oldest], entry);
}

PlanTables::~PlanTables() {
  for (const std::atomic<PlanTable*>& table : tables_) delete table.load(std::memory_order_acquire);
}

PlanTable* PlanTables::of_this_thread() {
  const std::size_t thread = this_thread_number();
  if (thread >= max_numbered_threads) return nullptr;
  std::atomic<PlanTable*>& table = tables_[thread];
  if (table.load(std::memory_order_acquire) == nullptr) table.store(new PlanTable, std::memory_order_release);
  return table.load(std::memory_order_relaxed);
}

TMAJIT_END
