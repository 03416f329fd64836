#pragma once

#include "view/places.hpp"

#include <string>

namespace tests {

/// "h.cuh:3 k.cu:10 k.cu:20": a place and the calls by which it was inlined, the innermost first.
[[nodiscard]] inline std::string chain(const tmajit::view::Places& places, std::uint32_t place) {
  std::string text;
  for (; place != tmajit::view::Place::none; place = places[place].caller) {
    const std::string& path = places.paths()[places[place].path];
    text += (text.empty() ? "" : " ") + path.substr(path.rfind('/') + 1) + ":" +
            std::to_string(places[place].line);
  }
  return text;
}

}  // namespace tests
