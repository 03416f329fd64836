#pragma once

#include "ptx/ast.hpp"

TMAJIT_BEGIN
namespace ptx {

/// Whether an instruction waits for other threads or for copies: different things order what comes before it
/// and what comes after it.
[[nodiscard]] bool separates(Opcode opcode) noexcept;

}  // namespace ptx
TMAJIT_END
