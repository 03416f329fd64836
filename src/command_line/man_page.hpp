#pragma once

#include "command_line/description.hpp"

#include <string>
#include <string_view>

TMAJIT_BEGIN
namespace command_line {

/// The manual page of a program, in the macros of man(7). The footer of `program` is its sections on exit
/// codes and examples. An option that several commands have is described once.
[[nodiscard]] std::string man_page(const CommandText& program, std::string_view version);

}  // namespace command_line
TMAJIT_END
