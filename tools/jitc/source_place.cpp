#include "source_place.hpp"

#include <optional>

#include <llvm/ADT/StringRef.h>
#include <spdlog/fmt/fmt.h>

namespace jitc {
namespace {

using llvm::StringRef;

/// Line `number` (from 1) of `text`, without the spaces around it.
StringRef line_of(StringRef text, std::uint64_t number) {
  for (; number > 1 && !text.empty(); --number) text = text.split('\n').second;
  return text.split('\n').first.trim(" \t\r");
}

/// Takes a number and the spaces before it from the front of `text`.
std::optional<std::uint64_t> take_number(StringRef& text) {
  std::uint64_t number = 0;
  text = text.ltrim(" \t");
  return text.consumeInteger(10, number) ? std::nullopt : std::optional(number);
}

/// The `.loc` at or before a line, not beyond the beginning of its function.
StringRef mark_before(StringRef ptx, std::uint32_t ptx_line) {
  StringRef mark;
  for (std::uint32_t line = 1; line < ptx_line && !ptx.empty(); ++line, ptx = ptx.split('\n').second) {
    auto text = line_of(ptx, 1);
    if (text.consume_front(".loc")) {
      mark = text;
    } else if (text.contains(".entry") || text.contains(".func")) {
      mark = {};
    }
  }
  return mark;
}

/// The name that `.file INDEX "…"` gives, without folders.
std::string file_name(StringRef ptx, std::uint64_t index) {
  while (!(ptx = ptx.split(".file").second).empty()) {
    auto rest = ptx.split('\n').first;
    if (take_number(rest) != index) continue;
    const auto path = rest.split('"').second.split('"').first;
    return path.substr(path.rfind('/') + 1).str();
  }
  return {};
}

}  // namespace

std::vector<SourcePlace> source_places(const tmajit::Artifact& artifact, std::uint32_t ptx_line) {
  std::vector<SourcePlace> places;
  auto mark = mark_before(artifact.ptx, ptx_line);
  for (; !mark.empty(); mark = mark.split("inlined_at").second) {
    const auto file = take_number(mark);
    const auto line = take_number(mark);
    if (!file || !line || *line == 0) break;
    // NVRTC is given one text; what it calls otherwise is a text within that, such as an expression.
    const auto text = *file == 1 ? line_of(artifact.source, *line) : StringRef();
    places.push_back({.file = file_name(artifact.ptx, *file), .line = *line, .text = text.str()});
  }
  return places;
}

std::vector<SourcePlace> source_places(const std::vector<const tmajit::Artifact*>& artifacts,
                                       const tmajit::Finding& finding) {
  const tmajit::Artifact* found = nullptr;
  for (const auto* artifact : artifacts) {
    if (artifact->entry != finding.kernel) continue;
    if (found == nullptr) found = artifact;
    if (line_of(artifact->ptx, finding.ptx_line).contains(finding.instruction)) {
      found = artifact;
      break;
    }
  }
  return found == nullptr ? std::vector<SourcePlace>() : source_places(*found, finding.ptx_line);
}

std::string describe(const SourcePlace& place) {
  return fmt::format("{}:{}{}{}", place.file, place.line, place.text.empty() ? "" : ": ", place.text);
}

}  // namespace jitc
