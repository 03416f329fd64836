#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace jitc {

/// Rows of cells as aligned text, at most `width` columns wide: the widest columns are narrowed and their
/// cells broken between words. The first row is the heading. Widths count UTF-8 characters.
[[nodiscard]] std::string format_table(const std::vector<std::vector<std::string>>& rows, std::size_t width);

}  // namespace jitc
