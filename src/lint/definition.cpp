/// Definitions of symbols, and the numbers computed from them.
#include "lint/value.hpp"

#include <algorithm>

TMAJIT_BEGIN
namespace lint {
namespace {

/// Limit of nested definitions: all of them are evaluated for every number of their base.
constexpr std::uint32_t max_depth = 4;
/// Largest number of a symbol that can be a base.
constexpr std::uint64_t max_base_number = 1023;

}  // namespace

void Values::define(SymbolId symbol, Definition definition) {
  if (definitions_.count(symbol) != 0) return;
  std::uint32_t depth = 1;
  for (const Value* value : {&definition.a, &definition.b}) {
    if (!value->exact()) return;
    for (const Term& term : value->terms) {
      if (const auto found = definitions_.find(term.symbol); found != definitions_.end())
        depth = std::max(depth, found->second.depth + 1);
    }
  }
  if (depth > max_depth) return;
  std::optional<SymbolId> only = base(definition.a);
  if (!definition.b.terms.empty() && base(definition.b) != only) only.reset();
  definitions_.emplace(symbol, Defined{std::move(definition), only, depth});
}

const Definition* Values::definition(SymbolId symbol) const {
  const auto found = definitions_.find(symbol);
  return found == definitions_.end() ? nullptr : &found->second.definition;
}

std::optional<SymbolId> Values::base(SymbolId symbol) const {
  if (const auto found = definitions_.find(symbol); found != definitions_.end()) return found->second.base;
  return symbols_[symbol].most <= max_base_number ? std::optional(symbol) : std::nullopt;
}

std::optional<SymbolId> Values::base(const Value& a) const {
  if (!a.exact() || a.terms.empty()) return std::nullopt;
  const auto first = base(a.terms.front().symbol);
  const bool one = std::ranges::all_of(a.terms, [&](const Term& term) { return base(term.symbol) == first; });
  return one ? first : std::nullopt;
}

std::uint64_t Values::at(const Value& a, std::uint64_t number) const {
  std::uint64_t sum = a.constant;
  for (const Term& term : a.terms) {
    std::uint64_t each = number;
    if (const Definition* const definition = this->definition(term.symbol)) {
      const std::uint64_t x = at(definition->a, number);
      const std::uint64_t y = at(definition->b, number);
      switch (definition->kind) {
        case Definition::Kind::quotient: each = x / y; break;
        case Definition::Kind::remainder: each = x % y; break;
        case Definition::Kind::bit_and: each = x & y; break;
        case Definition::Kind::bit_or: each = x | y; break;
        case Definition::Kind::bit_xor: each = x ^ y; break;
        case Definition::Kind::shuffled: each = x; break;
      }
    }
    sum += term.factor * each;
  }
  return sum & low_bits(a.width);
}

}  // namespace lint
TMAJIT_END
