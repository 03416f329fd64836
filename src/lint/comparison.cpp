/// Comparisons of values, as membership of numbers in sets.
#include "lint/condition.hpp"

#include <algorithm>

TMAJIT_BEGIN
namespace lint {
namespace {

// The first number of a subject's key, beyond the enumerators in condition.cpp. Keys of the propagation begin
// with ~0.
enum : std::uint64_t { key_member_of = 8, key_form, key_base, key_less };

std::int64_t as_signed(std::uint64_t bits, std::uint32_t width) {
  const std::uint32_t shift = 64 - width;
  return static_cast<std::int64_t>(bits << shift) >> shift;
}

bool belongs(std::uint64_t number, const NumberSet& set) {
  return std::ranges::any_of(
      set, [&](const Range& range) { return range.first <= number && number <= range.last; });
}

/// The numbers of `width` bits from `least` to `most`.
NumberSet between(std::uint64_t least, std::uint64_t most, bool is_signed, std::uint32_t width) {
  if (!is_signed) {
    if (least > most) return {};
    return {{least, most}};
  }
  const std::int64_t first = as_signed(least, width);
  const std::int64_t last = as_signed(most, width);
  if (first > last) return {};
  if (first < 0 && last >= 0) return normalized({{least, low_bits(width)}, {0, most}});
  return {{least, most}};
}

}  // namespace

std::optional<Formula> Conditions::by_numbers(const Value& a, const Value& b,
                                              llvm::function_ref<bool(std::uint64_t, std::uint64_t)> holds) {
  const auto base = values_.base(a.terms.empty() ? b : a);
  if (!base || (!b.terms.empty() && values_.base(b) != base)) return std::nullopt;
  const Symbol& symbol = values_.symbol(*base);
  NumberSet set;
  for (std::uint64_t number = 0; number <= symbol.most; ++number) {
    if (holds(values_.at(a, number), values_.at(b, number))) set.push_back({number, number});
  }
  const SubjectId id = subject({key_base, *base}, [&] {
    return Subject{.home = symbol.home,
                   .per_thread = symbol.per_thread,
                   .thread_index = symbol.thread_index,
                   .domain = {{0, symbol.most}}};
  });
  return member(id, sets_.intern(normalized(std::move(set))));
}

Key Conditions::form_key(Value positive, Reading reading) const {
  // A number that never wraps is the same in registers of any width.
  if (reading == Reading::plain && values_.largest(positive)) positive.width = positive.known = 64;
  Key key{key_form, static_cast<std::uint64_t>(reading)};
  Values::append(key, positive);
  return key;
}

std::optional<SubjectId> Conditions::compared_subject(const Value& value) const {
  if (!value.exact() || value.terms.size() != 1) return std::nullopt;
  Value form = value;
  form.constant = 0;
  if (form.terms.front().factor > low_bits(form.width) / 2) return std::nullopt;
  return subject_names_.find(form_key(std::move(form), Reading::plain));
}

Formula Conditions::form_member(const Value& form, const NumberSet& set, Reading reading) {
  Value positive = form;
  const NumberSet* numbers = &set;
  NumberSet negated_set;
  if (form.terms.front().factor > low_bits(form.width) / 2) {
    positive = values_.subtract(Values::constant(0, form.width), form);
    negated_set = negated(set, form.width);
    numbers = &negated_set;
  }
  const auto largest = reading == Reading::plain ? values_.largest(positive) : std::nullopt;
  const Key key = form_key(positive, reading);
  const SubjectId id = subject(key, [&] {
    Symbol all;
    values_.inherit(all, positive);
    const std::uint64_t most = largest ? *largest : low_bits(form.width);
    return Subject{
        .home = all.home, .per_thread = all.per_thread, .domain = {{0, most}}, .values = {positive}};
  });
  return member(id, sets_.intern(*numbers));
}

Formula Conditions::reduced_member(const Value& a, const NumberSet& set) {
  if (const auto formula = by_numbers(a, Values::constant(0, a.width),
                                      [&](std::uint64_t x, std::uint64_t) { return belongs(x, set); }))
    return *formula;
  const NumberSet numbers = shifted(set, ~a.constant + 1, a.width);
  const Definition* const definition =
      a.terms.size() == 1 && a.terms[0].factor == 1 ? values_.definition(a.terms[0].symbol) : nullptr;
  if (definition != nullptr && definition->kind == Definition::Kind::shuffled &&
      definition->a.width == a.width)
    return member(definition->a, numbers);
  if (definition != nullptr && definition->kind == Definition::Kind::quotient &&
      definition->a.width == a.width) {
    // Dividends whose quotient is one of these numbers.
    const std::uint64_t by = *definition->b.number();
    const std::uint64_t most = low_bits(a.width);
    NumberSet divided;
    for (const Range& range : intersection(numbers, {{0, most / by}})) {
      const std::uint64_t last = range.last == most / by ? most : range.last * by + (by - 1);
      divided.push_back({range.first * by, last});
    }
    return member(definition->a, normalized(std::move(divided)));
  }
  Value form = a;
  form.constant = 0;
  return form_member(form, numbers, a.terms.size() == 1 ? Reading::plain : Reading::difference_signed);
}

Formula Conditions::member(const Value& a, const NumberSet& set) {
  if (const auto number = a.number()) return belongs(*number, set) ? always : never;
  const NumberSet possible = {{0, a.most}};
  const NumberSet both = intersection(set, possible);
  if (both.empty()) return never;
  if (both == possible) return always;
  if (a.terms.size() == 1) {
    if (const auto& formula = values_.symbol(a.terms[0].symbol).indicates) {
      const bool if_true = belongs((a.constant + a.terms[0].factor) & low_bits(a.width), set);
      const bool if_false = belongs(a.constant, set);
      if (if_true == if_false) return if_true ? always : never;
      return if_true ? *formula : negation(*formula);
    }
  }
  Key key{key_member_of};
  Values::append(key, a);
  for (const Range& range : set) key.append({range.first, range.last});
  if (const auto known = names_.find(key)) return *known;
  const Formula formula = reduced_member(a, set);
  names_.insert(key, formula);
  return formula;
}

Formula Conditions::equal(const Value& a, const Value& b, std::uint32_t place, std::int32_t home) {
  const Value difference = values_.subtract(a, b);
  if (const auto number = difference.number()) return *number == 0 ? always : never;
  if (const Residue residue = values_.residue(difference); residue.remainder != 0) return never;
  if (const auto number = b.number(); number && *number > a.most) return never;
  if (!difference.exact()) return opaque(place, home);
  if (const auto number = b.number()) return member(a, {{*number, *number}});
  if (const auto number = a.number()) return member(b, {{*number, *number}});
  return member(difference, {{0, 0}});
}

Formula Conditions::less(const Value& a, const Value& b, bool is_signed, std::uint32_t place,
                         std::int32_t home) {
  const auto number_a = a.number();
  const auto number_b = b.number();
  const std::uint32_t width = a.width;
  const std::uint64_t least = is_signed ? 1ULL << (width - 1) : 0;
  const std::uint64_t most = is_signed ? least - 1 : low_bits(width);
  const auto is_less = [&](std::uint64_t p, std::uint64_t q) {
    return is_signed ? as_signed(p, width) < as_signed(q, width) : p < q;
  };
  if (number_a && number_b) return is_less(*number_a, *number_b) ? always : never;
  if ((number_b && *number_b == least) || (number_a && *number_a == most)) return never;
  if (!is_signed && number_b && *number_b > a.most) return always;
  if (!a.exact() || !b.exact()) return opaque(place, home);
  if (number_b) return member(a, between(least, (*number_b - 1) & low_bits(width), is_signed, width));
  if (number_a) return member(b, between((*number_a + 1) & low_bits(width), most, is_signed, width));
  Key key{key_less, is_signed ? 1ULL : 0ULL};
  Values::append(key, a);
  Values::append(key, b);
  if (const auto known = names_.find(key)) return *known;
  Value difference = values_.subtract(a, b);
  Formula formula = never;
  if (const auto by_base = by_numbers(a, b, is_less)) {
    formula = *by_base;
  } else if (difference.terms.empty()) {
    formula = flag(key, [&] {
      Symbol both;
      values_.inherit(both, a);
      return Subject{.home = both.home, .per_thread = both.per_thread, .values = {a, b}};
    });
  } else {
    // a < b if constant + form < 0.
    const std::uint64_t smallest = 1ULL << (width - 1);
    const std::uint64_t bound = ~difference.constant & low_bits(width);
    difference.constant = 0;
    formula = form_member(difference, between(smallest, bound, true, width),
                          is_signed ? Reading::difference_signed : Reading::difference_unsigned);
  }
  names_.insert(key, formula);
  return formula;
}

}  // namespace lint
TMAJIT_END
