#include "lint/checks.hpp"
#include "lint/paths.hpp"

#include <algorithm>
#include <map>

#include <spdlog/fmt/fmt.h>

TMAJIT_BEGIN
namespace lint {
namespace {

using Kind = Event::Kind;

/// Follows an expect_tx and takes the bytes of the loads on its mbarrier off what it expects, until the next
/// expect_tx or wait there. It is wrong if that leaves something on every path, and if no load elsewhere
/// could bring the rest.
class BytesCheck final : public PathCheck {
 public:
  explicit BytesCheck(const Kernel& kernel) : kernel_(kernel) {}

  void step(std::uint32_t index, const PathState& state, std::vector<PathState>& next) override {
    const Event& event = kernel_.events[index];
    const bool expects = event.kind == Kind::expect || event.kind == Kind::arrive_expect;
    if (state.memory == 0) {
      next.push_back(state);
      if (expects && event.barrier.known >= 32) next.push_back({remember(index, event.bytes), state.facts});
      return;
    }
    const Open open = opened_[state.memory - 1];
    const auto distance = Values::difference32(event.barrier, kernel_.events[open.expect].barrier);
    const bool same = distance == 0;
    switch (event.kind) {
      case Kind::call:
      case Kind::remote_copy: outcomes_[open.expect].uncertain = true; return;
      case Kind::bulk_load:
        if (!same && may_be(event, open)) {
          outcomes_[open.expect].uncertain = true;
          return;
        }
        if (same) {
          covered_.insert(index);
          outcomes_[open.expect].loads.insert(index);
          const Value rest = kernel_.values.subtract(open.rest, event.bytes);
          const auto number = rest.number();
          // More than was expected: no further load can make up for it.
          if (!rest.exact() || (number && static_cast<std::int32_t>(*number) < 0))
            return close({open.expect, rest});
          next.push_back({remember(open.expect, rest), state.facts});
          return;
        }
        break;
      case Kind::expect:
      case Kind::arrive_expect:
      case Kind::invalidate:
      case Kind::wait:
        if (same || may_be(event, open)) {
          // Two that expect may share a phase; another stage's wait may come between the loads.
          const bool clear = same && !expects;
          if (!clear && open.rest.number() != 0U) {
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
    if (state.memory == 0) return true;
    const Open& open = opened_[state.memory - 1];
    // Around the loop the address or the rest would be another.
    const auto stays = [&](const Value& value) {
      return Values::same(kernel_.values.before(value, rank), value);
    };
    const Value& barrier = kernel_.events[open.expect].barrier;
    if (kernel_.values.before(barrier, rank).known >= 32 && stays(open.rest)) return true;
    close(open);
    return false;
  }

  void report(Findings& findings) const {
    for (const auto& [expect, outcome] : outcomes_) {
      if (outcome.matched || outcome.uncertain || !outcome.rest) continue;
      const Event& event = kernel_.events[expect];
      const bool elsewhere =
          std::any_of(kernel_.events.begin(), kernel_.events.end(), [&](const Event& load) {
            return load.kind == Kind::bulk_load && may_overlap(load, event) &&
                   covered_.count(index_of(load)) == 0;
          });
      if (elsewhere) continue;
      const std::int64_t rest = *outcome.rest;
      std::string loads;
      for (const std::uint32_t load : outcome.loads)
        loads += (loads.empty() ? " at " : ", ") + line_of(kernel_, kernel_.events[load].instruction);
      const std::string amount = event.bytes.number()
                                     ? fmt::format("{} bytes are expected", *event.bytes.number())
                                     : "bytes are expected";
      findings.add(kernel_, event.instruction, "mbarrier.expected-bytes",
                   outcome.loads.empty()
                       ? fmt::format("{}, and no load completes on this mbarrier", amount)
                       : fmt::format("{}, {} {} than the load{}{} deliver{}", amount, rest < 0 ? -rest : rest,
                                     rest < 0 ? "fewer" : "more", outcome.loads.size() == 1 ? "" : "s", loads,
                                     outcome.loads.size() == 1 ? "s" : ""),
                   "exactly the bytes of the loads, those out of bounds included",
                   "a phase with another count never completes: the kernel hangs");
    }
  }

 private:
  struct Open {
    std::uint32_t expect = 0;
    Value rest;
  };
  struct Outcome {
    bool matched = false;
    bool uncertain = false;
    std::optional<std::int32_t> rest;  ///< of some path
    std::set<std::uint32_t> loads;
  };

  [[nodiscard]] bool may_overlap(const Event& a, const Event& b) const {
    return kernel_.may_overlap(a.barrier, 8, b.barrier, 8);
  }
  [[nodiscard]] bool may_be(const Event& event, const Open& open) const {
    return may_overlap(event, kernel_.events[open.expect]);
  }
  [[nodiscard]] std::uint32_t index_of(const Event& event) const {
    return static_cast<std::uint32_t>(&event - kernel_.events.data());
  }

  /// A number for what is expected and not yet loaded.
  std::uint64_t remember(std::uint32_t expect, const Value& rest) {
    std::vector<std::uint64_t> key{expect};
    Values::append(key, rest);
    const auto [found, fresh] = numbers_.try_emplace(key, opened_.size() + 1);
    if (fresh) opened_.push_back({expect, rest});
    return found->second;
  }
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

  const Kernel& kernel_;
  std::map<std::vector<std::uint64_t>, std::uint64_t> numbers_;
  std::vector<Open> opened_;
  std::map<std::uint32_t, Outcome> outcomes_;
  std::set<std::uint32_t> covered_;
};

}  // namespace

void check_expected_bytes(const Kernel& kernel, Findings& findings) {
  if (!kernel.has(Kind::expect) && !kernel.has(Kind::arrive_expect)) return;
  // Bytes that another CTA or another instruction counts are not seen here.
  if (kernel.has(Kind::remote_copy) || kernel.has(Kind::call)) return;
  for (const Event& event : kernel.events) {
    if (event.kind == Kind::bulk_load && kernel.instruction(event.instruction).has("multicast::cluster"))
      return;
  }
  BytesCheck check(kernel);
  if (explore(kernel, check)) {
    check.report(findings);
  } else {
    findings.unfinished(kernel, "mbarrier.expected-bytes");
  }
}

}  // namespace lint
TMAJIT_END
