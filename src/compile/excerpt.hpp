#pragma once

#include <tmajit/version.hpp>

#include <cstddef>
#include <string>
#include <string_view>

TMAJIT_BEGIN

/// `line` with a caret under byte `offset` (its end if beyond), both indented by two spaces and cut to a
/// window around the caret if the line is long. Two lines, the second without a newline.
[[nodiscard]] std::string excerpt(std::string_view line, std::size_t offset);

TMAJIT_END
