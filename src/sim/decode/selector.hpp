#pragma once

/// What the decoder takes from the room of instructions.
#include "sim/decode/decode.hpp"

#include <span>

TMAJIT_BEGIN
namespace sim {

struct Selector {
  Opcode opcode;
  /// Emits what runs the instruction; Error{unsupported} for a form of it that the simulator does not run.
  void (*select)(Decoder&);
};
using Selectors = std::span<const Selector>;

/// One entry for each opcode that the simulator runs, in the order of the enumeration.
[[nodiscard]] Selectors selectors();
/// The entry of an opcode; null if the simulator does not run it.
[[nodiscard]] const Selector* find_selector(Opcode opcode);

/// Saves the registers of a recursive function and gives it a new frame; aux: index into Program::frames.
void enter_frame(Warp& warp, const MicroOp& op, Mask mask);

}  // namespace sim
TMAJIT_END
