#pragma once

#include "command_line/description.hpp"

#include <string>

TMAJIT_BEGIN
namespace command_line {

// Scripts that complete commands, options, and the values of options with a closed set of values. A shell
// reads a script when it starts.

[[nodiscard]] std::string bash_completions(const CommandText& program);
[[nodiscard]] std::string zsh_completions(const CommandText& program);
[[nodiscard]] std::string fish_completions(const CommandText& program);

}  // namespace command_line
TMAJIT_END
