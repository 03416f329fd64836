#include "lint/checks.hpp"

#include <algorithm>
#include <tuple>
#include <unordered_set>

#include <llvm/ADT/Hashing.h>

TMAJIT_BEGIN
namespace lint {
namespace {

/// Entries of blocks that are looked at, in different states.
constexpr std::size_t most_visits = 40'000;

struct Visit {
  std::uint32_t block = 0;
  PathState state;
  friend bool operator==(const Visit&, const Visit&) = default;
};

struct VisitHash {
  std::size_t operator()(const Visit& visit) const {
    return llvm::hash_combine(visit.block, visit.state.memory,
                              llvm::hash_combine_range(visit.state.facts.begin(), visit.state.facts.end()));
  }
};

class Explorer {
 public:
  explicit Explorer(PathCheck& check) : kernel_(check.kernel()), check_(check) {}

  bool run() {
    arrive(0, {});
    while (!open_.empty()) {
      if (seen_.size() > most_visits) return false;
      const Visit visit = std::move(open_.back());
      open_.pop_back();
      pass(visit);
    }
    return true;
  }

 private:
  void arrive(std::uint32_t block, PathState state) {
    kernel_.trim(block, state.facts);
    Visit visit{block, std::move(state)};
    if (seen_.insert(visit).second) open_.push_back(std::move(visit));
  }

  void pass(const Visit& visit) {
    const Block& block = kernel_.flow.blocks()[visit.block];
    std::vector<PathState> states{visit.state};
    std::vector<PathState> next;
    for (std::uint32_t e = kernel_.first_event[visit.block]; e < kernel_.first_event[visit.block + 1]; ++e) {
      next.clear();
      for (PathState& state : states) {
        const Formula guard = kernel_.events[e].guard;
        const auto happens = kernel_.conditions.decide(guard, state.facts);
        if (happens != false) {
          PathState taken = state;
          kernel_.conditions.assume(guard, true, taken.facts);
          check_.step(e, taken, next);
        }
        if (happens != true) {
          kernel_.conditions.assume(guard, false, state.facts);
          next.push_back(std::move(state));
        }
      }
      unify(next);
      states.swap(next);
    }
    for (const PathState& state : states) leave(visit.block, block, state);
  }

  static void unify(std::vector<PathState>& states) {
    if (states.size() < 2) return;
    std::ranges::sort(states, {}, [](const PathState& each) { return std::tie(each.memory, each.facts); });
    states.erase(std::unique(states.begin(), states.end()), states.end());
  }

  void leave(std::uint32_t from, const Block& block, const PathState& state) {
    const bool is_last = from + 1 == kernel_.flow.blocks().size();
    if (is_last) return check_.end(block.last, state);
    std::optional<bool> passes = true;
    const std::uint32_t last = block.last - 1;
    if (block.first != block.last) {
      passes = kernel_.conditions.decide(kernel_.guards[last], state.facts);
      const auto opcode = kernel_.instruction(last).opcode;
      if ((opcode == ptx::Opcode::exit || opcode == ptx::Opcode::ret) && passes != false)
        check_.end(last, state);
    }
    for (const Edge& edge : block.edges) {
      if (edge.conditional && passes && *passes != edge.when) continue;
      PathState next = state;
      if (edge.conditional) kernel_.conditions.assume(kernel_.guards[last], edge.when, next.facts);
      if (kernel_.flow.retreats(from, edge.target)) {
        const auto rank = static_cast<std::int32_t>(kernel_.flow.rank(edge.target));
        kernel_.conditions.forget(next.facts, rank);
        if (!check_.retreat(next, rank)) continue;
      }
      arrive(edge.target, std::move(next));
    }
  }

  const Kernel& kernel_;
  PathCheck& check_;
  std::unordered_set<Visit, VisitHash> seen_;
  std::vector<Visit> open_;
};

}  // namespace

bool explore(PathCheck& check, check::RuleId rule) {
  if (Explorer(check).run()) return true;
  check.findings().unfinished(rule);
  return false;
}

}  // namespace lint
TMAJIT_END
