#pragma once

#include <tmajit/cache.hpp>

#include <chrono>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

TMAJIT_BEGIN

/// A request that the store did not answer, refused, or answered with nonsense. It stays in this room.
class StoreFailure : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The answer to a machine that asks for the lease of a kernel.
enum class Turn {
  taken,  ///< the caller has the lease and makes the kernel
  busy,   ///< another machine makes the kernel
  made    ///< the store holds the kernel
};

/// A place that the machines of a fleet share: bytes by key, records of compilers, and leases. It does not
/// judge the bytes. Thread-safe. Each function throws StoreFailure.
class FleetStore {
 public:
  FleetStore() = default;
  FleetStore(const FleetStore&) = delete;
  FleetStore& operator=(const FleetStore&) = delete;
  virtual ~FleetStore() = default;

  /// For messages: "the Redis store at host:6379".
  [[nodiscard]] virtual std::string name() const = 0;

  [[nodiscard]] virtual std::optional<std::string> get(const CacheKey& key) const = 0;
  [[nodiscard]] virtual bool has(const CacheKey& key) const = 0;
  virtual void put(const CacheKey& key, std::string_view bytes) const = 0;

  [[nodiscard]] virtual std::vector<std::string> compilers() const = 0;
  virtual void add_compiler(std::string_view record) const = 0;

  /// Takes the lease of a kernel that the store does not hold, unless another machine has it. The lease ends
  /// after FleetOptions::lease by the store's clock.
  [[nodiscard]] virtual Turn try_lease(const CacheKey& key, std::string_view token) const = 0;
  /// Ends the lease that was taken with this token.
  virtual void release(const CacheKey& key, std::string_view token) const = 0;
};

TMAJIT_END
