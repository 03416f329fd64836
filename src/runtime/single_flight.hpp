#pragma once

#include "spec/fork_guard.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <future>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <unordered_map>
#include <utility>

TMAJIT_BEGIN

/// A table of values that are made when they are first asked for. Threads that ask for the same key at once
/// get the one value that the first of them makes. No lock is held while it is made. What a failed attempt
/// throws reaches everyone who waited for it and is then forgotten, so that a later call tries again.
///
/// A forked child finds what was made before the fork. What its parent was making then it makes by itself.
///
/// Nothing is ever evicted. Keys need ==; callers bring the hash, all 64 bits of which must be good.
template <class Key, class Value>
class SingleFlight {
 public:
  using Result = std::shared_ptr<const Value>;

  /// The value for `key`; `make()` returns a Result and runs in one thread only.
  template <class Make>
  [[nodiscard]] Result get(std::uint64_t hash, const Key& key, Make&& make) {
    Shard& shard = shards_[hash >> (64 - shard_bits)];
    {  // 1. The hit: readers of a shard do not exclude each other.
      const std::shared_lock lock(shard.mutex);
      const auto at = shard.find(hash, key);
      if (at != shard.slots.end() && at->second.value) return at->second.value;
    }
    std::promise<Result> promise;
    std::shared_future<Result> pending;
    {  // 2. Whoever comes first promises the value; the others wait for it.
      const std::unique_lock lock(shard.mutex);
      auto at = shard.find(hash, key);
      if (at == shard.slots.end()) at = shard.slots.emplace(hash, Slot{key, nullptr, {}, nullptr});
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

    try {  // 3. No lock.
      Result value = std::forward<Make>(make)();
      {  // 4a. Publish.
        const std::unique_lock lock(shard.mutex);
        if (const auto at = shard.find(hash, key); at != shard.slots.end() && at->second.maker == &promise) {
          at->second.value = value;
          at->second.pending = {};
        }
      }
      promise.set_value(value);
      return value;
    } catch (...) {
      {  // 4b. Forget first, so that nobody who comes after the failure finds it.
        const std::unique_lock lock(shard.mutex);
        if (const auto at = shard.find(hash, key); at != shard.slots.end() && at->second.maker == &promise) {
          shard.slots.erase(at);
        }
      }
      promise.set_exception(std::current_exception());
      throw;
    }
  }

 private:
  struct Slot {
    Key key;
    const std::promise<Result>* maker;   ///< who promised the value; null if that was before a fork
    std::shared_future<Result> pending;  ///< until `value` is there
    Result value;
  };
  struct Identity {
    std::size_t operator()(std::uint64_t hash) const noexcept { return hash; }
  };
  struct Shard {
    std::shared_mutex mutex;
    std::unordered_multimap<std::uint64_t, Slot, Identity>
        slots;  // by hash: equal hashes need not be equal keys

    auto find(std::uint64_t hash, const Key& key) {
      auto [at, end] = slots.equal_range(hash);
      while (at != end && !(at->second.key == key)) ++at;
      return at == end ? slots.end() : at;
    }
    /// A child has none of its parent's threads.
    void forget_makers() {
      for (auto& [hash, slot] : slots) {
        if (slot.value) continue;
        slot.maker = nullptr;
        slot.pending = {};
      }
    }
  };

  // Threads that ask for different kernels rarely meet in one shard's lock.
  static constexpr unsigned shard_bits = 4;
  std::array<Shard, std::size_t{1} << shard_bits> shards_;

  void lock_all() {
    for (Shard& shard : shards_) shard.mutex.lock();
  }
  void unlock_all(ForkSide side) {
    for (Shard& shard : shards_) {
      if (side == ForkSide::child) shard.forget_makers();
      release_after_fork(shard.mutex, side);
    }
  }
  ForkGuard fork_guard_{[this] { lock_all(); }, [this](ForkSide side) { unlock_all(side); }};
};

TMAJIT_END
