#pragma once

/// What atomics and reductions do to a value in memory (PTX ISA 9.7.13, "atom", "red", "red.async").
#include "ptx/ast.hpp"
#include "sim/numeric.hpp"

#include <optional>
#include <type_traits>
#include <utility>

TMAJIT_BEGIN
namespace sim {

enum class Atomic : std::uint8_t { add, min, max, and_, or_, xor_, exch, cas, inc, dec };

/// The operation that the instruction names.
[[nodiscard]] inline std::optional<Atomic> atomic_of(const ptx::Instruction& instruction) {
  constexpr std::pair<const char*, Atomic> names[] = {
      {"add", Atomic::add}, {"min", Atomic::min},  {"max", Atomic::max},   {"and", Atomic::and_},
      {"or", Atomic::or_},  {"xor", Atomic::xor_}, {"exch", Atomic::exch}, {"cas", Atomic::cas},
      {"inc", Atomic::inc}, {"dec", Atomic::dec}};
  for (const auto& [name, value] : names) {
    if (instruction.has(name)) return value;
  }
  return std::nullopt;
}

/// The new value of `old`; `b` is what cas puts in place of `a`.
template <typename T>
[[nodiscard]] T combine(Atomic what, T old, T a, T b) {
  if constexpr (std::is_integral_v<T>) {
    using U = std::make_unsigned_t<T>;
    switch (what) {
      case Atomic::add: return static_cast<T>(static_cast<U>(old) + static_cast<U>(a));
      case Atomic::and_: return old & a;
      case Atomic::or_: return old | a;
      case Atomic::xor_: return old ^ a;
      case Atomic::inc: return old >= a ? T{0} : static_cast<T>(old + 1);
      case Atomic::dec: return old == 0 || old > a ? a : static_cast<T>(old - 1);
      default: break;
    }
  } else if (what == Atomic::add) {
    return canonical(old + a);
  }
  switch (what) {
    case Atomic::min: return a < old ? a : old;
    case Atomic::max: return old < a ? a : old;
    case Atomic::exch: return a;
    case Atomic::cas: return old == a ? b : old;
    default: return old;
  }
}

}  // namespace sim
TMAJIT_END
