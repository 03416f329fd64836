/// Runs a check's automaton along the paths of a thread.
///
/// Blocks are processed in the order of their ranks, so that all paths into a block, except over back edges,
/// have arrived before. Class States keeps the states of a block few. Beyond the bounds, states are dropped.
/// A dropped state only loses findings, so reported findings stay certain. Merging two states into one that
/// has only their common facts would add paths that no thread takes, and findings with them.
#include "lint/relevance.hpp"
#include "lint/states.hpp"

#include <set>

TMAJIT_BEGIN
namespace lint {
namespace {

/// Limit of the steps of one check in one function.
constexpr std::uint64_t max_steps = 2'000'000;
/// Limit of the states that one check keeps in one function, to recognise them again: at most 100 MB.
constexpr std::uint64_t max_states = 500'000;

class Explorer {
 public:
  explicit Explorer(PathCheck& check)
      : kernel_(check.kernel()),
        check_(check),
        remembering_(check),
        memoryless_(check, remembering_),
        seen_(kernel_.flow.blocks().size(), States(kernel_.conditions)),
        waiting_(kernel_.flow.blocks().size(), States(kernel_.conditions)) {}

  /// Returns false if some paths were not followed.
  bool run() {
    arrive(0, {});
    std::uint64_t allowed = std::min(max_steps, kernel_.allowance.steps);
    const std::uint64_t before = allowed;
    while (!open_.empty() && !stopped_) {
      const std::uint32_t block = kernel_.flow.order()[*open_.begin()];
      open_.erase(open_.begin());
      std::vector<PathState> states;
      waiting_[block].take([&](PathState state) {
        if (keep(seen_[block], state)) states.push_back(std::move(state));
      });
      follow_block(block, std::move(states));
      stopped_ = stopped_ || steps_ > allowed || states_ > max_states || kernel_.conditions.too_many();
    }
    kernel_.allowance.steps -= std::min(before, steps_);
    return !stopped_ && !dropped_;
  }

 private:
  /// Returns whether the state was added. If not, another state covers it, or there are too many.
  bool keep(States& states, const PathState& state) {
    const auto outcome = states.add(state);
    if (outcome == States::Outcome::too_many) dropped_ = true;
    if (outcome == States::Outcome::added) ++states_;
    return outcome == States::Outcome::added;
  }

  [[nodiscard]] const Relevance& relevance_of(const PathState& state) const {
    return state.memory != 0 ? remembering_ : memoryless_;
  }

  void arrive(std::uint32_t block, PathState state) {
    ++steps_;
    const Relevance& relevance = relevance_of(state);
    if (!relevance.reaches_event(block)) return;
    relevance.trim(block, state.facts);
    if (waiting_[block].add(std::move(state)) == States::Outcome::too_many) dropped_ = true;
    open_.insert(kernel_.flow.rank(block));
  }

  void follow_block(std::uint32_t block, std::vector<PathState> states) {
    for (std::uint32_t e = kernel_.first_event[block]; e < kernel_.first_event[block + 1]; ++e) {
      if (states.empty() || steps_ > max_steps) break;
      if (memoryless_.concerns(e) || remembering_.concerns(e)) apply_event(block, e, states);
    }
    for (const PathState& state : states) leave(block, state);
  }

  /// Applies the event to each state, for both outcomes of its guard.
  void apply_event(std::uint32_t block, std::uint32_t event, std::vector<PathState>& states) {
    const Formula guard = kernel_.events[event].guard;
    next_.clear();
    bool changed = false;
    for (PathState& state : states) {
      ++steps_;
      const auto happens = relevance_of(state).concerns(event) ? kernel_.conditions.decide(guard, state.facts)
                                                               : std::optional(false);
      if (happens == false) {
        next_.push_back(std::move(state));
        continue;
      }
      const std::size_t before = next_.size();
      bool unchanged = true;
      PathState taken = state;
      const auto step = [&](const Facts& facts) {
        const std::size_t first = next_.size();
        taken.facts = facts;
        check_.step(event, taken, next_);
        unchanged = unchanged && next_.size() == first + 1 && next_.back() == taken;
      };
      if (happens == true) {
        step(state.facts);
      } else {
        for (const Facts& facts : kernel_.conditions.assume_each(guard, true, state.facts)) step(facts);
      }
      // A state that has just begun to remember something may need fewer facts.
      for (std::size_t i = before; i < next_.size(); ++i) {
        if (state.memory == 0 && next_[i].memory != 0) remembering_.trim(block, next_[i].facts);
      }
      if (happens == true) {
        changed = changed || !unchanged;
      } else if (unchanged) {
        // The check does not depend on whether the event happens.
        next_.resize(before);
        next_.push_back(std::move(state));
      } else {
        changed = true;
        taken = state;
        for (Facts& facts : kernel_.conditions.assume_each(guard, false, state.facts)) {
          taken.facts = std::move(facts);
          next_.push_back(taken);
        }
      }
    }
    states.swap(next_);
    if (changed && states.size() > 1) unify(states);
  }

  /// Merges states, see States.
  void unify(std::vector<PathState>& states) {
    States unified(kernel_.conditions);
    for (PathState& state : states) {
      ++steps_;
      if (unified.add(std::move(state)) == States::Outcome::too_many) dropped_ = true;
    }
    states.clear();
    unified.take([&](PathState state) { states.push_back(std::move(state)); });
  }

  void leave(std::uint32_t from, const PathState& state) {
    const ptx::BasicBlock& block = kernel_.flow.blocks()[from];
    const bool is_last = from + 1 == kernel_.flow.blocks().size();
    if (is_last) return check_.end(block.last, state);
    std::optional<bool> passes;
    Formula guard = always;
    const bool decides = relevance_of(state).decides(from);
    if (decides) {
      guard = kernel_.guards[block.last - 1];
      passes = kernel_.conditions.decide(guard, state.facts);
      const auto opcode = kernel_.instruction(block.last - 1).opcode;
      if ((opcode == ptx::Opcode::exit || opcode == ptx::Opcode::ret) && passes != false)
        check_.end(block.last - 1, state);
    }
    for (const ptx::Edge& edge : block.edges) {
      if (!edge.conditional || !decides) {
        follow(from, edge.target, state);
        continue;
      }
      if (passes && *passes != edge.when) continue;
      PathState next = state;
      for (Facts& facts : kernel_.conditions.assume_each(guard, edge.when, state.facts)) {
        next.facts = std::move(facts);
        follow(from, edge.target, next);
      }
    }
  }

  void follow(std::uint32_t from, std::uint32_t to, PathState state) {
    const bool retreats = kernel_.flow.retreats(from, to);
    llvm::SmallVector<Fact, 4> arriving;
    for (const Arrival& arrival : kernel_.arrivals[to]) {
      if (arrival.from != from || !relevance_of(state).tests(arrival.subject)) continue;
      const Content& content = arrival.content;
      std::optional<SetId> known;
      if (content.formula) {
        known = kernel_.conditions.known(*content.formula, state.facts);
      } else if (content.value) {
        known = kernel_.conditions.known(*content.value, state.facts);
        if (known && retreats && !content.value->number())
          known = kernel_.conditions.after_iteration(*known, content.value->width);
      }
      if (known) arriving.push_back({arrival.subject, *known});
    }
    if (retreats) {
      const auto rank = static_cast<std::int32_t>(kernel_.flow.rank(to));
      kernel_.conditions.forget(state.facts, rank);
      if (state.memory != 0 && !check_.retreat(state, rank)) return;
    }
    for (const Fact& fact : arriving) kernel_.conditions.replace_fact(fact.subject, fact.set, state.facts);
    arrive(to, std::move(state));
  }

  const Kernel& kernel_;
  PathCheck& check_;
  Relevance remembering_;         ///< relevance for states with memory
  Relevance memoryless_;          ///< relevance for states without memory
  std::vector<States> seen_;      ///< states in which a block has been processed
  std::vector<States> waiting_;   ///< states in which a block is still to be processed
  std::set<std::uint32_t> open_;  ///< ranks of blocks for which states wait
  std::vector<PathState> next_;
  std::uint64_t steps_ = 0;
  std::uint64_t states_ = 0;  ///< number of states in seen_
  bool stopped_ = false;      ///< a limit was exceeded
  bool dropped_ = false;      ///< a block had too many states, and some were dropped
};

}  // namespace

bool explore(PathCheck& check, check::RuleId rule) {
  if (Explorer(check).run()) return true;
  check.findings().unfinished(rule);
  return false;
}

}  // namespace lint
TMAJIT_END
