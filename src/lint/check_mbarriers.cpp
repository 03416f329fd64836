#include "lint/checks.hpp"

#include <algorithm>
#include <map>
#include <set>

#include <spdlog/fmt/fmt.h>

TMAJIT_BEGIN
namespace lint {
namespace {

using Kind = Event::Kind;

// Limits of an mbarrier's arrival count and transaction count (PTX ISA, "Contents of the mbarrier object").
constexpr std::uint64_t max_arrivals = (1ULL << 20) - 1;
constexpr std::uint64_t max_bytes = (1ULL << 20) - 1;

void check_counts(const Event& event, Findings& findings) {
  const auto number = event.bytes.number();
  if (!number) return;
  if (event.kind == Kind::init && (*number == 0 || *number > max_arrivals)) {
    findings.add(event.instruction, "mbarrier.count", fmt::format("mbarrier.init with {} arrivals", *number));
  }
  if ((event.kind == Kind::expect || event.kind == Kind::arrive_expect) && *number > max_bytes) {
    findings.add(event.instruction, "mbarrier.bytes-overflow",
                 fmt::format("a transaction count of {} bytes", *number));
  }
}

bool uses_barrier(const Event& event) {
  switch (event.kind) {
    case Kind::bulk_load:
    case Kind::expect:
    case Kind::arrive_expect:
    case Kind::arrive:
    case Kind::wait: return true;
    default: return false;
  }
}

/// Whether the mbarrier is in a shared variable of this kernel. Mbarriers of other CTAs, and those whose
/// address comes from memory, are not checked.
bool is_own(const Kernel& kernel, const Event& event) {
  const ptx::Variable* variable = kernel.values.variable_of(event.barrier);
  return variable != nullptr && variable->space == ptx::StateSpace::shared;
}

/// The events of one kind, one for each address of an mbarrier.
class Events {
 public:
  Events(const Kernel& kernel, Kind kind) : kernel_(kernel) {
    KeyTable known;
    for (const Event& event : kernel.events) {
      if (event.kind != kind) continue;
      Key key;
      Values::append(key, event.barrier);
      if (known.insert(key, 0).second) firsts_.push_back(&event);
    }
  }

  /// The first event that may be on the mbarrier of `event`, or null.
  [[nodiscard]] const Event* on_barrier_of(const Event& event) const {
    const auto found = std::ranges::find_if(firsts_, [&](const Event* other) {
      return kernel_.may_overlap(event.barrier, 8, other->barrier, 8);
    });
    return found == firsts_.end() ? nullptr : *found;
  }
  /// Whether on_barrier_of() for every event takes too long.
  [[nodiscard]] bool too_many() const { return firsts_.size() * kernel_.events.size() > 10'000'000; }

 private:
  const Kernel& kernel_;
  std::vector<const Event*> firsts_;  ///< first event of each address
};

/// Follows each thread to its first barrier: until then it may only use mbarriers that it has initialised
/// itself.
class InitOrder final : public PathCheck {
 public:
  InitOrder(const Kernel& kernel, Findings& findings)
      : PathCheck(kernel, findings), inits_(kernel, Kind::init) {}

  void run() {
    if (inits_.too_many()) return findings_.unfinished("mbarrier.uninitialised");
    explore(*this, "mbarrier.uninitialised");
  }

  [[nodiscard]] bool concerns(std::uint32_t index, bool remembers) const override {
    const Event& event = kernel_.events[index];
    if (remembers) return false;
    return event.kind == Kind::init || event.kind == Kind::sync || event.kind == Kind::call ||
           (uses_barrier(event) && is_own(kernel_, event));
  }

  void step(std::uint32_t index, const PathState& state, std::vector<PathState>& next) override {
    const Event& event = kernel_.events[index];
    // A path ends at an init, at a barrier (other threads may have initialised the mbarrier before it), and
    // at a call.
    if (event.kind == Kind::init || event.kind == Kind::sync || event.kind == Kind::call) return;
    if (const Event* init = inits_.on_barrier_of(event)) {
      findings_.add(event.instruction, "mbarrier.uninitialised",
                    fmt::format("a thread can come here without a barrier, before another thread has "
                                "initialised the mbarrier at {}",
                                kernel_.line_of(init->instruction)),
                    {}, {.instruction = init->instruction});
      return;
    }
    next.push_back(state);
  }

 private:
  Events inits_;
};

/// Follows an expect_tx and subtracts the bytes of loads on its mbarrier from the expected bytes, until the
/// next expect_tx or wait on this mbarrier. Reports an expect_tx if bytes remain on every path and no load
/// elsewhere could deliver them.
class BytesCheck final : public PathCheck {
 public:
  using PathCheck::PathCheck;

  [[nodiscard]] bool concerns(std::uint32_t index, bool remembers) const override {
    switch (kernel_.events[index].kind) {
      case Kind::expect:
      case Kind::arrive_expect: return true;
      case Kind::call:
      case Kind::remote_copy:
      case Kind::bulk_load:
      case Kind::invalidate:
      case Kind::wait: return remembers;
      default: return false;
    }
  }
  [[nodiscard]] bool ends_matter() const override { return true; }

  void step(std::uint32_t index, const PathState& state, std::vector<PathState>& next) override {
    const Event& event = kernel_.events[index];
    const bool expects = event.kind == Kind::expect || event.kind == Kind::arrive_expect;
    if (state.memory == 0) {
      next.push_back(state);
      if (expects && event.barrier.known >= 32)
        next.push_back({remember(index, event.bytes), index, false, state.facts});
      return;
    }
    const Open open = opened_[state.memory - 1];
    const auto distance = Values::difference32(event.barrier, kernel_.events[open.expect].barrier);
    const bool same = distance == 0;
    switch (event.kind) {
      case Kind::call:
      case Kind::remote_copy: outcomes_[open.expect].uncertain = true; return;
      case Kind::bulk_load:
        if (!same && may_share_mbarrier(event, open)) {
          outcomes_[open.expect].uncertain = true;
          return;
        }
        if (same) {
          covered_.insert(index);
          outcomes_[open.expect].loads.insert(index);
          const Value rest = kernel_.values.subtract(open.rest, event.bytes);
          const auto number = rest.number();
          // More bytes than expected have come, or their number is unknown: further loads change nothing.
          if (!rest.exact() || (number && static_cast<std::int32_t>(*number) < 0))
            return close({open.expect, rest});
          next.push_back({remember(open.expect, rest), open.expect, false, state.facts});
          return;
        }
        break;
      case Kind::expect:
      case Kind::arrive_expect:
      case Kind::invalidate:
      case Kind::wait:
        if (same || may_share_mbarrier(event, open)) {
          // Remaining bytes are no certain mistake: two expect_tx may belong to one phase, and a wait for
          // another stage may come between the loads.
          const bool is_certain = same && !expects;
          if (!is_certain && open.rest.number() != 0U) {
            outcomes_[open.expect].uncertain = true;
            if (expects) outcomes_[index].uncertain = true;
          }
          return close(open);
        }
        break;
      default: break;
    }
    next.push_back(state);
  }

  void end(std::uint32_t, const PathState& state) override {
    if (state.memory != 0) close(opened_[state.memory - 1]);
  }

  bool retreat(PathState& state, std::int32_t rank) override {
    const Open& open = opened_[state.memory - 1];
    // The path ends if the next iteration would change the address or the remaining bytes.
    const auto stays = [&](const Value& value) {
      return Values::same(kernel_.values.before(value, rank), value);
    };
    const Value& barrier = kernel_.events[open.expect].barrier;
    if (kernel_.values.before(barrier, rank).known >= 32 && stays(open.rest)) return true;
    close(open);
    return false;
  }

  void report() {
    std::vector<const Event*> uncovered;
    for (const Event& event : kernel_.events) {
      if (event.kind == Kind::bulk_load && covered_.count(index_of(event)) == 0) uncovered.push_back(&event);
    }
    for (const auto& [expect, outcome] : outcomes_) {
      if (outcome.matched || outcome.uncertain || !outcome.rest) continue;
      const Event& event = kernel_.events[expect];
      const bool elsewhere =
          std::ranges::any_of(uncovered, [&](const Event* load) { return may_overlap(*load, event); });
      if (elsewhere) continue;
      const std::int64_t rest = *outcome.rest;
      std::string loads;
      for (const std::uint32_t load : outcome.loads)
        loads += (loads.empty() ? " at " : ", ") + kernel_.line_of(kernel_.events[load].instruction);
      const std::string amount = event.bytes.number()
                                     ? fmt::format("{} bytes are expected", *event.bytes.number())
                                     : "bytes are expected";
      findings_.add(event.instruction, "mbarrier.expected-bytes",
                    outcome.loads.empty() ? fmt::format("{}, and no load completes on this mbarrier", amount)
                                          : fmt::format("{}, {} {} than the load{}{} deliver{}", amount,
                                                        rest < 0 ? -rest : rest, rest < 0 ? "fewer" : "more",
                                                        outcome.loads.size() == 1 ? "" : "s", loads,
                                                        outcome.loads.size() == 1 ? "s" : ""));
    }
  }

 private:
  /// An expect_tx, and the bytes that the loads of the path so far have not delivered.
  struct Open {
    std::uint32_t expect = 0;
    Value rest;
  };
  /// The results of all paths from an expect_tx.
  struct Outcome {
    bool matched = false;              ///< on some path, loads deliver the expected bytes
    bool uncertain = false;            ///< on some path, the delivered bytes are unknown
    std::optional<std::int32_t> rest;  ///< bytes that remain on some path
    std::set<std::uint32_t> loads;
  };

  [[nodiscard]] bool may_overlap(const Event& a, const Event& b) const {
    return kernel_.may_overlap(a.barrier, 8, b.barrier, 8);
  }
  [[nodiscard]] bool may_share_mbarrier(const Event& event, const Open& open) const {
    return may_overlap(event, kernel_.events[open.expect]);
  }
  [[nodiscard]] std::uint32_t index_of(const Event& event) const {
    return static_cast<std::uint32_t>(&event - kernel_.events.data());
  }

  /// The number of the pair of `expect` and the bytes that remain; from 1.
  std::uint64_t remember(std::uint32_t expect, const Value& rest) {
    Key key{expect};
    Values::append(key, rest);
    const auto [number, fresh] = numbers_.insert(key, static_cast<std::uint32_t>(opened_.size() + 1));
    if (fresh) opened_.push_back({expect, rest});
    return number;
  }
  /// Adds the end of a path to the outcome of its expect_tx.
  void close(const Open& open) {
    Outcome& outcome = outcomes_[open.expect];
    const auto rest = open.rest.number();
    if (!rest) {
      outcome.uncertain = true;
    } else if (*rest == 0) {
      outcome.matched = true;
    } else {
      outcome.rest = static_cast<std::int32_t>(*rest);
    }
  }

  KeyTable numbers_;          ///< numbers of the elements of opened_, from 1
  std::vector<Open> opened_;  ///< the memory of a path is the number of one of these
  std::map<std::uint32_t, Outcome> outcomes_;
  std::set<std::uint32_t> covered_;  ///< loads that some path has subtracted
};

}  // namespace

void check_mbarriers(const Kernel& kernel, Findings& findings) {
  const bool calls = kernel.has(Kind::call);
  const Events inits(kernel, Kind::init);
  const Events waits(kernel, Kind::wait);
  if (inits.too_many() || waits.too_many()) return findings.unfinished("mbarrier.never-waited");
  for (const Event& event : kernel.events) {
    check_counts(event, findings);
    if (calls || !uses_barrier(event) || !is_own(kernel, event)) continue;
    if (inits.on_barrier_of(event) == nullptr) {
      findings.add(event.instruction, "mbarrier.uninitialised",
                   "an mbarrier that this kernel initialises nowhere", {},
                   {.instruction = event.instruction});
    } else if (event.kind == Kind::bulk_load && waits.on_barrier_of(event) == nullptr) {
      findings.add(event.instruction, "mbarrier.never-waited",
                   "a load that completes on an mbarrier that this kernel waits for nowhere", {},
                   {.instruction = event.instruction});
    }
  }
}

void check_init_order(const Kernel& kernel, Findings& findings) {
  if (kernel.has(Kind::init)) InitOrder(kernel, findings).run();
}

void check_expected_bytes(const Kernel& kernel, Findings& findings) {
  if (!kernel.has(Kind::expect) && !kernel.has(Kind::arrive_expect)) return;
  // Bytes that another CTA or a called function counts are not visible here.
  if (kernel.has(Kind::remote_copy) || kernel.has(Kind::call)) return;
  for (const Event& event : kernel.events) {
    if (event.kind == Kind::bulk_load && kernel.instruction(event.instruction).has("multicast::cluster"))
      return;
  }
  BytesCheck check(kernel, findings);
  if (explore(check, "mbarrier.expected-bytes")) check.report();
}

}  // namespace lint
TMAJIT_END
