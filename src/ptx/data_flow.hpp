#pragma once

/// Effect of undefined operands on an instruction: whether its result is undefined, too, or whether it
/// matters.
#include "ptx/resolve.hpp"

#include <cstdint>

TMAJIT_BEGIN
namespace ptx {

enum class DataFlow : std::uint8_t {
  defines,     ///< results do not depend on the operands: loads, calls
  computes,    ///< undefined where an operand is
  joins,       ///< joins parts, or some operands may decide: undefined if all register operands are
  selects,     ///< operand 0 or 1, by predicate 2
  conjoins,    ///< as computes, but 0 where operand 0 or 1 is; others are added
  disjoins,    ///< as computes, but ones where operand 0 or 1 is
  shuffles,    ///< lanes read each other's values; the last operand, the mask of members, counts
  meets,       ///< one answer for lanes that meet; the same
  fragments,   ///< products of matrices, whose lanes and registers hold rows and columns
  transposes,  ///< transposes 8 by 8 halves that all lanes hold
  stores,      ///< operands go to memory
  hands_over,  ///< matrices to memory, or fragments of an open layout: the simulator's handler follows them
  acts,        ///< every operand counts
};

[[nodiscard]] DataFlow data_flow(const FlatInstruction& flat);
/// Whether it does more than to give its results, so that it counts whether it is executed.
[[nodiscard]] bool has_effects(DataFlow flow, Opcode opcode);

}  // namespace ptx
TMAJIT_END
