#include "text.hpp"

#include <algorithm>

namespace jitc {
namespace {

/// Bytes of the first `characters` characters.
std::size_t prefix_bytes(std::string_view text, std::size_t characters) {
  std::size_t bytes = 0;
  while (bytes < text.size() && characters > 0) {
    ++bytes;
    while (bytes < text.size() && (static_cast<unsigned char>(text[bytes]) & 0xc0U) == 0x80U) ++bytes;
    --characters;
  }
  return bytes;
}

}  // namespace

std::size_t width_of(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(
      text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xc0U) != 0x80U; }));
}

std::vector<std::string> wrap(std::string_view text, std::size_t width) {
  std::vector<std::string> lines;
  while (width_of(text) > width) {
    std::size_t bytes = prefix_bytes(text, width);
    // A space right after the last character that fits is a fine place to break, too.
    const auto space = text.substr(0, bytes + 1).rfind(' ');
    if (space != std::string_view::npos && space > 0) bytes = space;
    lines.emplace_back(text.substr(0, bytes));
    text.remove_prefix(bytes);
    while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  }
  lines.emplace_back(text);
  return lines;
}

}  // namespace jitc
