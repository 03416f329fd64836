#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include <CLI/CLI.hpp>

namespace jitc {

/// Validators of options' values; each says what would be legal.

/// A whole number from `least` to `most`, decimal or, after 0x, hexadecimal.
[[nodiscard]] CLI::Validator whole_number(std::uint64_t least, std::uint64_t most);
/// One of `names`.
[[nodiscard]] CLI::Validator one_of(std::vector<std::string_view> names);
/// Any value but an empty one, which is mostly an unset variable of a script.
[[nodiscard]] CLI::Validator not_empty();

}  // namespace jitc
