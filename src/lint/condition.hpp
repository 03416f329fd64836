#pragma once

/// Predicates as formulas over comparisons of numbers, and the facts that a path knows about these numbers.
///
/// A comparison says that a number, its subject, belongs to a set: that %tid.x is in [0, 31], or that n − 1
/// is in [0, 2^31). A path knows one set for each subject. So one comparison decides another if its set is
/// inside the other's set or disjoint from it, however the two comparisons are written.
#include "lint/number_set.hpp"
#include "lint/value.hpp"

#include <llvm/ADT/STLFunctionalExtras.h>

TMAJIT_BEGIN
namespace lint {

using SubjectId = std::uint32_t;

/// A number, or a flag (1 or 0), that a kernel branches on.
struct Subject {
  std::int32_t home = Symbol::invariant;  ///< see Symbol::home
  bool per_thread = false;                ///< may differ between threads of a CTA
  bool one_thread = false;                ///< 1 in at most one thread: elect.sync
  bool thread_index = false;              ///< %tid.x, which differs in all threads
  bool waits = false;                     ///< the result of a wait for an mbarrier: 1 sooner or later
  NumberSet domain = {{0, 1}};            ///< possible values
  llvm::SmallVector<Value, 1> values{};   ///< values that determine it; empty: unknown
};

/// A formula: twice the index of a node, plus 1 if it is negated. 0 is true, 1 is false.
using Formula = std::uint32_t;
inline constexpr Formula always = 0;
inline constexpr Formula never = 1;
[[nodiscard]] constexpr Formula negation(Formula formula) noexcept {
  return formula ^ 1U;
}

/// A known fact: the subject belongs to the set.
struct Fact {
  SubjectId subject = 0;
  SetId set = 0;
  friend auto operator<=>(const Fact&, const Fact&) = default;
};
/// Facts of a path, sorted by subject. Nothing is known about a subject without a fact.
using Facts = llvm::SmallVector<Fact, 4>;

class Conditions {
 public:
  explicit Conditions(Values& values) : values_(values) { nodes_.push_back({}); }

  /// The flag that `key` names; `make` creates it if there is none.
  Formula flag(llvm::ArrayRef<std::uint64_t> key, llvm::function_ref<Subject()> make);
  /// An unknown flag. `place` is a number of the instruction that makes it; `waits` tells whether this
  /// instruction waits for an mbarrier.
  Formula opaque(std::uint32_t place, std::int32_t home, bool waits = false);
  [[nodiscard]] Formula conjunction(Formula a, Formula b);
  [[nodiscard]] Formula disjunction(Formula a, Formula b) {
    return negation(conjunction(negation(a), negation(b)));
  }
  /// Exactly one of the two holds.
  [[nodiscard]] Formula exclusive(Formula a, Formula b) {
    return disjunction(conjunction(a, negation(b)), conjunction(negation(a), b));
  }
  /// 1 where the formula holds, else 0.
  [[nodiscard]] Value indicator(Formula formula, std::uint32_t width);
  /// The formula whose indicator the value is, if it is one.
  [[nodiscard]] std::optional<Formula> indicated(const Value& value) const;
  /// `a` where the formula holds, else `b`. nullopt unless they differ by a constant.
  [[nodiscard]] std::optional<Value> chosen(Formula formula, const Value& a, const Value& b);
  /// a == b, a < b. If the values are not known well enough, an opaque flag of `place` and `home`. The
  /// difference of two compared numbers is assumed not to overflow, as compilers assume.
  [[nodiscard]] Formula equal(const Value& a, const Value& b, std::uint32_t place, std::int32_t home);
  [[nodiscard]] Formula less(const Value& a, const Value& b, bool is_signed, std::uint32_t place,
                             std::int32_t home);

  [[nodiscard]] std::size_t subjects() const noexcept { return subjects_.size(); }
  [[nodiscard]] const Subject& subject(SubjectId id) const { return subjects_[id].subject; }
  [[nodiscard]] const NumberSet& numbers(SetId set) const { return sets_[set]; }
  /// Whether the formula is a single flag. flag_subject() is its subject.
  [[nodiscard]] bool is_flag(Formula formula) const {
    return formula % 2 == 0 && nodes_[formula / 2].is_member &&
           subjects_[nodes_[formula / 2].subject].is_flag;
  }
  [[nodiscard]] SubjectId flag_subject(Formula flag) const { return nodes_[flag / 2].subject; }
  /// The subject for the value's form without its constant. nullopt if no comparison needs this form, or if
  /// it does not have exactly one symbol.
  [[nodiscard]] std::optional<SubjectId> compared_subject(const Value& value) const;
  /// Calls `visit` with every subject of the formula.
  void for_each_subject(Formula formula, llvm::function_ref<void(SubjectId)> visit) const;
  /// The latest home of the formula's subjects.
  [[nodiscard]] std::int32_t home(Formula formula) const;

  /// Whether the formula holds, if the facts decide it.
  [[nodiscard]] std::optional<bool> decide(Formula formula, const Facts& facts) const;
  /// Adds what follows from the formula being `truth`; false if the facts contradict it.
  [[nodiscard]] bool assume(Formula formula, bool truth, Facts& facts) const;
  /// Sets of facts that together describe the cases of `facts` in which the formula is `truth`.
  [[nodiscard]] llvm::SmallVector<Facts, 2> assume_each(Formula formula, bool truth,
                                                        const Facts& facts) const;
  /// Replaces the fact about `subject`: it is now in `set`.
  void replace_fact(SubjectId subject, SetId set, Facts& facts) const;
  /// The set that the facts give for the formula (as 1 or 0) or the number; nullopt if they do not tell.
  [[nodiscard]] std::optional<SetId> known(Formula formula, const Facts& facts) const;
  [[nodiscard]] std::optional<SetId> known(const Value& value, const Facts& facts) const;
  /// The part of a set that one iteration of a loop passes to the next: "above 0" for a counter, else
  /// nullopt. If more were passed on, a path would have as many states as the loop has iterations.
  [[nodiscard]] std::optional<SetId> after_iteration(SetId set, std::uint32_t width) const;
  /// Drops the facts about subjects whose home is at `rank` or after it.
  void forget(Facts& facts, std::int32_t rank) const;
  /// Whether only one thread can have these facts.
  [[nodiscard]] bool one_thread(const Facts& facts) const;
  /// Whether a fact about the subject tells which threads follow a path.
  [[nodiscard]] bool tells_threads(SubjectId id) const {
    return subjects_[id].subject.one_thread || subjects_[id].subject.thread_index;
  }
  /// The facts that hold for every other thread of the CTA if `facts` hold for one.
  [[nodiscard]] Facts of_others(const Facts& facts) const;

  /// Whether `wide` holds in every case in which `narrow` holds.
  [[nodiscard]] bool covers(const Facts& wide, const Facts& narrow) const;
  /// If `others` covers `facts` in all subjects but one, widens `facts` in that subject by the set of
  /// `others`, which covers the added cases. Returns whether `facts` changed.
  bool widen(Facts& facts, const Facts& others) const;
  /// Whether there are more sets than one function may have.
  [[nodiscard]] bool too_many() const noexcept { return sets_.too_many(); }

 private:
  /// Node 0 is true. Every other node says that a subject belongs to a set, or that two formulas both hold.
  struct Node {
    bool is_member = false;
    SubjectId subject = 0;
    SetId set = 0;
    Formula left = always;
    Formula right = always;
    std::uint32_t depth = 0;
  };
  struct SubjectEntry {
    Subject subject;
    SetId domain = 0;
    bool is_flag = false;
  };
  /// How a form's numbers are interpreted: plainly, or as a difference of signed or unsigned numbers.
  enum class Reading : std::uint8_t { plain, difference_signed, difference_unsigned };

  SubjectId subject(llvm::ArrayRef<std::uint64_t> key, llvm::function_ref<Subject()> make);
  Formula member(SubjectId subject, SetId set);
  /// Whether the value, which is exact, belongs to the set.
  Formula member(const Value& a, const NumberSet& set);
  /// member() for a value that is neither a number nor an indicator. Decides it by the value's base, by the
  /// definition of its symbol, or by its form.
  Formula reduced_member(const Value& a, const NumberSet& set);
  /// Whether the value's form, without its constant, belongs to the set. form and −form share one subject;
  /// for one of them the set is negated.
  Formula form_member(const Value& form, const NumberSet& set, Reading reading);
  /// The key of the subject for a form.
  [[nodiscard]] Key form_key(Value positive, Reading reading) const;
  /// The formula for `holds`, evaluated for each number of the base that determines both values.
  std::optional<Formula> by_numbers(const Value& a, const Value& b,
                                    llvm::function_ref<bool(std::uint64_t, std::uint64_t)> holds);
  /// The subject and the set, if the formula is a single comparison.
  [[nodiscard]] std::optional<Fact> as_member(Formula formula) const;

  Values& values_;
  std::vector<Node> nodes_;
  std::vector<SubjectEntry> subjects_;
  KeyTable names_;          ///< the formula of each key
  KeyTable subject_names_;  ///< the subject of each key
  /// Mutable: const functions add sets, and cache the results of set operations.
  mutable NumberSets sets_;
};

}  // namespace lint
TMAJIT_END
