#pragma once

#include "fleet/store.hpp"

#include <atomic>
#include <map>
#include <mutex>
#include <string>

namespace tests {

/// A store in memory, which a test makes fail or lie.
class MemoryStore final : public tmajit::FleetStore {
 public:
  std::atomic<bool> fails = false;
  std::atomic<bool> always_busy = false;
  mutable std::atomic<int> requests = 0;
  mutable std::map<std::string, std::string> values;
  mutable std::map<std::string, std::string> leases;
  mutable std::vector<std::string> records;

  [[nodiscard]] std::string name() const override { return "the store of a test"; }
  [[nodiscard]] std::optional<std::string> get(const tmajit::CacheKey& key) const override {
    const std::lock_guard lock = begin();
    const auto at = values.find(key.hex());
    return at == values.end() ? std::nullopt : std::optional(at->second);
  }
  [[nodiscard]] bool has(const tmajit::CacheKey& key) const override { return get(key).has_value(); }
  void put(const tmajit::CacheKey& key, std::string_view bytes) const override {
    const std::lock_guard lock = begin();
    values[key.hex()] = bytes;
  }
  [[nodiscard]] std::vector<std::string> compilers() const override {
    const std::lock_guard lock = begin();
    return records;
  }
  void add_compiler(std::string_view record) const override {
    const std::lock_guard lock = begin();
    records.emplace_back(record);
  }
  [[nodiscard]] tmajit::Turn try_lease(const tmajit::CacheKey& key, std::string_view token) const override {
    const std::lock_guard lock = begin();
    if (always_busy) return tmajit::Turn::busy;
    if (values.contains(key.hex())) return tmajit::Turn::made;
    const bool is_new = leases.try_emplace(key.hex(), token).second;
    return is_new ? tmajit::Turn::taken : tmajit::Turn::busy;
  }
  void release(const tmajit::CacheKey& key, std::string_view token) const override {
    const std::lock_guard lock = begin();
    if (const auto at = leases.find(key.hex()); at != leases.end() && at->second == token) leases.erase(at);
  }

 private:
  [[nodiscard]] std::lock_guard<std::mutex> begin() const {
    ++requests;
    if (fails) throw tmajit::StoreFailure("it is down");
    return std::lock_guard(mutex_);
  }
  mutable std::mutex mutex_;
};

}  // namespace tests
