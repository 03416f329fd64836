#pragma once

#include "view/locations.hpp"

#include <string>

namespace tests {

/// "h.cuh:3 k.cu:10 k.cu:20": a location and the calls by which it was inlined, the innermost first.
[[nodiscard]] inline std::string chain(const tmajit::view::Locations& locations, std::uint32_t location) {
  std::string text;
  for (; location != tmajit::view::Location::none; location = locations[location].inlined_at) {
    const std::string& path = locations.paths()[locations[location].path];
    text += (text.empty() ? "" : " ") + path.substr(path.rfind('/') + 1) + ":" +
            std::to_string(locations[location].line);
  }
  return text;
}

}  // namespace tests
