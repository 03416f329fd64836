#pragma once

/// Predicates as formulas over comparisons, and what a path knows of them.
#include "lint/value.hpp"

#include <functional>

TMAJIT_BEGIN
namespace lint {

using AtomId = std::uint32_t;

/// A comparison or another yes or no that a kernel branches on.
struct Atom {
  std::int32_t home = Symbol::invariant;  ///< as of a Symbol
  bool per_thread = false;                ///< threads of a CTA may answer differently
  bool one_thread = false;                ///< true in no more than one thread: %tid.x == 0, elect.sync
  std::uint32_t tests = 0;                ///< how many guards ask it
};

/// A formula: twice the index of a node, plus 1 if it is negated. 0 is true, 1 is false.
using Formula = std::uint32_t;
inline constexpr Formula always = 0;
inline constexpr Formula never = 1;
[[nodiscard]] constexpr Formula negation(Formula formula) noexcept {
  return formula ^ 1U;
}

/// Atoms with their answers, sorted: twice the atom, plus 1 for yes.
using Facts = llvm::SmallVector<std::uint32_t, 4>;

class Conditions {
 public:
  explicit Conditions(Values& values) : values_(values) { nodes_.push_back({}); }

  /// The atom that `key` names, made as `make` says if there is none.
  Formula atom(const std::vector<std::uint64_t>& key, const std::function<Atom()>& make);
  /// A yes or no of which nothing is known but the place that makes it.
  Formula opaque(std::uint32_t place, std::int32_t home);
  [[nodiscard]] Formula conjunction(Formula a, Formula b);
  [[nodiscard]] Formula disjunction(Formula a, Formula b) {
    return negation(conjunction(negation(a), negation(b)));
  }
  /// 1 where the formula holds, else 0.
  [[nodiscard]] Value indicator(Formula formula, std::uint32_t width);
  /// a == b, a < b. Opaque, as of `place` and `home`, where the values are not known well enough.
  [[nodiscard]] Formula equal(const Value& a, const Value& b, std::uint32_t place, std::int32_t home);
  [[nodiscard]] Formula less(const Value& a, const Value& b, bool is_signed, std::uint32_t place,
                             std::int32_t home);

  [[nodiscard]] const Atom& atom(AtomId id) const { return atoms_[id]; }
  /// Calls `visit` with every atom of the formula.
  void for_each_atom(Formula formula, const std::function<void(AtomId)>& visit) const;
  void count_test(Formula formula);

  /// Whether the formula holds, if the facts say.
  [[nodiscard]] std::optional<bool> decide(Formula formula, const Facts& facts) const;
  /// Adds what follows from the formula being `truth`, as far as it can matter to a later test.
  void assume(Formula formula, bool truth, Facts& facts) const;
  /// Drops the facts of atoms that are made anew at `rank` or after it.
  void forget(Facts& facts, std::int32_t rank) const;
  /// Whether the facts leave only one thread.
  [[nodiscard]] bool one_thread(const Facts& facts) const;
  /// The same facts for any other thread of the CTA.
  [[nodiscard]] Facts of_others(const Facts& facts) const;
  /// The latest home of the formula's atoms.
  [[nodiscard]] std::int32_t home(Formula formula) const;

 private:
  /// Node 0 is true; others are an atom, or both of two formulas.
  struct Node {
    bool is_atom = false;
    AtomId atom = 0;
    Formula left = always;
    Formula right = always;
    std::uint32_t depth = 0;
  };
  Atom compared(const Value& a, const Value& b) const;
  /// What `holds` says of a − b, where that is one number if a formula holds and another if not.
  std::optional<Formula> by_cases(const Value& d, const std::function<bool(std::uint64_t)>& holds);

  Values& values_;
  std::vector<Node> nodes_;
  std::vector<Atom> atoms_;
  std::map<std::vector<std::uint64_t>, Formula> names_;
};

}  // namespace lint
TMAJIT_END
