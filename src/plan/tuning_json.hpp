#pragma once

#include <tmajit/tuning.hpp>

#include <span>
#include <string>
#include <string_view>
#include <vector>

TMAJIT_BEGIN

/// The text of a tuning file; a line a choice, so that differences between files can be read.
[[nodiscard]] std::string format_tuning(std::span<const TunedChoice> choices);
/// The choices of such a text, in its order. Throws Error{invalid_argument} that begins with `label` and says
/// where the text is wrong. A choice has exactly its family's numbers; other keys that
/// this version does not know are skipped, and so are all choices of a
/// text whose fields had another meaning (ShapeClass::version, KernelChoice::version), and those of families
/// that there are not.
[[nodiscard]] std::vector<TunedChoice> parse_tuning(std::string_view text, std::string_view label);

TMAJIT_END
