#pragma once

#include <tmajit/version.hpp>

#include <string>
#include <string_view>
#include <vector>

TMAJIT_BEGIN

/// `text` with every whole word `name` replaced by `value`.
[[nodiscard]] std::string with_value(std::string_view text, std::string_view name, std::string_view value);

/// Writes each paragraph of `text` (lines between blank ones) that contains the name once for each of
/// `values`, with `$name` replaced by the value. Paragraphs without the name are written once, and so are
/// comments without it at the beginning of a paragraph. If `values` is empty, nothing is written. Two more
/// forms are expanded as soon as all names in them have a value:
///   $(2 * n + 1)            a number: + - * / over whole numbers and names, from left to right
///   $[i < n: "r"(at[$i])]   the text after the colon n times, with 0 … n−1 for `$i`, separated by ", "
/// Throws std::invalid_argument for a malformed form.
[[nodiscard]] std::string repeated(std::string_view text, std::string_view name,
                                   const std::vector<std::string>& values);

/// Whether `text` still has a form that repeated() expands, because a name has no value.
[[nodiscard]] bool has_open_repetition(std::string_view text);

/// Whether a character can be part of a name.
[[nodiscard]] bool is_name_character(char c);

TMAJIT_END
