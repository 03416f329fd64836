#include "lint/condition.hpp"

#include <algorithm>

#include <llvm/ADT/STLExtras.h>

TMAJIT_BEGIN
namespace lint {
namespace {

// The first number of a key distinguishes kinds of nodes. Keys of the propagation begin with ~0 and a
// SymbolKey.
enum : std::uint64_t { key_opaque, key_both, key_member, key_deep };

/// Deeper formulas become opaque: kernels do not test them twice.
constexpr std::uint32_t max_formula_depth = 8;

const Fact* find(const Facts& facts, SubjectId subject) {
  const auto* const at = std::ranges::lower_bound(facts, subject, {}, &Fact::subject);
  return at != facts.end() && at->subject == subject ? at : nullptr;
}

}  // namespace

SubjectId Conditions::subject(llvm::ArrayRef<std::uint64_t> key, llvm::function_ref<Subject()> make) {
  const auto [id, fresh] = subject_names_.insert(key, static_cast<SubjectId>(subjects_.size()));
  if (fresh) {
    Subject made = make();
    const SetId domain = sets_.intern(made.domain);
    subjects_.push_back({std::move(made), domain});
  }
  return id;
}

Formula Conditions::flag(llvm::ArrayRef<std::uint64_t> key, llvm::function_ref<Subject()> make) {
  const SubjectId id = subject(key, make);
  subjects_[id].is_flag = true;
  return member(id, sets_.intern({{1, 1}}));
}

Formula Conditions::opaque(std::uint32_t place, std::int32_t home, bool waits) {
  return flag({key_opaque, place}, [&] { return Subject{.home = home, .per_thread = true, .waits = waits}; });
}

Formula Conditions::member(SubjectId subject, SetId set) {
  const SetId domain = subjects_[subject].domain;
  set = sets_.intersect(set, domain);
  if (set == NumberSets::empty) return never;
  if (set == domain) return always;
  // A set and its complement share a node.
  const bool negate = sets_[set].front().first == sets_[domain].front().first;
  if (negate) set = sets_.subtract(domain, set);
  const auto [formula, fresh] =
      names_.insert({key_member, subject, set}, static_cast<Formula>(nodes_.size() * 2));
  if (fresh) nodes_.push_back({.is_member = true, .subject = subject, .set = set});
  return negate ? negation(formula) : formula;
}

std::optional<Fact> Conditions::as_member(Formula formula) const {
  const Node& node = nodes_[formula / 2];
  if (!node.is_member) return std::nullopt;
  if ((formula & 1) == 0) return Fact{node.subject, node.set};
  return Fact{node.subject, sets_.subtract(subjects_[node.subject].domain, node.set)};
}

Formula Conditions::conjunction(Formula a, Formula b) {
  if (a > b) std::swap(a, b);
  if (a == never || a == negation(b)) return never;
  if (a == always || a == b) return b;
  const auto x = as_member(a);
  const auto y = as_member(b);
  if (x && y && x->subject == y->subject) return member(x->subject, sets_.intersect(x->set, y->set));
  const std::uint32_t depth = std::max(nodes_[a / 2].depth, nodes_[b / 2].depth) + 1;
  if (depth > max_formula_depth) {
    return flag({key_deep, a, b},
                [&] { return Subject{.home = std::max(home(a), home(b)), .per_thread = true}; });
  }
  const auto [formula, fresh] = names_.insert({key_both, a, b}, static_cast<Formula>(nodes_.size() * 2));
  if (fresh) nodes_.push_back({.left = a, .right = b, .depth = depth});
  return formula;
}

Value Conditions::indicator(Formula formula, std::uint32_t width) {
  if (formula == always) return Values::constant(1, width);
  if (formula == never) return Values::constant(0, width);
  // A formula and its negation share a symbol.
  const Formula positive = formula & ~1U;
  const SymbolId id = values_.named({key_indicator, positive}, [&] {
    Symbol symbol;
    symbol.indicates = positive;
    symbol.most = 1;
    for_each_subject(positive, [&](SubjectId each) {
      symbol.home = std::max(symbol.home, subjects_[each].subject.home);
      symbol.per_thread |= subjects_[each].subject.per_thread;
    });
    return symbol;
  });
  const Value value = Values::of(id, width, 1, 1);
  return formula == positive ? value : values_.subtract(Values::constant(1, width), value);
}

std::optional<Formula> Conditions::indicated(const Value& value) const {
  if (const auto number = value.number(); number && *number <= 1) return *number == 1 ? always : never;
  if (!value.exact() || value.terms.size() != 1) return std::nullopt;
  const auto& formula = values_.symbol(value.terms[0].symbol).indicates;
  if (!formula) return std::nullopt;
  if (value.constant == 0 && value.terms[0].factor == 1) return *formula;
  if (value.constant == 1 && value.terms[0].factor == low_bits(value.width)) return negation(*formula);
  return std::nullopt;
}

std::optional<Value> Conditions::chosen(Formula formula, const Value& a, const Value& b) {
  if (formula == always) return a;
  if (formula == never) return b;
  const auto difference = values_.subtract(a, b).number();
  if (!difference) return std::nullopt;
  Value value = values_.add(b, values_.multiply(indicator(formula, a.width), *difference));
  value.most = std::max(a.most, b.most);
  return value;
}

void Conditions::for_each_subject(Formula formula, llvm::function_ref<void(SubjectId)> visit) const {
  const Node& node = nodes_[formula / 2];
  if (node.is_member) {
    visit(node.subject);
  } else if (formula / 2 != 0) {
    for_each_subject(node.left, visit);
    for_each_subject(node.right, visit);
  }
}

std::int32_t Conditions::home(Formula formula) const {
  std::int32_t latest = Symbol::invariant;
  for_each_subject(formula, [&](SubjectId id) { latest = std::max(latest, subjects_[id].subject.home); });
  return latest;
}

std::optional<SetId> Conditions::known(Formula formula, const Facts& facts) const {
  const auto answer = decide(formula, facts);
  return answer ? std::optional(sets_.intern({{*answer ? 1U : 0U, *answer ? 1U : 0U}})) : std::nullopt;
}

std::optional<SetId> Conditions::known(const Value& value, const Facts& facts) const {
  if (const auto number = value.number()) return sets_.intern({{*number, *number}});
  if (!value.exact() || value.terms.size() != 1) return std::nullopt;
  const Term& term = value.terms.front();
  if (const auto& formula = values_.symbol(term.symbol).indicates) {
    const auto answer = decide(*formula, facts);
    const std::uint64_t one = (value.constant + term.factor) & low_bits(value.width);
    if (answer) return sets_.intern({{*answer ? one : value.constant, *answer ? one : value.constant}});
    return sets_.intern(normalized({{one, one}, {value.constant, value.constant}}));
  }
  const auto subject = compared_subject(value);
  const Fact* const fact = subject ? find(facts, *subject) : nullptr;
  if (fact == nullptr) return std::nullopt;
  return sets_.intern(shifted(sets_[fact->set], value.constant, value.width));
}

std::optional<SetId> Conditions::after_iteration(SetId set, std::uint32_t width) const {
  // Counters are assumed not to overflow.
  const NumberSet counted = {{1, low_bits(width) / 2}};
  const NumberSet now = intersection(sets_[set], {{0, low_bits(width) / 2}});
  return !now.empty() && now.front().first >= 1 ? std::optional(sets_.intern(counted)) : std::nullopt;
}

void Conditions::replace_fact(SubjectId subject, SetId set, Facts& facts) const {
  const SetId domain = subjects_[subject].domain;
  const SetId now = sets_.intersect(set, domain);
  if (now == domain || now == NumberSets::empty) return;
  auto* const at = std::ranges::lower_bound(facts, subject, {}, &Fact::subject);
  if (at != facts.end() && at->subject == subject) {
    at->set = now;
  } else {
    facts.insert(at, {subject, now});
  }
}

llvm::SmallVector<Facts, 2> Conditions::assume_each(Formula formula, bool truth, const Facts& facts) const {
  // More cases of one "or" than this are not distinguished.
  constexpr std::size_t max_cases = 4;
  const Node& node = nodes_[formula / 2];
  const bool holds = truth != ((formula & 1) != 0);
  llvm::SmallVector<Facts, 2> cases;
  const auto assume_as_one_case = [&] {
    cases.assign(1, facts);
    if (!assume(formula, truth, cases.front())) cases.clear();
  };
  if (formula / 2 == 0 || node.is_member) {
    assume_as_one_case();
  } else if (holds) {
    for (const Facts& each : assume_each(node.left, true, facts))
      for (Facts& both : assume_each(node.right, true, each)) cases.push_back(std::move(both));
  } else {
    cases = assume_each(node.left, false, facts);
    for (const Facts& each : assume_each(node.left, true, facts))
      for (Facts& both : assume_each(node.right, false, each)) cases.push_back(std::move(both));
  }
  if (cases.size() > max_cases) assume_as_one_case();
  return cases;
}

std::optional<bool> Conditions::decide(Formula formula, const Facts& facts) const {
  const Node& node = nodes_[formula / 2];
  const bool negated = (formula & 1) != 0;
  if (formula / 2 == 0) return !negated;
  if (node.is_member) {
    const Fact* const fact = find(facts, node.subject);
    if (fact == nullptr) return std::nullopt;
    const SetId both = sets_.intersect(fact->set, node.set);
    if (both == fact->set) return !negated;
    return both == NumberSets::empty ? std::optional(negated) : std::nullopt;
  }
  const auto left = decide(node.left, facts);
  if (left == false) return negated;
  const auto right = decide(node.right, facts);
  if (right == false) return negated;
  return left && right ? std::optional(!negated) : std::nullopt;
}

bool Conditions::assume(Formula formula, bool truth, Facts& facts) const {
  const Node& node = nodes_[formula / 2];
  if ((formula & 1) != 0) truth = !truth;
  if (formula / 2 == 0) return truth;
  if (node.is_member) {
    auto* const at = std::ranges::lower_bound(facts, node.subject, {}, &Fact::subject);
    const bool is_there = at != facts.end() && at->subject == node.subject;
    const SetId before = is_there ? at->set : subjects_[node.subject].domain;
    const SetId now = truth ? sets_.intersect(before, node.set) : sets_.subtract(before, node.set);
    if (is_there) {
      at->set = now;
    } else {
      facts.insert(at, {node.subject, now});
    }
    return now != NumberSets::empty;
  }
  if (truth) return assume(node.left, true, facts) && assume(node.right, true, facts);
  if (decide(node.left, facts) == true) return assume(node.right, false, facts);
  return decide(node.right, facts) != true || assume(node.left, false, facts);
}

void Conditions::forget(Facts& facts, std::int32_t rank) const {
  llvm::erase_if(facts, [&](const Fact& fact) { return subjects_[fact.subject].subject.home >= rank; });
}

bool Conditions::one_thread(const Facts& facts) const {
  return llvm::any_of(facts, [&](const Fact& fact) {
    const Subject& subject = subjects_[fact.subject].subject;
    if (!sets_.is_single(fact.set)) return false;
    return subject.thread_index || (subject.one_thread && sets_[fact.set].front().first == 1);
  });
}

Facts Conditions::of_others(const Facts& facts) const {
  Facts others;
  for (const Fact& fact : facts) {
    const SubjectEntry& entry = subjects_[fact.subject];
    if (!entry.subject.per_thread) others.push_back(fact);
    const bool excludes =
        entry.subject.thread_index || (entry.subject.one_thread && sets_[fact.set].front().first == 1);
    if (excludes && sets_.is_single(fact.set))
      others.push_back({fact.subject, sets_.subtract(entry.domain, fact.set)});
  }
  return others;
}

bool Conditions::covers(const Facts& wide, const Facts& narrow) const {
  if (wide.size() > narrow.size()) return false;
  const auto* at = narrow.begin();
  for (const Fact& fact : wide) {
    while (at != narrow.end() && at->subject < fact.subject) ++at;
    if (at == narrow.end() || at->subject != fact.subject) return false;
    if (!sets_.includes(fact.set, at->set)) return false;
  }
  return true;
}

bool Conditions::widen(Facts& facts, const Facts& others) const {
  Fact* differs = nullptr;
  SetId wider = 0;
  auto* at = facts.begin();
  for (const Fact& other : others) {
    while (at != facts.end() && at->subject < other.subject) ++at;
    if (at == facts.end() || at->subject != other.subject) return false;
    if (sets_.includes(other.set, at->set)) continue;
    if (differs != nullptr) return false;
    differs = &*at;
    wider = sets_.unite(other.set, at->set);
  }
  if (differs == nullptr || differs->set == wider) return false;
  differs->set = wider;
  if (wider == subjects_[differs->subject].domain) facts.erase(differs);
  return true;
}

}  // namespace lint
TMAJIT_END
