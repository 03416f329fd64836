#pragma once

/// Micro-operations of calls.
#include "sim/program.hpp"

TMAJIT_BEGIN
namespace sim {

/// Saves the registers of a recursive function and gives it a new frame; aux: index into Program::frames.
void enter_frame(Warp& warp, const MicroOp& op, Mask mask);

// Functions that the CUDA device runtime has and PTX only declares. accesses[aux + i]: argument i in local
// memory, then the result, if a is 1.

/// vprintf(format, arguments); the result is the number of characters.
void print_formatted(Warp& warp, const MicroOp& op, Mask mask);
/// __assertfail(message, file, line, function, size of a character): a report.
void fail_assertion(Warp& warp, const MicroOp& op, Mask mask);

}  // namespace sim
TMAJIT_END
