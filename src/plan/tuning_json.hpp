#pragma once

#include <tmajit/tuning.hpp>

#include <span>
#include <string>
#include <string_view>
#include <vector>

TMAJIT_BEGIN

/// The text of a tuning file, one choice a line, so that two files can be compared by diff.
[[nodiscard]] std::string format_tuning(std::span<const TunedChoice> choices);
/// Reads the choices of a tuning file, in its order. Throws Error{invalid_argument} that begins with `label`
/// and gives the position of the mistake. A choice must have exactly its family's numbers. Unknown keys and
/// choices of unknown families are skipped. All choices are skipped if the file's ShapeClass::version or
/// KernelChoice::version differs.
[[nodiscard]] std::vector<TunedChoice> parse_tuning(std::string_view text, std::string_view label);

TMAJIT_END
