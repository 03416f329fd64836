#pragma once

/// Files that a command line names "-": standard input, or standard output where the option names an output.
#include <tmajit/version.hpp>

#include <CLI/CLI.hpp>

TMAJIT_BEGIN
namespace command_line {

/// Throws Error{invalid_argument} if a parsed command line reads standard input twice, reads it from a
/// terminal, or prints two things to standard output.
void refuse_unusable_streams(const CLI::App& app);

}  // namespace command_line
TMAJIT_END
