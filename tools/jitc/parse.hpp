#pragma once

#include <tmajit/tensor.hpp>

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace jitc {

/// "128x64" or "128,64" as numbers, outermost first. Throws Error{invalid_argument} that names `option`.
[[nodiscard]] std::vector<std::uint64_t> parse_extents(std::string_view text, std::string_view option);
/// Extents, each below 2^32.
[[nodiscard]] std::vector<std::uint32_t> parse_box(std::string_view text, std::string_view option);
/// Strides, which may be negative: "4096,1".
[[nodiscard]] std::vector<std::int64_t> parse_strides(std::string_view text, std::string_view option);
/// Every type of a repeatable option that also takes lists: {"f16,f32", "u8"} is f16, f32, u8.
[[nodiscard]] std::vector<tmajit::ElementType> parse_types(const std::vector<std::string>& texts);

/// The integer or the floating-point number of --number. Throws Error{invalid_argument} that quotes the text.
[[nodiscard]] std::variant<std::int64_t, double> parse_number(const std::string& text);

/// The words of a text, separated by spaces. As in a shell, quotes of both kinds hold a word with spaces
/// together. Throws Error{invalid_argument} for a quote that does not end.
[[nodiscard]] std::vector<std::string> command_words(std::string_view text);

/// How many inputs an expression reads: one more than the largest K of its identifiers xK, at least 1.
[[nodiscard]] std::uint32_t inputs_of(std::string_view expression);
/// Whether one of an expression's identifiers is `name`.
[[nodiscard]] bool reads(std::string_view expression, std::string_view name);

}  // namespace jitc
