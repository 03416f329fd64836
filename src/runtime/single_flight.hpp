#pragma once

#include "runtime/thread_number.hpp"
#include "spec/fork_guard.hpp"

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <future>
#include <limits>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <utility>

TMAJIT_BEGIN

/// Threads are spread over this many lanes. With at most this many threads, each thread has its own lane.
inline constexpr std::size_t single_flight_lanes = 16;

/// Number of values that threads of a lane have found. Only a thread with the lane's lock writes it.
struct alignas(64) LaneHits {
  std::atomic<std::uint64_t> count = 0;
};

/// A table of values that are made on first request. If several threads request the same key at once, the
/// first of them makes the value and the others wait for it. No lock is held while a value is made. If that
/// fails, every waiting thread gets the exception; a later request tries again.
///
/// The caller sets the capacity. Beyond it, the least recently used values are evicted. An evicted value
/// lives as long as a caller holds it, and is made again on the next request.
///
/// A forked child finds the values made before the fork. The child makes by itself the values that its parent
/// was making at the fork.
///
/// Threads that only find values do not write memory that threads of other lanes use: each lane has its own
/// lock and its own references to the values. A thread that changes the table takes the locks of all lanes.
///
/// Keys need operator==, also with the types that callers pass to find(). Callers compute the hash. All of
/// its 64 bits must be well mixed, because the table uses it unchanged.
template <class Key, class Value>
class SingleFlight {
 public:
  using Result = std::shared_ptr<const Value>;

  /// `hits`, if it is not null, counts the values that find() returns, in `single_flight_lanes` numbers.
  explicit SingleFlight(std::size_t capacity = std::numeric_limits<std::size_t>::max(),
                        LaneHits* hits = nullptr)
      : capacity_(capacity), hits_(hits) {}

  /// The value for `key` if the table holds it, else null. Allocates memory only once for each value and
  /// lane, for a Share.
  template <class Probe>
  [[nodiscard]] Result find(std::uint64_t hash, const Probe& key) {
    const std::size_t lane = this_thread_number() % lanes;
    const std::lock_guard lock(locks_[lane].mutex);
    const auto at = find_slot(hash, key);
    if (at == slots_.end() || !at->second.value) return nullptr;
    if (hits_ != nullptr) {
      auto& count = hits_[lane].count;
      count.store(count.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    }
    Slot& slot = at->second;
    // `turn_` changes only when a value is made, so mostly there is nothing to store.
    if (slot.used.load(std::memory_order_relaxed) != turn_) slot.used.store(turn_, std::memory_order_relaxed);
    Result& share = slot.shares[lane];
    if (!share) {
      auto own = std::make_shared<const Share>(Share{slot.value});
      const Value* const value = slot.value.get();
      share = Result(std::move(own), value);
    }
    return share;
  }

  /// The value for `key`; `make()` returns a Result and runs in one thread only.
  template <class Make>
  [[nodiscard]] Result get(std::uint64_t hash, const Key& key, Make&& make) {
    if (Result found = find(hash, key)) return found;
    std::promise<Result> promise;
    std::shared_future<Result> pending;
    {  // 1. Under the locks: the first thread registers its promise; later threads get its future.
      const ExclusiveAccess changing(*this);
      auto at = find_slot(hash, key);
      if (at == slots_.end()) at = slots_.emplace(hash, key);
      Slot& slot = at->second;
      if (slot.value) return slot.value;
      if (slot.maker != nullptr) {
        pending = slot.pending;
      } else {
        slot.pending = promise.get_future().share();
        slot.maker = &promise;
      }
    }
    if (pending.valid()) return pending.get();

    try {  // 2. Without locks: the first thread makes the value.
      Result value = std::forward<Make>(make)();
      publish(hash, key, promise, value);
      promise.set_value(value);
      return value;
    } catch (...) {
      {  // The slot is erased first, so that later requests do not find the failure.
        const ExclusiveAccess changing(*this);
        const auto at = find_slot(hash, key);
        if (at != slots_.end() && at->second.maker == &promise) slots_.erase(at);
      }
      promise.set_exception(std::current_exception());
      throw;
    }
  }

  /// Number of cached values.
  [[nodiscard]] std::size_t size() {
    const std::lock_guard lock(locks_[0].mutex);
    return size_;
  }

 private:
  static constexpr std::size_t lanes = single_flight_lanes;
  static constexpr std::size_t cache_line = 64;

  /// A lane's reference to a value, with a reference count that only threads of the lane change.
  struct alignas(cache_line) Share {
    Result value;
  };
  struct Slot {
    explicit Slot(const Key& its_key) : key(its_key) {}
    Key key;
    const std::promise<Result>* maker = nullptr;  ///< promise of the thread that makes the value, or null
    std::shared_future<Result> pending = {};      ///< the promised value, until `value` is set
    Result value = nullptr;
    std::atomic<std::uint64_t> used = 0;  ///< value of `turn_` at the last use
    std::array<Result, lanes> shares{};   ///< one for each lane, each aliasing a Share
  };
  struct Identity {
    std::size_t operator()(std::uint64_t hash) const noexcept { return hash; }
  };
  using Slots =
      std::unordered_multimap<std::uint64_t, Slot, Identity>;  // equal hashes need not be equal keys
  struct alignas(cache_line) Lock {
    std::mutex mutex;
  };

  /// Holds the locks of all lanes, and so exclusive access to the table.
  class ExclusiveAccess {
   public:
    explicit ExclusiveAccess(SingleFlight& table) : table_(table) {
      for (Lock& lock : table_.locks_) lock.mutex.lock();
    }
    ~ExclusiveAccess() {
      for (Lock& lock : table_.locks_) lock.mutex.unlock();
    }
    ExclusiveAccess(const ExclusiveAccess&) = delete;
    ExclusiveAccess& operator=(const ExclusiveAccess&) = delete;

   private:
    SingleFlight& table_;
  };

  template <class Probe>
  auto find_slot(std::uint64_t hash, const Probe& key) {
    auto [at, end] = slots_.equal_range(hash);
    while (at != end && !(at->second.key == key)) ++at;
    return at == end ? slots_.end() : at;
  }

  void publish(std::uint64_t hash, const Key& key, const std::promise<Result>& promise, const Result& value) {
    // An evicted value is destroyed with `evicted`, after the locks are released, so that no thread waits.
    typename Slots::node_type evicted;
    const ExclusiveAccess changing(*this);
    const auto at = find_slot(hash, key);
    if (at == slots_.end() || at->second.maker != &promise) return;
    at->second.value = value;
    at->second.maker = nullptr;
    at->second.pending = {};
    at->second.used.store(++turn_, std::memory_order_relaxed);
    if (size_ == capacity_) {
      evicted = slots_.extract(least_recently_used());
    } else {
      ++size_;
    }
  }
  /// Searches all values, which takes little time compared with making one.
  auto least_recently_used() {
    auto oldest = slots_.end();
    for (auto at = slots_.begin(); at != slots_.end(); ++at) {
      const auto used = [](auto slot) { return slot->second.used.load(std::memory_order_relaxed); };
      if (at->second.value && (oldest == slots_.end() || used(at) < used(oldest))) oldest = at;
    }
    return oldest;
  }

  std::array<Lock, lanes> locks_;
  Slots slots_;
  std::size_t capacity_;
  LaneHits* hits_;
  std::size_t size_ = 0;
  std::uint64_t turn_ = 0;  ///< increases when a value is made

  void after_fork(ForkSide side) {
    if (side == ForkSide::child) {
      for (auto& [hash, slot] : slots_) {  // a child has no other threads that could make these values
        if (slot.value) continue;
        slot.maker = nullptr;
        slot.pending = {};
      }
    }
    for (Lock& lock : locks_) release_after_fork(lock.mutex, side);
  }
  ForkGuard fork_guard_{[this] {
                          for (Lock& lock : locks_) lock.mutex.lock();
                        },
                        [this](ForkSide side) { after_fork(side); }};
};

TMAJIT_END
