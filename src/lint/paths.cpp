/// How a check's automaton is led along the ways of a thread.
///
/// Blocks are passed in the order of their ranks, so that the ways that meet in a block have met before it is
/// passed, and are there as few states as say the same (see States). What grows beyond bounds is cut off: a
/// state that is dropped takes its findings with it and adds none, so what has been reported stays certain.
/// To know less in its stead (to merge two states into one that has only the facts that they share) would
/// add ways that no thread goes, and findings with them.
#include "lint/relevance.hpp"
#include "lint/states.hpp"

#include <set>

TMAJIT_BEGIN
namespace lint {
namespace {

/// Of one check in one function.
constexpr std::uint64_t most_steps = 2'000'000;
/// Of one check in one function, kept to know them again: 100 MB or less.
constexpr std::uint64_t most_kept = 500'000;

class Explorer {
 public:
  explicit Explorer(PathCheck& check)
      : kernel_(check.kernel()),
        check_(check),
        remembering_(check),
        fresh_(check, remembering_),
        seen_(kernel_.flow.blocks().size(), States(kernel_.conditions)),
        waiting_(kernel_.flow.blocks().size(), States(kernel_.conditions)) {}

  /// False if some ways were not followed.
  bool run() {
    arrive(0, {});
    std::uint64_t allowed = std::min(most_steps, kernel_.allowance.steps);
    const std::uint64_t before = allowed;
    while (!open_.empty() && !stopped_) {
      const std::uint32_t block = kernel_.flow.order()[*open_.begin()];
      open_.erase(open_.begin());
      std::vector<PathState> states;
      waiting_[block].take([&](PathState state) {
        if (keep(seen_[block], state)) states.push_back(std::move(state));
      });
      pass(block, std::move(states));
      stopped_ = stopped_ || steps_ > allowed || kept_ > most_kept || kernel_.conditions.too_many();
    }
    kernel_.allowance.steps -= std::min(before, steps_);
    return !stopped_ && !lost_;
  }

 private:
  bool keep(States& states, const PathState& state) {
    const auto outcome = states.add(state);
    if (outcome == States::Outcome::too_many) lost_ = true;
    if (outcome == States::Outcome::added) ++kept_;
    return outcome == States::Outcome::added;
  }

  [[nodiscard]] const Relevance& of(const PathState& state) const {
    return state.memory != 0 ? remembering_ : fresh_;
  }

  void arrive(std::uint32_t block, PathState state) {
    ++steps_;
    const Relevance& relevance = of(state);
    if (!relevance.reaches_event(block)) return;
    relevance.trim(block, state.facts);
    if (waiting_[block].add(std::move(state)) == States::Outcome::too_many) lost_ = true;
    open_.insert(kernel_.flow.rank(block));
  }

  void pass(std::uint32_t block, std::vector<PathState> states) {
    for (std::uint32_t e = kernel_.first_event[block]; e < kernel_.first_event[block + 1]; ++e) {
      if (states.empty() || steps_ > most_steps) break;
      if (fresh_.concerns(e) || remembering_.concerns(e)) happen(block, e, states);
    }
    for (PathState& state : states) leave(block, std::move(state));
  }

  /// The event, in each of the states, whether or not its guard lets it happen.
  void happen(std::uint32_t block, std::uint32_t event, std::vector<PathState>& states) {
    const Formula guard = kernel_.events[event].guard;
    next_.clear();
    bool changed = false;
    for (PathState& state : states) {
      ++steps_;
      const auto happens =
          of(state).concerns(event) ? kernel_.conditions.decide(guard, state.facts) : std::optional(false);
      if (happens == false) {
        next_.push_back(std::move(state));
        continue;
      }
      const std::size_t before = next_.size();
      PathState taken = state;
      if (happens == true || kernel_.conditions.assume(guard, true, taken.facts))
        check_.step(event, taken, next_);
      // What has just been remembered may ask for less.
      for (std::size_t i = before; i < next_.size(); ++i) {
        if (state.memory == 0 && next_[i].memory != 0) remembering_.trim(block, next_[i].facts);
      }
      const bool goes_on = next_.size() == before + 1 && next_.back() == taken;
      if (happens == true) {
        changed = changed || !goes_on;
      } else if (goes_on) {
        // Nothing depends on whether it happens.
        next_.back() = std::move(state);
      } else {
        changed = true;
        if (kernel_.conditions.assume(guard, false, state.facts)) next_.push_back(std::move(state));
      }
    }
    states.swap(next_);
    if (changed && states.size() > 1) unify(states);
  }

  void unify(std::vector<PathState>& states) {
    States unified(kernel_.conditions);
    for (PathState& state : states) {
      ++steps_;
      if (unified.add(std::move(state)) == States::Outcome::too_many) lost_ = true;
    }
    states.clear();
    unified.take([&](PathState state) { states.push_back(std::move(state)); });
  }

  void leave(std::uint32_t from, PathState state) {
    const Block& block = kernel_.flow.blocks()[from];
    const bool is_last = from + 1 == kernel_.flow.blocks().size();
    if (is_last) return check_.end(block.last, state);
    std::optional<bool> passes;
    Formula guard = always;
    const bool decides = of(state).decides(from);
    if (decides) {
      guard = kernel_.guards[block.last - 1];
      passes = kernel_.conditions.decide(guard, state.facts);
      const auto opcode = kernel_.instruction(block.last - 1).opcode;
      if ((opcode == ptx::Opcode::exit || opcode == ptx::Opcode::ret) && passes != false)
        check_.end(block.last - 1, state);
    }
    for (const Edge& edge : block.edges) {
      const bool asks = edge.conditional && decides;
      if (asks && passes && *passes != edge.when) continue;
      PathState next = state;
      if (asks && !kernel_.conditions.assume(guard, edge.when, next.facts)) continue;
      if (kernel_.flow.retreats(from, edge.target)) {
        const auto rank = static_cast<std::int32_t>(kernel_.flow.rank(edge.target));
        kernel_.conditions.forget(next.facts, rank);
        if (next.memory != 0 && !check_.retreat(next, rank)) continue;
      }
      arrive(edge.target, std::move(next));
    }
  }

  const Kernel& kernel_;
  PathCheck& check_;
  Relevance remembering_;         ///< of states that remember something
  Relevance fresh_;               ///< of the others
  std::vector<States> seen_;      ///< that a block has been passed in
  std::vector<States> waiting_;   ///< that it is to be passed in
  std::set<std::uint32_t> open_;  ///< ranks of blocks for which states wait
  std::vector<PathState> next_;
  std::uint64_t steps_ = 0;
  std::uint64_t kept_ = 0;
  bool stopped_ = false;
  bool lost_ = false;
};

}  // namespace

bool explore(PathCheck& check, check::RuleId rule) {
  if (Explorer(check).run()) return true;
  check.findings().unfinished(rule);
  return false;
}

}  // namespace lint
TMAJIT_END
