#pragma once

#include "ptx/parser.hpp"

TMAJIT_BEGIN
namespace ptx {

/// The module as PTX text. parse(print(m)) equals m, and prints as the same text.
[[nodiscard]] std::string print(const Module& module);
/// One instruction with its guard, without a newline: "@%p1 ld.global.u32 %r1, [%rd1+4];"
[[nodiscard]] std::string print(const Instruction& instruction);
[[nodiscard]] std::string print(const Operand& operand);
/// Each error in `text` as "name:3:7: error: …", the line and a caret. An error without a location has no
/// line and caret. `as_notes`: "note" in place of "error".
[[nodiscard]] std::vector<std::string> print(const std::vector<Diagnostic>& errors, std::string_view text,
                                             std::string_view name, bool as_notes = false);

}  // namespace ptx
TMAJIT_END
