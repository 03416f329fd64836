#include "ops/plan_table.hpp"

#include "ops/kept.hpp"

#include <algorithm>
#include <bit>
#include <utility>

TMAJIT_BEGIN
namespace {

/// A small number of the calling thread's own, for as long as it lives. Taken and given back without a lock,
/// so that a process that forks leaves none locked in its child.
class ThreadNumber {
 public:
  ThreadNumber() noexcept {
    for (std::size_t word = 0; word < taken.size(); ++word) {
      std::uint64_t bits = taken[word].load(std::memory_order_relaxed);
      while (bits != ~std::uint64_t{0}) {
        const auto bit = static_cast<std::size_t>(std::countr_one(bits));
        if (!taken[word].compare_exchange_weak(bits, bits | std::uint64_t{1} << bit,
                                               std::memory_order_acquire)) {
          continue;
        }
        number_ = 64 * word + bit;
        return;
      }
    }
  }
  ~ThreadNumber() {
    if (number_)
      taken[*number_ / 64].fetch_and(~(std::uint64_t{1} << *number_ % 64), std::memory_order_release);
  }
  ThreadNumber(const ThreadNumber&) = delete;
  ThreadNumber& operator=(const ThreadNumber&) = delete;
  [[nodiscard]] const std::optional<std::size_t>& get() const noexcept { return number_; }

 private:
  static inline std::array<std::atomic<std::uint64_t>, PlanTables::most_threads / 64> taken{};
  std::optional<std::size_t> number_;
};

}  // namespace

PlanTable::Plan PlanTable::find(std::uint64_t hash, std::span<const std::byte> key) noexcept {
  for (Entry& entry : set_of(hash)) {
    if (entry.hash != hash || !entry.plan || !std::ranges::equal(entry.key, key)) continue;
    entry.used = ++turn_;
    return entry.plan;
  }
  return nullptr;
}

void PlanTable::insert(std::uint64_t hash, std::span<const std::byte> key, Plan plan) {
  const std::span<Entry> set = set_of(hash);
  Entry& oldest = *std::ranges::min_element(set, {}, &Entry::used);
  oldest = {.hash = hash, .used = ++turn_, .key = {key.begin(), key.end()}, .plan = std::move(plan)};
}

PlanTables::~PlanTables() {
  for (const std::atomic<PlanTable*>& table : tables_) delete table.load(std::memory_order_acquire);
}

PlanTable* PlanTables::of_this_thread(const Runtime& runtime) {
  static const thread_local ThreadNumber thread;
  if (!thread.get()) return nullptr;
  PlanTables& tables = kept_of(runtime).plans;
  std::atomic<PlanTable*>& table = tables.tables_[*thread.get()];
  if (table.load(std::memory_order_acquire) == nullptr) table.store(new PlanTable, std::memory_order_release);
  return table.load(std::memory_order_relaxed);
}

TMAJIT_END
