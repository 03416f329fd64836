#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace jitc {

/// UTF-8 characters in `text`, each taken to be one column wide.
[[nodiscard]] std::size_t width_of(std::string_view text);

/// `text` in lines of at most `width` columns (at least 1), broken between words where there are any.
[[nodiscard]] std::vector<std::string> wrap(std::string_view text, std::size_t width);

}  // namespace jitc
