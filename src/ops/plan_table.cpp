#include "ops/plan_table.hpp"

#include <algorithm>
#include <bit>
#include <utility>

TMAJIT_BEGIN
namespace {

constexpr std::size_t no_number = PlanTables::most_threads;

/// Sets a small number that is the calling thread's own for as long as this lives, and then `no_number`.
/// Taken and given back without a lock, so that a process that forks leaves none locked in its child.
class ThreadNumber {
 public:
  explicit ThreadNumber(std::size_t& number) noexcept : number_(number) {
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
    const std::size_t number = std::exchange(number_, no_number);
    if (number == no_number) return;
    taken[number / 64].fetch_and(~(std::uint64_t{1} << number % 64), std::memory_order_release);
  }
  ThreadNumber(const ThreadNumber&) = delete;
  ThreadNumber& operator=(const ThreadNumber&) = delete;

 private:
  static inline std::array<std::atomic<std::uint64_t>, PlanTables::most_threads / 64> taken{};
  std::size_t& number_;
};

std::unique_ptr<Companion> make_tables() {
  return std::make_unique<PlanTables>();
}

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
  // Apart from the object that gives it back: a thread's own objects may make calls when that has ended.
  thread_local std::size_t number = no_number;
  static const thread_local ThreadNumber taken(number);
  if (number == no_number) return nullptr;
  auto& tables = static_cast<PlanTables&>(companion_of(runtime, make_tables));
  std::atomic<PlanTable*>& table = tables.tables_[number];
  if (table.load(std::memory_order_acquire) == nullptr) table.store(new PlanTable, std::memory_order_release);
  return table.load(std::memory_order_relaxed);
}

TMAJIT_END
