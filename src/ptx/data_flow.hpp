#pragma once

/// Effect of undefined operands on an instruction: its result may be undefined, too, or they may matter at
/// once.
#include "ptx/resolve.hpp"

#include <cstdint>

TMAJIT_BEGIN
namespace ptx {

enum class DataFlow : std::uint8_t {
  defines,    ///< results do not depend on the operands: loads, calls
  computes,   ///< undefined where an operand is
  joins,      ///< joins parts, or some operands may decide: undefined only if all register operands are
  selects,    ///< operand 0 or 1, by predicate 2
  conjoins,   ///< as computes, but 0 where operand 0 or 1 is a defined 0 (and, mul); a third operand is added
  disjoins,   ///< as computes, but 1 where a bit of operand 0 or 1 is a defined 1 (or)
  shuffles,   ///< lanes read each other's values; the last operand, the member mask, matters
  meets,      ///< one result for all participating lanes; the member mask matters, too
  fragments,  ///< products of matrices, whose lanes and registers hold rows and columns
  transposes,  ///< transposes 8 by 8 halves that all lanes hold
  stores,      ///< operands go to memory
  hands_over,  ///< stores matrices, or moves fragments of unspecified layout: the simulator's handler tracks
               ///< them
  acts,        ///< every operand matters
};

[[nodiscard]] DataFlow data_flow(const FlatInstruction& flat);
/// Whether the instruction has effects besides its results, so that it matters whether it is executed.
[[nodiscard]] bool has_effects(DataFlow flow, Opcode opcode);

}  // namespace ptx
TMAJIT_END
