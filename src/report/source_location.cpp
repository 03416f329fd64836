#include <tmajit/report/source_location.hpp>

#include <algorithm>
#include <array>
#include <iterator>
#include <map>
#include <optional>
#include <tuple>

#include <llvm/ADT/StringRef.h>
#include <spdlog/fmt/fmt.h>

TMAJIT_BEGIN
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

/// A `.loc`: the location of an instruction, and the call by which its function was inlined.
struct Mark {
  using Place = std::array<std::uint64_t, 3>;  ///< file, line, column
  Place at{};
  std::optional<Place> inlined_at;
};

std::optional<Mark::Place> take_place(StringRef& text) {
  Mark::Place location{};
  for (auto& number : location) {
    const auto taken = take_number(text);
    if (!taken) return std::nullopt;
    number = *taken;
  }
  return location;
}

/// The marks before a PTX line in its function, in order.
std::vector<Mark> marks_before(StringRef ptx, std::uint32_t ptx_line) {
  std::vector<Mark> marks;
  for (std::uint32_t line = 1; line < ptx_line && !ptx.empty(); ++line, ptx = ptx.split('\n').second) {
    auto text = line_of(ptx, 1);
    if (text.contains(".entry") || text.contains(".func")) marks.clear();
    if (!text.consume_front(".loc")) continue;
    const auto at = take_place(text);
    if (!at) continue;
    auto rest = text.split("inlined_at").second;
    marks.push_back({*at, take_place(rest)});
  }
  return marks;
}

/// The paths that `.file INDEX "…"` gives, by index.
std::map<std::uint64_t, StringRef> paths_of(StringRef ptx) {
  std::map<std::uint64_t, StringRef> paths;
  while (!(ptx = ptx.split(".file").second).empty()) {
    auto rest = ptx.split('\n').first;
    if (const auto index = take_number(rest))
      paths.try_emplace(*index, rest.split('"').second.split('"').first);
  }
  return paths;
}

std::string file_of(StringRef path) {
  return path.substr(path.rfind('/') + 1).str();
}

/// Returns the part of an artifact's source that is the text of a file. In a custom source, it follows
/// `#line 1 "folder/FILE"`.
StringRef text_of(StringRef source, StringRef file) {
  StringRef rest = source;
  for (StringRef line; !rest.empty();) {
    std::tie(line, rest) = rest.split('\n');
    if (!line.consume_front("#line 1 \"")) continue;
    const auto name = line.rtrim("\"\r");
    if (name.substr(name.rfind('/') + 1) == file) return rest;
  }
  return source;
}

}  // namespace

std::vector<SourceLocation> source_locations(const Artifact& artifact, std::uint32_t ptx_line) {
  std::vector<SourceLocation> locations;
  const auto marks = marks_before(artifact.ptx, ptx_line);
  auto at = marks.rbegin();
  std::optional<Mark> mark;
  if (at != marks.rend()) mark = *at;
  const auto paths = mark ? paths_of(artifact.ptx) : std::map<std::uint64_t, StringRef>();
  while (mark) {
    const auto [file, line, column] = mark->at;
    if (line == 0) break;
    // NVRTC compiles one text, file 1. Other files are parts of this text, or headers.
    const auto known = paths.find(file);
    const StringRef path = known == paths.end() ? StringRef() : known->second;
    const auto name = file_of(path);
    const auto file_text = text_of(artifact.source, name);
    const bool has_text = file == 1 || file_text.size() != artifact.source.size();
    const auto text = has_text ? line_of(file_text, line) : StringRef();
    locations.push_back({.file = name, .line = line, .text = text.str(), .path = path.str()});
    if (!mark->inlined_at) break;
    // If the call was itself inlined, it has an earlier mark of its own.
    const Mark::Place caller = *mark->inlined_at;
    at = std::find_if(std::next(at), marks.rend(), [&](const Mark& one) { return one.at == caller; });
    mark = at == marks.rend() ? Mark{caller, std::nullopt} : *at;
  }
  return locations;
}

std::vector<SourceLocation> source_locations(const std::vector<const Artifact*>& artifacts,
                                             const Finding& finding) {
  const Artifact* found = nullptr;
  for (const auto* artifact : artifacts) {
    if (artifact->entry != finding.kernel) continue;
    if (found == nullptr) found = artifact;
    if (line_of(artifact->ptx, finding.ptx_line).contains(finding.instruction)) {
      found = artifact;
      break;
    }
  }
  if (found == nullptr) return {};
  auto locations = source_locations(*found, finding.ptx_line);
  mark_own(locations, finding);
  return locations;
}

void mark_own(std::vector<SourceLocation>& locations, const Finding& finding) {
  // The innermost frame with this line: a function may be inlined into itself.
  const auto own = std::ranges::find_if(locations, [&](const SourceLocation& each) {
    return each.line == finding.source_line && each.file == finding.source_file &&
           each.path.ends_with(finding.source_path);
  });
  if (own != locations.end()) own->own = true;
}

std::vector<SourceLocation> own_first(std::vector<SourceLocation> locations) {
  const auto own = std::ranges::find(locations, true, &SourceLocation::own);
  if (own != locations.end()) std::rotate(locations.begin(), own, std::next(own));
  return locations;
}

std::string describe(const SourceLocation& location) {
  return fmt::format("{}:{}{}{}", location.file, location.line, location.text.empty() ? "" : ": ",
                     location.text);
}

TMAJIT_END
