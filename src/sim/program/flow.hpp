#pragma once

/// How instructions propagate uninitialised registers: the part of a Program by which Undefined
/// (undefined.hpp) tracks them.
#include "ptx/data_flow.hpp"

#include <cstdint>
#include <string>

TMAJIT_BEGIN
namespace sim {

/// Number of a PTX register among those of the kernel and its functions; 0: a literal, a special register, or
/// no register.
using RegisterNumber = std::uint32_t;
/// The carry of extended-precision arithmetic, which no operand names.
inline constexpr RegisterNumber carry_number = 1;

struct Flow {
  using Kind = ptx::DataFlow;
  Kind kind = Kind::defines;
  bool guarded = false;       ///< it has side effects, so an undefined guard matters
  bool packs = false;         ///< fragments: results are pairs of halves
  std::uint8_t bytes = 0;     ///< size of a stored element, or of an operand; 0: a predicate
  std::uint32_t first = ~0U;  ///< the instruction's first micro-operation …
  std::uint32_t last = ~0U;   ///< … and its last
  RegisterNumber guard = 0;
  std::uint32_t access = none;  ///< ld, st: index into Program::accesses
  static constexpr std::uint32_t none = ~0U;
  // The registers are in Program::flow_registers from `begin` on: first results, then addresses (and other
  // operands that always matter), then operands. The operands of fragments are the addend, a and b; an
  // operand without registers has no entries.
  std::uint32_t begin = 0;
  std::uint16_t results = 0;
  std::uint16_t addresses = 0;
  std::uint16_t operands = 0;
  std::uint16_t left = 0;   ///< fragments: registers of a …
  std::uint16_t right = 0;  ///< … and of b
};

/// A register that is read on some path on which no instruction has written it.
struct UnwrittenRegister {
  RegisterNumber number = 0;
  std::string name;
};

/// Number of the origin of an undefined value: see Origins.
using OriginNumber = std::uint32_t;

/// A register that is undefined in a lane.
struct UndefinedRegister {
  RegisterNumber number = 0;
  OriginNumber origin = 0;
};

}  // namespace sim
TMAJIT_END
