#pragma once

#include "ptx/parser.hpp"

TMAJIT_BEGIN
namespace ptx {

/// The module as PTX text. parse(print(m)) is m again, and so is its print.
[[nodiscard]] std::string print(const Module& module);
/// One instruction without guard's newline: "@%p1 ld.global.u32 %r1, [%rd1+4];"
[[nodiscard]] std::string print(const Instruction& instruction);
[[nodiscard]] std::string print(const Operand& operand);
/// Each error in `text` as "name:3:7: error: …", the line, a caret; without the latter where no line has it.
/// `as_notes`: "note" in place of "error".
[[nodiscard]] std::vector<std::string> print(const std::vector<Diagnostic>& errors, std::string_view text,
                                             std::string_view name, bool as_notes = false);

}  // namespace ptx
TMAJIT_END
