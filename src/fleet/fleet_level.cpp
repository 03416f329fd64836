#include "fleet/fleet_level.hpp"

#include "cache/compiler_record.hpp"
#include "cache/entry_format.hpp"
#include "compile/options.hpp"
#include "spec/log.hpp"

#include <algorithm>
#include <random>
#include <thread>
#include <type_traits>

TMAJIT_BEGIN
namespace {

using Clock = CircuitBreaker::Clock;

// The kinds of bytes that are signed.
constexpr std::string_view kernel_kind = "tmajit kernel";
constexpr std::string_view compiler_kind = "tmajit compiler";

/// Time after which the list of compilers is read again.
constexpr std::chrono::seconds compilers_age{30};

std::string random_token() {
  std::random_device random;
  return fmt::format("{:08x}{:08x}{:08x}{:08x}", random(), random(), random(), random());
}

/// Time between two requests for a lease, with a random part, so that the machines of a fleet do not ask at
/// once.
std::chrono::microseconds with_jitter(std::chrono::milliseconds pause) {
  thread_local std::minstd_rand random{std::random_device{}()};
  const auto microseconds = std::chrono::microseconds(pause).count();
  return std::chrono::microseconds(std::uniform_int_distribution(microseconds / 2, microseconds)(random));
}

}  // namespace

template <class Request>
auto FleetLevel::Shared::ask(Request request) -> std::optional<decltype(request(*store))> {
  const std::optional<unsigned> admitted =
      state.use([](State& of) { return of.requests.admit(Clock::now()); });
  if (!admitted) return std::nullopt;
  try {
    auto answer = request(*store);
    if (state.use([](State& of) { return of.requests.succeeded(); }))
      log(LogLevel::warn, "{} answers again", store->name());
    return answer;
  } catch (const std::exception& failure) {
    struct Outage {
      bool begins;
      std::chrono::milliseconds pause;
    };
    const Outage outage = state.use([&](State& of) {
      const bool begins = of.requests.failed(*admitted, Clock::now());
      return Outage{begins, of.requests.pause()};
    });
    log(outage.begins ? LogLevel::warn : LogLevel::debug, "{} is not used for {} ms: {}", store->name(),
        outage.pause.count(), failure.what());
    return std::nullopt;
  }
}

/// The end of a wait for other machines that make a kernel. If this machine has to make it, this object holds
/// the lease in the store.
class FleetLevel::Lease final : public MakingLease {
 public:
  enum class End { taken, made, timed_out };
  Lease(std::shared_ptr<Shared> shared, const CacheKey& key, std::string token, End end)
      : shared_(std::move(shared)), key_(key), token_(std::move(token)), end_(end) {}
  ~Lease() override {
    if (end_ != End::taken) return;
    (void)shared_->ask([&](const FleetStore& store) {
      store.release(key_, token_);
      return true;
    });
  }
  [[nodiscard]] bool timed_out() const noexcept override { return end_ == End::timed_out; }

 private:
  std::shared_ptr<Shared> shared_;
  CacheKey key_;
  std::string token_;
  End end_;
};

FleetLevel::FleetLevel(std::shared_ptr<const FleetStore> store, const FleetOptions& options, Pauses pauses)
    : shared_(std::make_shared<Shared>(std::move(store), pauses)),
      seal_(options.secret),
      longest_lease_(options.lease),
      max_entry_bytes_(options.max_entry_bytes) {}

std::string FleetLevel::name() const {
  return shared_->store->name();
}

std::vector<CompilerIdentity> FleetLevel::usable_compilers() const {
  std::vector<CompilerIdentity> compilers = all_compilers();
  std::erase_if(compilers, [](const CompilerIdentity& compiler) { return !is_installed(compiler); });
  return compilers;
}

std::vector<CompilerIdentity> FleetLevel::all_compilers() const {
  const auto known = shared_->state.use([](const State& state) {
    const bool is_new = state.compilers_read && Clock::now() - *state.compilers_read < compilers_age;
    return is_new ? std::optional(state.compilers) : std::nullopt;
  });
  if (known) return *known;
  const auto records = shared_->ask([](const FleetStore& store) { return store.compilers(); });
  if (!records) return {};
  std::vector<CompilerIdentity> compilers;
  for (const std::string& record : *records) {
    const Seal::Opened opened = seal_.open(compiler_kind, record);
    auto compiler = opened.fault.empty() ? decode_compiler(opened.bytes) : std::nullopt;
    if (compiler) compilers.push_back(*std::move(compiler));
  }
  // A store has no order; the newest compiler has probably made the most of the kernels that are asked for.
  std::ranges::stable_sort(compilers, [](const CompilerIdentity& a, const CompilerIdentity& b) {
    return std::pair(a.major, a.minor) > std::pair(b.major, b.minor);
  });
  shared_->state.use([&](State& state) {
    state.compilers = compilers;
    state.compilers_read = Clock::now();
  });
  return compilers;
}

bool FleetLevel::has(const CacheKey& key) const {
  return shared_->ask([&](const FleetStore& store) { return store.has(key); }).value_or(false);
}

std::optional<Artifact> FleetLevel::fetch(const CacheKey& key, bool /*whole*/) const try {
  const auto answer = shared_->ask([&](const FleetStore& store) { return store.get(key); });
  if (!answer || !*answer) return std::nullopt;
  const Seal::Opened opened = seal_.open(kernel_kind, **answer);
  if (!opened.fault.empty()) {
    reject(key, opened.fault);
    return std::nullopt;
  }
  DecodedEntry decoded = decode_entry(opened.bytes, key);
  if (!decoded.artifact) reject(key, decoded.fault);
  return std::move(decoded.artifact);
} catch (const std::exception& failure) {
  reject(key, failure.what());
  return std::nullopt;
}

void FleetLevel::reject(const CacheKey& key, std::string_view fault) const {
  const bool is_repeated =
      shared_->state.use([](State& state) { return std::exchange(state.has_warned_of_entry, true); });
  log(is_repeated ? LogLevel::debug : LogLevel::warn, "kernel {} of {} is not used: {}", key.hex(), name(),
      fault);
}

bool FleetLevel::keep(const CacheKey& key, const Artifact& artifact, const CompilerIdentity& compiler) const
    try {
  const std::string bytes = seal_.close(kernel_kind, encode_entry(key, artifact));
  if (bytes.size() > max_entry_bytes_) {
    log(LogLevel::info, "kernel {} is not kept in {}: it has {} bytes, more than {}", key.hex(), name(),
        bytes.size(), max_entry_bytes_);
    return false;
  }
  const std::string record = seal_.close(compiler_kind, encode_compiler(compiler));
  const auto is_kept = shared_->ask([&](const FleetStore& store) {
    store.put(key, bytes);
    store.add_compiler(record);
    return true;
  });
  return is_kept.value_or(false);
} catch (const std::exception& failure) {
  log(LogLevel::warn, "kernel {} is not kept in {}: {}", key.hex(), name(), failure.what());
  return false;
}

std::unique_ptr<MakingLease> FleetLevel::lease(const CacheKey& key,
                                               std::chrono::milliseconds patience) const {
  const auto admitted = shared_->state.use([](State& state) { return state.leases.admit(Clock::now()); });
  if (!admitted) return nullptr;
  const Clock::time_point deadline = Clock::now() + std::min(patience, longest_lease_);
  const std::string token = random_token();
  const auto ended = [&](Lease::End end) { return std::make_unique<Lease>(shared_, key, token, end); };
  constexpr std::chrono::milliseconds longest_pause{100};
  for (std::chrono::milliseconds pause{2};; pause = std::min(2 * pause, longest_pause)) {
    const auto turn = shared_->ask([&](const FleetStore& store) { return store.try_lease(key, token); });
    if (!turn) return nullptr;
    if (*turn != Turn::busy) {
      shared_->state.use([](State& state) { state.leases.succeeded(); });
      return ended(*turn == Turn::taken ? Lease::End::taken : Lease::End::made);
    }
    if (Clock::now() >= deadline) {
      shared_->state.use([&](State& state) { state.leases.failed(*admitted, Clock::now()); });
      return ended(Lease::End::timed_out);
    }
    std::this_thread::sleep_for(with_jitter(pause));
  }
}

TMAJIT_END
