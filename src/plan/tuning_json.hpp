#pragma once

#include <tmajit/tuning.hpp>

#include <span>
#include <string>
#include <string_view>
#include <vector>

TMAJIT_BEGIN

/// The text of a tuning file; a line a choice, so that differences between files can be read.
[[nodiscard]] std::string format_tuning(std::span<const TunedChoice> choices);
/// Reads the choices of such a text, in its order. Throws Error{invalid_argument} that begins with `label`
/// and gives the place of the mistake. A choice must have exactly its family's numbers. Unknown keys, choices
/// of unknown families, and all choices of a text of another version (ShapeClass::version,
/// KernelChoice::version) are skipped.
[[nodiscard]] std::vector<TunedChoice> parse_tuning(std::string_view text, std::string_view label);

TMAJIT_END
