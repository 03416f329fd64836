#include "lint/value.hpp"

#include <algorithm>
#include <bit>

#include <llvm/ADT/STLExtras.h>
#include <llvm/Support/MathExtras.h>

TMAJIT_BEGIN
namespace lint {
namespace {

/// Limit of the terms of a form: more terms cost time and rarely give more facts.
constexpr std::size_t max_terms = 8;

/// Upper bound of parameters' addresses. They have 32 bits and do not wrap with any offset, so a 64-bit
/// register holds the same number.
constexpr std::uint64_t max_parameter_address = 0x7fff'0000;

std::uint32_t trailing_zeros(std::uint64_t number) {
  return static_cast<std::uint32_t>(std::countr_zero(number));
}

using Terms = llvm::SmallVector<Term, 3>;

/// Appends the sum of two forms to `terms`, b's factors times `scale`.
void add_forms(Terms& terms, const Value& a, const Value& b, std::uint64_t scale) {
  const auto* i = a.terms.begin();
  for (const Term& term : b.terms) {
    while (i != a.terms.end() && i->symbol < term.symbol) terms.push_back(*i++);
    const bool both = i != a.terms.end() && i->symbol == term.symbol;
    terms.push_back({term.symbol, term.factor * scale + (both ? (i++)->factor : 0)});
  }
  terms.append(i, a.terms.end());
}

/// The form a − b.
Terms difference(const Value& a, const Value& b) {
  Terms terms;
  add_forms(terms, a, b, ~0ULL);
  return terms;
}

std::uint64_t alignment_of(const ptx::Variable& variable) {
  const std::uint64_t natural = std::uint64_t{bits_of(variable.type) / 8} * variable.vector_width;
  return std::max<std::uint64_t>({variable.alignment.value_or(0), natural, 1});
}

}  // namespace

SymbolId Values::address_of(const ptx::Variable& variable) {
  const auto [found, fresh] = variables_.try_emplace(&variable, static_cast<SymbolId>(symbols_.size()));
  if (fresh) {
    Symbol symbol;
    symbol.alignment = static_cast<std::uint8_t>(std::min(trailing_zeros(alignment_of(variable)), 16U));
    symbol.variable = &variable;
    if (variable.space == ptx::StateSpace::param) symbol.most = max_parameter_address;
    symbols_.push_back(symbol);
  }
  return found->second;
}

void Values::reduce(Value& value) {
  const std::uint64_t mask = low_bits(value.known);
  value.constant &= mask;
  for (Term& term : value.terms) term.factor &= mask;
  llvm::erase_if(value.terms, [](const Term& term) { return term.factor == 0; });
  while (value.terms.size() > max_terms) {
    // Give up the term that costs the fewest known bits.
    const auto least = std::max_element(
        value.terms.begin(), value.terms.end(),
        [](const Term& a, const Term& b) { return trailing_zeros(a.factor) < trailing_zeros(b.factor); });
    value.known = static_cast<std::uint8_t>(trailing_zeros(least->factor));
    value.terms.erase(least);
    reduce(value);
  }
  value.most = std::min(value.most, low_bits(value.width));
  if (const auto number = value.number()) value.most = *number;
}

Value Values::unknown(std::uint32_t width) {
  Value value;
  value.width = static_cast<std::uint8_t>(width);
  value.most = low_bits(width);
  return value;
}

Value Values::constant(std::uint64_t bits, std::uint32_t width) {
  Value value = unknown(width);
  value.known = value.width;
  value.constant = bits;
  reduce(value);
  return value;
}

Value Values::of(SymbolId symbol, std::uint32_t width, std::uint64_t factor, std::uint64_t most) {
  Value value = unknown(width);
  value.known = value.width;
  value.terms.push_back({symbol, factor});
  value.most = most;
  reduce(value);
  return value;
}

Value Values::add(const Value& a, const Value& b) const {
  Value value = unknown(a.width);
  value.known = std::min(a.known, b.known);
  value.constant = a.constant + b.constant;
  add_forms(value.terms, a, b, 1);
  if (a.most <= low_bits(a.width) - b.most) value.most = a.most + b.most;
  reduce(value);
  return value;
}

Value Values::subtract(const Value& a, const Value& b) const {
  Value value = unknown(a.width);
  value.known = std::min(a.known, b.known);
  value.constant = a.constant - b.constant;
  add_forms(value.terms, a, b, ~0ULL);
  reduce(value);
  return value;
}

Value Values::multiply(const Value& a, std::uint64_t factor) const {
  if (factor == 0) return constant(0, a.width);
  Value value = unknown(a.width);
  value.known = static_cast<std::uint8_t>(std::min<std::uint32_t>(a.known + trailing_zeros(factor), a.width));
  value.constant = a.constant * factor;
  value.terms = a.terms;
  for (Term& term : value.terms) term.factor *= factor;
  if (a.most <= low_bits(a.width) / factor) value.most = a.most * factor;
  reduce(value);
  return value;
}

Value Values::convert(const Value& a, std::uint32_t width, bool sign) const {
  if (const auto number = a.number(); number && sign && width > a.width && (*number >> (a.width - 1)) != 0)
    return constant(*number | ~low_bits(a.width), width);
  if (const auto number = a.number()) return constant(*number, width);
  Value value = a;
  value.width = static_cast<std::uint8_t>(width);
  value.known = std::min(a.known, value.width);
  // A form that never wraps is the same number in a wider register.
  if (width > a.width && a.exact()) {
    if (const auto most = largest(a); most && *most <= low_bits(a.width - (sign ? 1 : 0)))
      value.known = value.width;
  }
  if (sign && width > a.width && (a.most >> (a.width - 1)) != 0) value.most = ~0ULL;
  if (width < a.width && a.most > low_bits(width)) value.most = ~0ULL;
  reduce(value);
  return value;
}

/// Whether the definition is %tid.x divided by a multiple of 32, the number of a warp's lanes.
bool Values::is_warp_number(const Definition& definition) const {
  const Value& from = definition.a;
  return definition.kind == Definition::Kind::quotient && definition.b.number().value_or(1) % 32 == 0 &&
         from.constant == 0 && from.terms.size() == 1 && from.terms[0].factor == 1 &&
         symbols_[from.terms[0].symbol].thread_index;
}

bool Values::varies(const Value& a) const {
  return !a.exact() || llvm::any_of(a.terms, [&](const Term& term) {
    const Symbol& symbol = symbols_[term.symbol];
    if (!symbol.per_thread || symbol.same_each_time) return false;
    const Definition* const definition = this->definition(term.symbol);
    return definition == nullptr ||
           (!is_warp_number(*definition) &&
            (varies(definition->a) ||
             (definition->kind != Definition::Kind::shuffled && varies(definition->b))));
  });
}

bool Values::note_same_each_time(SymbolId symbol, bool same) {
  bool& noted = noted_.try_emplace(symbol, true).first->second;
  const bool changed = noted && !same;
  noted = noted && same;
  symbols_[symbol].same_each_time = noted;
  return changed;
}

std::optional<std::uint64_t> Values::largest(const Value& a) const {
  std::uint64_t most = a.constant;
  bool wraps = !a.exact();
  for (const Term& term : a.terms) {
    bool overflows = false;
    most = llvm::SaturatingMultiplyAdd(term.factor, symbols_[term.symbol].most, most, &overflows);
    wraps |= overflows;
  }
  return !wraps && most <= low_bits(a.width) ? std::optional(most) : std::nullopt;
}

Residue Values::residue(const Value& a) const {
  std::uint32_t bits = a.known;
  for (const Term& term : a.terms)
    bits = std::min(bits, trailing_zeros(term.factor) + symbols_[term.symbol].alignment);
  return {static_cast<std::uint8_t>(bits), a.constant & low_bits(bits)};
}

std::uint32_t Values::alignment(const Value& a) const {
  const Residue residue = this->residue(a);
  return residue.remainder == 0 ? residue.bits : trailing_zeros(residue.remainder);
}

bool Values::misaligned(const Value& a, std::uint32_t bits) const {
  const Residue residue = this->residue(a);
  return (residue.remainder & low_bits(std::min<std::uint32_t>(residue.bits, bits))) != 0;
}

std::optional<std::int32_t> Values::difference32(const Value& a, const Value& b) {
  if (a.known < 32 || b.known < 32) return std::nullopt;
  for (const Term& term : difference(a, b)) {
    if ((term.factor & low_bits(32)) != 0) return std::nullopt;
  }
  return static_cast<std::int32_t>(static_cast<std::uint32_t>(a.constant - b.constant));
}

Value Values::common(const Value& a, const Value& b) const {
  Value value = a;
  value.most = std::max(a.most, b.most);
  std::uint32_t bits = std::min({a.known, b.known, a.width, b.width});
  bits = std::min(bits, trailing_zeros(a.constant - b.constant));
  for (const Term& term : difference(a, b)) {
    // Differing terms are 0 in the bits below their symbols' alignment.
    bits = std::min(
        bits, trailing_zeros(term.factor) + (term.factor == 0 ? 0U : 0U + symbols_[term.symbol].alignment));
  }
  value.known = static_cast<std::uint8_t>(bits);
  const std::uint64_t most = value.most;
  reduce(value);
  value.most = most;
  return value;
}

Value Values::completed(Value value, SymbolId rest, std::uint64_t most) const {
  if (const std::uint32_t known = value.known; known < value.width) {
    value.known = value.width;
    value = add(value, of(rest, value.width, 1ULL << known));
  }
  value.most = most;
  return value;
}

Value Values::before(const Value& a, std::int32_t rank) const {
  Value value = a;
  std::uint32_t bits = a.known;
  for (const Term& term : a.terms) {
    const Symbol& symbol = symbols_[term.symbol];
    if (symbol.home >= rank) bits = std::min(bits, trailing_zeros(term.factor) + symbol.alignment);
  }
  if (bits == a.known) return value;
  value.known = static_cast<std::uint8_t>(bits);
  llvm::erase_if(value.terms, [&](const Term& term) { return symbols_[term.symbol].home >= rank; });
  reduce(value);
  return value;
}

void Values::inherit(Symbol& symbol, const Value& a) const {
  for (const Term& term : a.terms) {
    const Symbol& from = symbols_[term.symbol];
    symbol.home = std::max(symbol.home, from.home);
    symbol.per_thread |= from.per_thread;
    // Masks and shifts keep the variable of an address.
    symbol.several_variables |= from.several_variables;
    if (from.variable == nullptr) continue;
    symbol.several_variables |= symbol.variable != nullptr && symbol.variable != from.variable;
    symbol.variable = from.variable;
  }
}

const ptx::Variable* Values::variable_of(const Value& a) const {
  Symbol all;
  inherit(all, a);
  return all.several_variables ? nullptr : all.variable;
}

void Values::append(Key& key, const Value& a) {
  key.push_back(std::uint64_t{a.width} << 8 | a.known);
  key.push_back(a.constant);
  key.push_back(a.terms.size());
  for (const Term& term : a.terms) {
    key.push_back(term.symbol);
    key.push_back(term.factor);
  }
}

}  // namespace lint
TMAJIT_END
