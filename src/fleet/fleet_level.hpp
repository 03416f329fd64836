#pragma once

#include "cache/kernel_level.hpp"
#include "fleet/circuit_breaker.hpp"
#include "fleet/seal.hpp"
#include "fleet/store.hpp"
#include "spec/fork_safe.hpp"

#include <tmajit/fleet.hpp>

#include <memory>
#include <optional>
#include <vector>

TMAJIT_BEGIN

/// The store of a fleet as a level of the cache. It signs and verifies entries, leaves a store that fails
/// alone for a pause, and waits for other machines.
class FleetLevel final : public KernelLevel {
 public:
  /// Pauses after failures of the store.
  struct Pauses {
    std::chrono::milliseconds first{1000};
    std::chrono::milliseconds longest{60'000};
  };

  FleetLevel(std::shared_ptr<const FleetStore> store, const FleetOptions& options, Pauses pauses);
  FleetLevel(std::shared_ptr<const FleetStore> store, const FleetOptions& options)
      : FleetLevel(std::move(store), options, Pauses{}) {}

  [[nodiscard]] CacheLevel kind() const noexcept override { return CacheLevel::fleet; }
  [[nodiscard]] std::string name() const override;
  [[nodiscard]] std::vector<CompilerIdentity> usable_compilers() const override;
  [[nodiscard]] std::vector<CompilerIdentity> all_compilers() const override;
  [[nodiscard]] bool has(const CacheKey& key) const override;
  [[nodiscard]] std::optional<Artifact> fetch(const CacheKey& key, bool whole) const override;
  [[nodiscard]] bool is_writable() const noexcept override { return true; }
  bool keep(const CacheKey& key, const Artifact& artifact, const CompilerIdentity& compiler) const override;
  [[nodiscard]] std::unique_ptr<MakingLease> lease(const CacheKey& key,
                                                   std::chrono::milliseconds patience) const override;

 private:
  struct State {
    State(const Pauses& pauses)
        : requests(pauses.first, pauses.longest), leases(pauses.first, pauses.longest) {}
    CircuitBreaker requests;
    CircuitBreaker leases;  ///< of leases that no machine ends, as a store that lies may say
    std::vector<CompilerIdentity> compilers = {};
    std::optional<CircuitBreaker::Clock::time_point> compilers_read = std::nullopt;
    bool has_warned_of_entry = false;
  };
  /// State that leases share with the level, so that a lease may outlive it.
  struct Shared {
    Shared(std::shared_ptr<const FleetStore> its_store, const Pauses& pauses)
        : store(std::move(its_store)), state(pauses) {}
    std::shared_ptr<const FleetStore> store;
    ForkSafe<State> state;

    /// The result of `request`; nothing if the store fails or has failed a moment ago.
    template <class Request>
    [[nodiscard]] auto ask(Request request) -> std::optional<decltype(request(*store))>;
  };
  class Lease;

  void reject(const CacheKey& key, std::string_view fault) const;

  std::shared_ptr<Shared> shared_;
  Seal seal_;
  std::chrono::milliseconds longest_lease_;
  std::uint64_t max_entry_bytes_;
};

/// The level of the options' store; null without a URL. Throws Error{invalid_argument} for illegal options,
/// and Error{unavailable} for a store that this build or machine does not support. Connects to nothing.
[[nodiscard]] std::unique_ptr<const KernelLevel> make_fleet_level(const FleetOptions& options);

TMAJIT_END
