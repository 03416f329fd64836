#pragma once

/// The decoder's lookup of selectors. A selector turns the instructions of one opcode into micro-operations;
/// they are in src/sim/instructions.
#include "sim/decode/decode.hpp"

#include <span>
#include <string_view>

TMAJIT_BEGIN
namespace sim {

struct Selector {
  Opcode opcode;
  /// Emits the micro-operations of the instruction. Throws Error{unsupported} for an unsupported form.
  void (*select)(Decoder&);
};
using Selectors = std::span<const Selector>;

/// The selectors of one file of src/sim/instructions.
struct SelectorTable {
  std::string_view file;  ///< without ".cpp"
  Selectors selectors;
};
/// All tables. Every supported opcode is in exactly one of them.
[[nodiscard]] std::span<const SelectorTable> selector_tables() noexcept;
/// The selector of an opcode; null for an unsupported opcode.
[[nodiscard]] const Selector* find_selector(Opcode opcode);

/// The handler that begins a recursive function: saves its registers and allocates its frame. aux: index into
/// Program::frames.
void enter_frame(Warp& warp, const MicroOp& op, Mask mask);

}  // namespace sim
TMAJIT_END
