#pragma once

#include "ptx/ast.hpp"

#include <string>

TMAJIT_BEGIN
namespace ptx {

/// The module as PTX text. parse(print(m)) is m again, and so is its print.
[[nodiscard]] std::string print(const Module& module);
/// One instruction without guard's newline: "@%p1 ld.global.u32 %r1, [%rd1+4];"
[[nodiscard]] std::string print(const Instruction& instruction);
[[nodiscard]] std::string print(const Operand& operand);

}  // namespace ptx
TMAJIT_END
