#pragma once

#include "spec/counted.hpp"

#include <tmajit/version.hpp>

#include <charconv>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

TMAJIT_BEGIN

/// "3.5 MiB"; below 1024 "1023 bytes"
[[nodiscard]] std::string describe_bytes(std::uint64_t bytes);

/// UTF-8 characters in `text`, each taken to be one column wide.
[[nodiscard]] std::size_t width_of(std::string_view text);

/// `text` in lines of at most `width` columns (at least 1), broken between words if possible.
[[nodiscard]] std::vector<std::string> wrap(std::string_view text, std::size_t width);

using Rows = std::vector<std::vector<std::string>>;
/// Rows of cells as aligned text, at most `width` columns wide: the widest columns are narrowed and their
/// cells broken between words, never inside one. If the longest words do not fit side by side, each row
/// becomes a paragraph: the first cell, and below it a line for each further cell. The first row is the
/// heading. Widths count UTF-8 characters.
[[nodiscard]] std::string format_table(const Rows& rows, std::size_t width);

enum class Style { bold = 1, dim = 2, bad = 31, good = 32, warn = 33 };  // as ANSI terminals number them
/// `text` with the escape codes of `style` if `colour`, else unchanged.
[[nodiscard]] std::string styled(std::string_view text, Style style, bool colour);

/// A heading, and the lines of `text` from column `margin` on. Lines are wrapped to `width` columns and keep
/// their indentation. The heading is dim if `colour`.
[[nodiscard]] std::string labelled(std::string_view heading, std::string_view text, std::size_t margin,
                                   std::size_t width, bool colour);
/// The pieces of a text between `separator`s, empty ones included.
[[nodiscard]] std::vector<std::string_view> split(std::string_view text, char separator);

/// The number that the whole of `text` spells; nullopt if it is not a number or out of range.
template <class Number>
[[nodiscard]] std::optional<Number> parse_number(std::string_view text, int base = 10) {
  Number number{};
  const char* const end = text.data() + text.size();
  const auto [last, error] = std::from_chars(text.data(), end, number, base);
  return error == std::errc() && last == end ? std::optional(number) : std::nullopt;
}

TMAJIT_END
