#pragma once

#include "layout_view.hpp"

#include <cstddef>
#include <string>

namespace jitc {

/// The tile as a table of 128-byte lines, in units of 16 bytes or in banks where `width` columns are wide
/// enough; then what the patterns cost. With `colour` cells have coloured backgrounds (ANSI, 256 colours).
[[nodiscard]] std::string layout_text(const LayoutView& view, std::size_t width, bool colour);

}  // namespace jitc
