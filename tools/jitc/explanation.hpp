#pragma once

#include "report.hpp"

#include <tmajit/move.hpp>

#include <cstddef>
#include <string>
#include <vector>

namespace jitc {

/// Everything that MoveExplanation says.
[[nodiscard]] Json to_json(const tmajit::MoveExplanation& explanation);

/// A heading on the left and a text on the right of a page.
struct PageRow {
  std::string heading;
  std::string text;
};

/// The same as a page for people, at most `width` columns wide, in colour if `fd` is a terminal. `title` and
/// `first` come before it.
[[nodiscard]] std::string explanation_page(const std::string& title, const std::vector<PageRow>& first,
                                           const tmajit::MoveExplanation& explanation, std::size_t width,
                                           int fd);

/// One line a step: "transpose 64x64, 1024 tiles, 256 threads".
[[nodiscard]] std::string describe(const tmajit::MoveStep& step);

}  // namespace jitc
