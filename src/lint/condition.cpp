#include "lint/condition.hpp"

#include <algorithm>

#include <llvm/ADT/STLExtras.h>

TMAJIT_BEGIN
namespace lint {
namespace {

// The first number of a key keeps kinds of nodes apart; it is ~0 for what the propagation names by a
// SymbolKey.
enum : std::uint64_t { key_opaque, key_both, key_equal, key_less };

/// Deeper formulas become opaque: nobody tests them twice.
constexpr std::uint32_t most_depth = 8;

std::int64_t as_signed(std::uint64_t bits, std::uint32_t width) {
  const std::uint32_t shift = 64 - width;
  return static_cast<std::int64_t>(bits << shift) >> shift;
}

void put(Facts& facts, AtomId atom, bool truth) {
  const std::uint32_t fact = atom * 2 + (truth ? 1 : 0);
  const auto at = std::lower_bound(facts.begin(), facts.end(), atom * 2);
  if (at != facts.end() && *at / 2 == atom) {
    *at = fact;
  } else {
    facts.insert(at, fact);
  }
}

}  // namespace

Formula Conditions::atom(const std::vector<std::uint64_t>& key, const std::function<Atom()>& make) {
  const auto [found, fresh] = names_.try_emplace(key, static_cast<Formula>(nodes_.size() * 2));
  if (fresh) {
    nodes_.push_back({true, static_cast<AtomId>(atoms_.size()), always, always, 0});
    atoms_.push_back(make());
  }
  return found->second;
}

Formula Conditions::opaque(std::uint32_t place, std::int32_t home) {
  return atom({key_opaque, place}, [home] { return Atom{home, true, false, 0}; });
}

Formula Conditions::conjunction(Formula a, Formula b) {
  if (a > b) std::swap(a, b);
  if (a == never || a == negation(b)) return never;
  if (a == always || a == b) return b;
  const std::uint32_t depth = std::max(nodes_[a / 2].depth, nodes_[b / 2].depth) + 1;
  const std::vector<std::uint64_t> key{key_both, a, b};
  if (depth > most_depth) {
    return atom(key, [&] { return Atom{std::max(home(a), home(b)), true, false, 0}; });
  }
  const auto [found, fresh] = names_.try_emplace(key, static_cast<Formula>(nodes_.size() * 2));
  if (fresh) nodes_.push_back({false, 0, a, b, depth});
  return found->second;
}

Atom Conditions::compared(const Value& a, const Value& b) const {
  Symbol both;
  values_.inherit(both, a);
  values_.inherit(both, b);
  return {both.home, both.per_thread, false, 0};
}

Value Conditions::indicator(Formula formula, std::uint32_t width) {
  if (formula == always) return Values::constant(1, width);
  if (formula == never) return Values::constant(0, width);
  // A formula and its negation share a symbol.
  const Formula positive = formula & ~1U;
  const SymbolId id = values_.named({key_indicator, positive}, [&] {
    Symbol symbol;
    symbol.indicates = positive;
    for_each_atom(positive, [&](AtomId each) {
      symbol.home = std::max(symbol.home, atoms_[each].home);
      symbol.per_thread |= atoms_[each].per_thread;
    });
    return symbol;
  });
  const Value value = Values::of(id, width, 1, 1);
  return formula == positive ? value : values_.subtract(Values::constant(1, width), value);
}

std::optional<Formula> Conditions::by_cases(const Value& d, const std::function<bool(std::uint64_t)>& holds) {
  if (!d.exact() || d.terms.size() != 1) return std::nullopt;
  const auto& formula = values_.symbol(d.terms[0].symbol).indicates;
  if (!formula) return std::nullopt;
  const bool if_true = holds((d.constant + d.terms[0].factor) & low_bits(d.width));
  const bool if_false = holds(d.constant);
  if (if_true == if_false) return if_true ? always : never;
  return if_true ? *formula : negation(*formula);
}

Formula Conditions::equal(const Value& a, const Value& b, std::uint32_t place, std::int32_t home) {
  Value d = values_.subtract(a, b);
  if (const auto number = d.number()) return *number == 0 ? always : never;
  if (const Residue r = values_.residue(d); r.remainder != 0) return never;
  if (const auto n = b.number(); n && *n > a.most) return never;
  if (!d.exact()) return opaque(place, home);
  if (const auto formula = by_cases(d, [](std::uint64_t number) { return number == 0; })) return *formula;
  // a == b and b == a are the same: the first factor is made the smaller of the two.
  const Value other = values_.subtract(b, a);
  if (other.terms.front().factor < d.terms.front().factor) d = other;
  std::vector<std::uint64_t> key{key_equal};
  Values::append(key, d);
  return atom(key, [&] {
    Atom made = compared(a, b);
    made.one_thread = d.terms.size() == 1 && d.terms.front().factor == 1 &&
                      values_.symbol(d.terms.front().symbol).thread_index;
    return made;
  });
}

Formula Conditions::less(const Value& a, const Value& b, bool is_signed, std::uint32_t place,
                         std::int32_t home) {
  const auto x = a.number();
  const auto y = b.number();
  const auto is_less = [&](std::uint64_t p, std::uint64_t q) {
    return is_signed ? as_signed(p, a.width) < as_signed(q, a.width) : p < q;
  };
  if (x && y) return is_less(*x, *y) ? always : never;
  if (!is_signed && y && *y > a.most) return always;
  if (!is_signed && y && *y == 0) return never;
  // Unsigned a < 1 is a == 0.
  if (!is_signed && y && *y == 1) return equal(a, values_.constant(0, a.width), place, home);
  if (!a.exact() || !b.exact()) return opaque(place, home);
  if (y) {
    if (const auto formula = by_cases(a, [&](std::uint64_t number) { return is_less(number, *y); }))
      return *formula;
  }
  if (x) {
    if (const auto formula = by_cases(b, [&](std::uint64_t number) { return is_less(*x, number); }))
      return *formula;
  }
  std::vector<std::uint64_t> key{key_less, is_signed ? 1ULL : 0ULL};
  Values::append(key, a);
  Values::append(key, b);
  return atom(key, [&] { return compared(a, b); });
}

void Conditions::for_each_atom(Formula formula, const std::function<void(AtomId)>& visit) const {
  const Node& node = nodes_[formula / 2];
  if (node.is_atom) {
    visit(node.atom);
  } else if (formula / 2 != 0) {
    for_each_atom(node.left, visit);
    for_each_atom(node.right, visit);
  }
}

void Conditions::count_test(Formula formula) {
  for_each_atom(formula, [&](AtomId id) { ++atoms_[id].tests; });
}

std::int32_t Conditions::home(Formula formula) const {
  std::int32_t latest = Symbol::invariant;
  for_each_atom(formula, [&](AtomId id) { latest = std::max(latest, atoms_[id].home); });
  return latest;
}

std::optional<bool> Conditions::decide(Formula formula, const Facts& facts) const {
  const Node& node = nodes_[formula / 2];
  const bool negated = (formula & 1) != 0;
  if (formula / 2 == 0) return !negated;
  if (node.is_atom) {
    const auto at = std::lower_bound(facts.begin(), facts.end(), node.atom * 2);
    if (at == facts.end() || *at / 2 != node.atom) return std::nullopt;
    return ((*at & 1) != 0) != negated;
  }
  const auto left = decide(node.left, facts);
  const auto right = decide(node.right, facts);
  if ((left && !*left) || (right && !*right)) return negated;
  if (left && right) return !negated;
  return std::nullopt;
}

void Conditions::assume(Formula formula, bool truth, Facts& facts) const {
  const Node& node = nodes_[formula / 2];
  if ((formula & 1) != 0) truth = !truth;
  if (formula / 2 == 0) return;
  if (node.is_atom) {
    const Atom& atom = atoms_[node.atom];
    if (atom.tests > 1 || atom.one_thread) put(facts, node.atom, truth);
  } else if (truth) {
    assume(node.left, true, facts);
    assume(node.right, true, facts);
  } else if (decide(node.left, facts) == true) {
    assume(node.right, false, facts);
  } else if (decide(node.right, facts) == true) {
    assume(node.left, false, facts);
  }
}

void Conditions::forget(Facts& facts, std::int32_t rank) const {
  llvm::erase_if(facts, [&](std::uint32_t fact) { return atoms_[fact / 2].home >= rank; });
}

bool Conditions::one_thread(const Facts& facts) const {
  return llvm::any_of(facts,
                      [&](std::uint32_t fact) { return (fact & 1) != 0 && atoms_[fact / 2].one_thread; });
}

Facts Conditions::of_others(const Facts& facts) const {
  Facts others;
  for (const std::uint32_t fact : facts) {
    const Atom& atom = atoms_[fact / 2];
    if (!atom.per_thread) others.push_back(fact);
    if (atom.one_thread && (fact & 1) != 0) others.push_back(fact - 1);
  }
  return others;
}

}  // namespace lint
TMAJIT_END
