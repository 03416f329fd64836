#pragma once

/// The interface through which the decoder finds the selector of an opcode (src/sim/instructions).
#include "sim/decode/decode.hpp"

#include <span>
#include <string_view>

TMAJIT_BEGIN
namespace sim {

struct Selector {
  Opcode opcode;
  /// Emits the micro-operations of the instruction. Throws Error{unsupported} for a form that the simulator
  /// does not run.
  void (*select)(Decoder&);
};
using Selectors = std::span<const Selector>;

/// The selectors of one file of src/sim/instructions.
struct SelectorTable {
  std::string_view file;  ///< without ".cpp"
  Selectors selectors;
};
/// All tables. Every opcode that the simulator runs is in one of them, once.
[[nodiscard]] std::span<const SelectorTable> selector_tables() noexcept;
/// The selector of an opcode; null if the simulator does not run it.
[[nodiscard]] const Selector* find_selector(Opcode opcode);

/// Saves the registers of a recursive function and gives it a new frame; aux: index into Program::frames.
void enter_frame(Warp& warp, const MicroOp& op, Mask mask);

}  // namespace sim
TMAJIT_END
