#pragma once

/// How an undefined operand of an instruction matters: it may make the result undefined, or have an effect at
/// once.
#include "ptx/resolve.hpp"

#include <cstdint>

TMAJIT_BEGIN
namespace ptx {

enum class DataFlow : std::uint8_t {
  defines,    ///< results do not depend on the operands: loads, calls
  computes,   ///< the result is undefined where an operand is
  joins,      ///< the result has parts of several operands, or depends on some of them only: it is undefined
              ///< only if all register operands are
  selects,    ///< the result is operand 0 or 1, by predicate 2
  conjoins,   ///< as computes, but 0 where operand 0 or 1 is a defined 0 (and, mul); a third operand is added
  disjoins,   ///< as computes, but 1 where a bit of operand 0 or 1 is a defined 1 (or)
  shuffles,   ///< lanes read each other's values; the last operand, the member mask, matters at once
  meets,      ///< one result for all participating lanes; the member mask matters at once
  fragments,  ///< products of matrices, whose lanes and registers hold rows and columns
  transposes,  ///< transposes 8 by 8 halves that all lanes hold
  stores,      ///< operands are stored to memory
  hands_over,  ///< stores matrices, or moves fragments of unspecified layout: the simulator's code of the
               ///< instruction tracks undefined values itself
  acts,        ///< every operand matters at once
};

[[nodiscard]] DataFlow data_flow(const FlatInstruction& flat);
/// Whether the instruction has effects besides its results, so that it matters whether it is executed.
[[nodiscard]] bool has_effects(DataFlow flow, Opcode opcode);

}  // namespace ptx
TMAJIT_END
