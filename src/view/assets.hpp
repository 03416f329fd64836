#pragma once

/// The parts of every page, embedded from the files in this folder.
#include <tmajit/version.hpp>

#include <string_view>

TMAJIT_BEGIN

/// page.html: the page, with a comment <!--NAME--> where each of the other parts goes
[[nodiscard]] std::string_view view_frame() noexcept;
/// page.css
[[nodiscard]] std::string_view view_style() noexcept;
/// kernels.js: the lines of kernels, and which lines correspond to each other
[[nodiscard]] std::string_view view_kernels_script() noexcept;
/// pane.js: a list of lines, of which only the visible ones are drawn
[[nodiscard]] std::string_view view_pane_script() noexcept;
/// details.js: findings, explanation, instructions and tiles
[[nodiscard]] std::string_view view_details_script() noexcept;
/// page.js: the cursor, the keyboard and the search
[[nodiscard]] std::string_view view_page_script() noexcept;

TMAJIT_END
