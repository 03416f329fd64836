#include "source_place.hpp"

#include <charconv>
#include <optional>
#include <string_view>

#include <spdlog/fmt/fmt.h>

namespace jitc {
namespace {

/// Line `number` (from 1) of `text`, without the spaces around it.
std::string_view line_of(std::string_view text, std::uint64_t number) {
  for (; number > 1; --number) {
    const auto end = text.find('\n');
    if (end == std::string_view::npos) return {};
    text.remove_prefix(end + 1);
  }
  text = text.substr(0, text.find('\n'));
  const auto begin = text.find_first_not_of(" \t\r");
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t\r") + 1 - begin);
}

/// Takes a number and the spaces before it from the front of `text`.
std::optional<std::uint64_t> take_number(std::string_view& text) {
  text.remove_prefix(std::min(text.find_first_not_of(" \t"), text.size()));
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc()) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return number;
}

/// The `.loc` at or before a line, not beyond the beginning of its function.
std::string_view mark_before(std::string_view ptx, std::uint32_t ptx_line) {
  std::string_view mark;
  for (std::uint32_t line = 1; line < ptx_line && !ptx.empty(); ++line) {
    const auto end = std::min(ptx.find('\n'), ptx.size());
    auto text = line_of(ptx.substr(0, end), 1);
    if (text.starts_with(".loc")) {
      mark = text.substr(4);
    } else if (text.find(".entry") != std::string_view::npos ||
               text.find(".func") != std::string_view::npos) {
      mark = {};
    }
    ptx.remove_prefix(std::min(end + 1, ptx.size()));
  }
  return mark;
}

/// The name that `.file INDEX "…"` gives, without folders.
std::string file_name(std::string_view ptx, std::uint64_t index) {
  for (std::size_t at = 0; (at = ptx.find(".file", at)) != std::string_view::npos;) {
    at += 5;
    auto rest = ptx.substr(at, ptx.find('\n', at) - at);
    const auto number = take_number(rest);
    const auto open = rest.find('"');
    const auto close = rest.find('"', open + 1);
    if (number != index || open == std::string_view::npos || close == std::string_view::npos) continue;
    const auto path = rest.substr(open + 1, close - open - 1);
    return std::string(path.substr(path.rfind('/') + 1));
  }
  return {};
}

}  // namespace

std::vector<SourcePlace> source_places(const tmajit::Artifact& artifact, std::uint32_t ptx_line) {
  std::vector<SourcePlace> places;
  const std::string_view ptx = artifact.ptx;
  auto mark = mark_before(ptx, ptx_line);
  constexpr std::string_view inlined = "inlined_at";
  for (;;) {
    const auto file = take_number(mark);
    const auto line = take_number(mark);
    if (!file || !line || *line == 0) break;
    SourcePlace place{.file = file_name(ptx, *file), .line = *line, .text = {}};
    // NVRTC is given one text; what it calls otherwise is a text within that, such as an expression.
    if (*file == 1) place.text = line_of(artifact.source, *line);
    places.push_back(std::move(place));
    const auto at = mark.find(inlined);
    if (at == std::string_view::npos) break;
    mark.remove_prefix(at + inlined.size());
  }
  return places;
}

std::string describe(const SourcePlace& place) {
  return fmt::format("{}:{}{}{}", place.file, place.line, place.text.empty() ? "" : ": ", place.text);
}

}  // namespace jitc
