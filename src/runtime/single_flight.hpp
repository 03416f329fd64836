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

/// A table of values that are made when they are first asked for. Threads that ask for the same key at once
/// get the one value that the first of them makes. No lock is held while it is made. The exception of a
/// failed attempt reaches every thread that waited for it and is then forgotten, so that a later call tries
/// again.
///
/// Its capacity is set by the caller. Beyond that, the least recently used values are evicted: they live on
/// for as long as a caller holds them, and are made again when they are next asked for.
///
/// A forked child finds the values made before the fork. It makes by itself the values that its
/// parent was making at the fork.
///
/// Threads that find values write nothing that other threads read: each has a lane with a lock and shares of
/// the values of its own. A thread that changes the table takes the locks of all lanes.
///
/// Keys need ==, which may take something else that a key is found by; callers bring the hash, all 64 bits of
/// which must be good.
template <class Key, class Value>
class SingleFlight {
 public:
  using Result = std::shared_ptr<const Value>;

  explicit SingleFlight(std::size_t most_kept = std::numeric_limits<std::size_t>::max())
      : most_kept_(most_kept) {}

  /// The value for `key` if it has been made and is kept, else null. Allocates nothing but, once for each
  /// value and lane, the share.
  template <class Probe>
  [[nodiscard]] Result find(std::uint64_t hash, const Probe& key) {
    const std::size_t lane = this_thread_number() % lanes;
    const std::lock_guard lock(locks_[lane].mutex);
    const auto at = find_slot(hash, key);
    if (at == slots_.end() || !at->second.value) return nullptr;
    Slot& slot = at->second;
    // Usually no value has been made since the last use.
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
    {  // 1. The first thread promises the value; later threads wait for it.
      const Changing changing(*this);
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

    try {  // 2. No lock.
      Result value = std::forward<Make>(make)();
      publish(hash, key, promise, value);
      promise.set_value(value);
      return value;
    } catch (...) {
      {  // Forget first, so that threads that come after the failure do not find it.
        const Changing changing(*this);
        const auto at = find_slot(hash, key);
        if (at != slots_.end() && at->second.maker == &promise) slots_.erase(at);
      }
      promise.set_exception(std::current_exception());
      throw;
    }
  }

  /// Values that the table keeps.
  [[nodiscard]] std::size_t kept() {
    const std::lock_guard lock(locks_[0].mutex);
    return kept_;
  }

 private:
  // Up to this many threads each have a lane of their own, if no other threads live.
  static constexpr std::size_t lanes = 16;
  static constexpr std::size_t cache_line = 64;

  /// A lane's share of a value: its reference count is the lane's own, not one that all lanes share.
  struct alignas(cache_line) Share {
    Result value;
  };
  struct Slot {
    explicit Slot(const Key& its_key) : key(its_key) {}
    Key key;
    const std::promise<Result>* maker = nullptr;  ///< who promised the value; null if that was before a fork
    std::shared_future<Result> pending = {};      ///< until `value` is there
    Result value = nullptr;
    std::atomic<std::uint64_t> used = 0;  ///< the turn in which it was last asked for
    std::array<Result, lanes> shares{};   ///< each is its lane's alone
  };
  struct Identity {
    std::size_t operator()(std::uint64_t hash) const noexcept { return hash; }
  };
  using Slots =
      std::unordered_multimap<std::uint64_t, Slot, Identity>;  // equal hashes need not be equal keys
  struct alignas(cache_line) Lock {
    std::mutex mutex;
  };

  /// Keeps everyone else from the table for as long as it lives.
  class Changing {
   public:
    explicit Changing(SingleFlight& table) : table_(table) {
      for (Lock& lock : table_.locks_) lock.mutex.lock();
    }
    ~Changing() {
      for (Lock& lock : table_.locks_) lock.mutex.unlock();
    }
    Changing(const Changing&) = delete;
    Changing& operator=(const Changing&) = delete;

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
    // An evicted value may be destroyed here, after the locks are released: no thread should wait for that.
    typename Slots::node_type leaving;
    const Changing changing(*this);
    const auto at = find_slot(hash, key);
    if (at == slots_.end() || at->second.maker != &promise) return;
    at->second.value = value;
    at->second.maker = nullptr;
    at->second.pending = {};
    at->second.used.store(++turn_, std::memory_order_relaxed);
    if (kept_ == most_kept_) {
      leaving = slots_.extract(longest_unused());
    } else {
      ++kept_;
    }
  }
  /// Looks at every value, which takes little beside making one.
  auto longest_unused() {
    auto oldest = slots_.end();
    for (auto at = slots_.begin(); at != slots_.end(); ++at) {
      const auto used = [](auto slot) { return slot->second.used.load(std::memory_order_relaxed); };
      if (at->second.value && (oldest == slots_.end() || used(at) < used(oldest))) oldest = at;
    }
    return oldest;
  }

  std::array<Lock, lanes> locks_;
  Slots slots_;
  std::size_t most_kept_;
  std::size_t kept_ = 0;
  std::uint64_t turn_ = 0;  ///< grows when a value is made

  void after_fork(ForkSide side) {
    if (side == ForkSide::child) {
      for (auto& [hash, slot] : slots_) {  // a child has none of its parent's threads
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
