#pragma once

#include <tmajit/version.hpp>

#include <string>
#include <string_view>
#include <vector>

TMAJIT_BEGIN

/// `text` with `value` for every whole word `name`.
[[nodiscard]] std::string with_value(std::string_view text, std::string_view name, std::string_view value);

/// `text` once for each of `values`, one after the other, with the value for `$name`. Two more things in it
/// are computed as soon as all their names have a value:
///   $(2 * n + 1)            a number: + - * / over whole numbers and names, from left to right
///   $[i < n: "r"(at[$i])]   what follows the colon n times, with 0 … n−1 for `$i`, with ", " in between
/// Throws std::invalid_argument that says what is wrong with one.
[[nodiscard]] std::string repeated(std::string_view text, std::string_view name,
                                   const std::vector<std::string>& values);

/// Whether something of a repeated text is left in it because a name has no value.
[[nodiscard]] bool has_open_repetition(std::string_view text);

/// Whether a character can stand in a name.
[[nodiscard]] bool is_name_character(char c);

TMAJIT_END
