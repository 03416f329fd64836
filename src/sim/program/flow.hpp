#pragma once

/// How instructions propagate uninitialised registers: the part of a Program that Undefined (undefined.hpp)
/// uses to track them.
#include "ptx/data_flow.hpp"

#include <cstdint>
#include <string>

TMAJIT_BEGIN
namespace sim {

/// Number of a PTX register among the registers of the kernel and its functions. 0 stands for operands that
/// are no PTX register: literals and special registers.
using RegisterNumber = std::uint32_t;
/// The carry of extended-precision arithmetic, which no operand names.
inline constexpr RegisterNumber carry_number = 1;

/// The registers that one instruction reads and writes, and how undefined operands affect its results.
struct Flow {
  using Kind = ptx::DataFlow;
  Kind kind = Kind::defines;
  bool guarded = false;       ///< the instruction has side effects, so an undefined guard must be reported
  bool packs = false;         ///< Kind::fragments: a result register holds two f16 values
  std::uint8_t bytes = 0;     ///< size of a stored element, or of an operand; 0: a predicate
  std::uint32_t first = ~0U;  ///< index of the instruction's first micro-operation
  std::uint32_t last = ~0U;   ///< index of its last micro-operation
  RegisterNumber guard = 0;
  std::uint32_t access = none;  ///< ld, st: index into Program::accesses
  static constexpr std::uint32_t none = ~0U;
  // The registers are in Program::flow_registers from `begin` on: first the results, then addresses and other
  // operands that must be defined, then the remaining operands. For Kind::fragments the latter are the
  // registers of the addend, of a, then of b.
  std::uint32_t begin = 0;
  std::uint16_t results = 0;    ///< number of registers
  std::uint16_t addresses = 0;  ///< number of registers
  std::uint16_t operands = 0;   ///< number of registers
  std::uint16_t left = 0;       ///< Kind::fragments: how many of `operands` belong to a
  std::uint16_t right = 0;      ///< Kind::fragments: how many of `operands` belong to b
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
