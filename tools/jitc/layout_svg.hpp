#pragma once

#include "layout_view.hpp"

#include <string>

namespace jitc {

/// The tile as a picture of its own, for a browser or a README: 128-byte lines by 32 banks, a legend, and a
/// table of what the patterns cost.
[[nodiscard]] std::string layout_svg(const LayoutView& view);

}  // namespace jitc
