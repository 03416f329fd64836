#pragma once

#include <tmajit/version.hpp>

#include <cstdint>
#include <string_view>
#include <vector>

#include <CLI/CLI.hpp>

TMAJIT_BEGIN
namespace command_line {

// Validators of options' values. Their errors say which values are legal.

/// A whole number from `least` to `most`, decimal or, after 0x, hexadecimal.
[[nodiscard]] CLI::Validator whole_number(std::uint64_t least, std::uint64_t most);
/// One of `names`.
[[nodiscard]] CLI::Validator one_of(const std::vector<std::string_view>& names);
/// Accepts every value. Completions offer `names`; the word FILE stands for the names of files.
[[nodiscard]] CLI::Validator offers(const std::vector<std::string_view>& names);
/// Any value but an empty one: that is mostly a mistake, an unset variable of a script.
[[nodiscard]] CLI::Validator not_empty();

}  // namespace command_line
TMAJIT_END
