#pragma once

/// How instructions propagate uninitialised registers: the part of a Program by which Undefined
/// (undefined.hpp) tracks them.
#include "ptx/data_flow.hpp"

#include <cstdint>
#include <string>

TMAJIT_BEGIN
namespace sim {

/// A register of PTX among all of the kernel and its functions; 0: a literal, a special register, or none.
using RegisterNumber = std::uint32_t;
/// The carry of extended-precision arithmetic, which no operand names.
inline constexpr RegisterNumber carry_number = 1;

struct Flow {
  using Kind = ptx::DataFlow;
  Kind kind = Kind::defines;
  bool guarded = false;       ///< whether it is executed counts: it does more than to write its results
  bool packs = false;         ///< fragments: results are pairs of halves
  std::uint8_t bytes = 0;     ///< of an element that is stored, or of an operand; a predicate has none
  std::uint32_t first = ~0U;  ///< its micro-operations
  std::uint32_t last = ~0U;
  RegisterNumber guard = 0;
  std::uint32_t access = none;  ///< of ld and st: index into Program::accesses
  static constexpr std::uint32_t none = ~0U;
  // In Program::flow_registers, one after the other: results, addresses (and what else always counts),
  // operands. The operands of fragments are the addend, a and b; those without registers have no entries.
  std::uint32_t begin = 0;
  std::uint16_t results = 0;
  std::uint16_t addresses = 0;
  std::uint16_t operands = 0;
  std::uint16_t left = 0;   ///< fragments: registers of a …
  std::uint16_t right = 0;  ///< … and of b
};

/// A register that is read on some way on which nothing has written it.
struct UnwrittenRegister {
  RegisterNumber number = 0;
  std::string name;
};

/// The origin of an undefined value: see Origins.
using OriginNumber = std::uint32_t;

/// A register that a lane has not got defined.
struct UndefinedRegister {
  RegisterNumber number = 0;
  OriginNumber origin = 0;
};

}  // namespace sim
TMAJIT_END
