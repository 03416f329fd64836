#pragma once

/// Effect of undefined operands on an instruction: whether its result is undefined, too, or whether it
/// matters.
#include "ptx/resolve.hpp"

#include <cstdint>

TMAJIT_BEGIN
namespace ptx {

enum class DataFlow : std::uint8_t {
  defines,     ///< what it gives does not come of its operands: loads, calls
  computes,    ///< undefined where an operand is
  joins,       ///< of parts, or where some may decide: undefined where all that are registers are
  selects,     ///< operand 0 or 1, by predicate 2
  conjoins,    ///< as computes, but 0 where operand 0 or 1 is; others are added
  disjoins,    ///< as computes, but ones where operand 0 or 1 is
  shuffles,    ///< what the lanes read of each other; the last operand, the mask of members, counts
  meets,       ///< one answer for lanes that meet; the same
  fragments,   ///< products of matrices, whose lanes and registers hold rows and columns
  transposes,  ///< of 8 by 8 halves that all lanes hold, rows become columns
  stores,      ///< operands go to memory
  hands_over,  ///< matrices to memory, or fragments of an open layout: the simulator's handler follows them
  acts,        ///< every operand counts
};

[[nodiscard]] DataFlow data_flow(const FlatInstruction& flat);
/// Whether it does more than to give its results, so that it counts whether it is executed.
[[nodiscard]] bool has_effects(DataFlow flow, Opcode opcode);

}  // namespace ptx
TMAJIT_END
