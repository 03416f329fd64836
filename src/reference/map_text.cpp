#include "reference/map_text.hpp"

#include <algorithm>
#include <sstream>
#include <string_view>

namespace reference {

using namespace tmajit;

std::string describe(const TensorMapSpec& map) {
  std::ostringstream text;
  const auto list = [&](std::string_view name, const auto& values) {
    text << ' ' << name << '=';
    for (std::uint32_t d = 0; d < std::min<std::size_t>(map.rank, values.size()); ++d) {
      text << (d == 0 ? "" : "x") << values[d];
    }
  };
  // Modes are printed as numbers, because they may have no enumerator.
  text << "type=" << static_cast<unsigned>(map.type) << " rank=" << static_cast<unsigned>(map.rank)
       << " interleave=" << static_cast<unsigned>(map.interleave)
       << " swizzle=" << static_cast<unsigned>(map.swizzle)
       << " l2=" << static_cast<unsigned>(map.l2_promotion) << " oob=" << static_cast<unsigned>(map.oob_fill);
  list("shape", map.shape);
  list("strides", map.strides);
  list("box", map.box);
  list("element_strides", map.element_strides);
  if (map.mode == MapMode::tiled) return text.str();
  text << " mode=" << static_cast<unsigned>(map.mode);
  list("lower", map.pixel_box.lower);
  list("upper", map.pixel_box.upper);
  text << " channels=" << map.pixel_box.channels << " pixels=" << map.pixel_box.pixels;
  return text.str();
}

}  // namespace reference
