#pragma once

#include "report.hpp"

#include <tmajit/move.hpp>

#include <cstddef>
#include <string>

namespace jitc {

/// Everything that MoveExplanation says.
[[nodiscard]] Json to_json(const tmajit::MoveExplanation& explanation);

/// The same as a page for people, `width` columns wide, in colour if `fd` is a terminal.
[[nodiscard]] std::string explanation_page(const tmajit::MoveExplanation& explanation, std::size_t width,
                                           int fd);

/// One line a step: "transpose 64x64, 1024 tiles, 256 threads".
[[nodiscard]] std::string describe(const tmajit::MoveStep& step);

}  // namespace jitc
