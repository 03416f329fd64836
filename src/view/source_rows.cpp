#include "view/source_rows.hpp"

#include <algorithm>

#include <llvm/ADT/StringRef.h>

TMAJIT_BEGIN
namespace view {
namespace {

using llvm::StringRef;

/// A directive `#line NUMBER "FILE"`.
struct LineDirective {
  std::uint64_t line = 0;
  StringRef file;
};

std::optional<LineDirective> line_directive(StringRef line) {
  LineDirective directive;
  if (!line.consume_front("#line ") || line.consumeInteger(10, directive.line)) return std::nullopt;
  line = line.trim();
  if (!line.consume_front("\"") || !line.consume_back("\"")) return std::nullopt;
  directive.file = line;
  return directive;
}

/// Whether `path` is the path of the file `name` of an #include or a #line. NVRTC puts the working directory
/// before the name.
bool is_path_of(StringRef path, StringRef name) {
  return !name.empty() &&
         (path == name || (path.consume_back(name) && std::string_view(path).ends_with("/")));
}

}  // namespace

std::uint32_t SourceRows::add_name(std::string_view name) {
  const auto known = std::find(files_.begin(), files_.end(), name);
  if (known == files_.end()) return files_.emplace_back(name), static_cast<std::uint32_t>(files_.size() - 1);
  return static_cast<std::uint32_t>(known - files_.begin());
}

std::uint32_t SourceRows::add_file(std::string_view name, std::string_view text) {
  const std::size_t files = files_.size();
  const std::uint32_t added = add_name(name);
  if (files_.size() == files) return added;  // another path named this file, too
  std::uint32_t file = added;
  rows_.push_back({std::string(name), 0, true});
  std::uint64_t line = 1;
  for (StringRef rest(text.data(), text.size()), each; !rest.empty(); ++line) {
    std::tie(each, rest) = rest.split('\n');
    each = each.rtrim('\r');
    if (const auto directive = line_directive(each)) {
      rows_.push_back({each.str()});
      file = add_name({directive->file.data(), directive->file.size()});
      line = directive->line - 1;
      continue;
    }
    index_.emplace(Key{file, line}, rows_.size());
    rows_.push_back({each.str(), line});
  }
  return added;
}

SourceRows::SourceRows(const ViewedKernel& kernel, const Locations& locations, std::string_view main_path) {
  const std::string& source = kernel.artifact.source;
  if (!source.empty()) add_file("kernel source", source);
  const std::size_t files_of_source = files_.size();
  for (const std::string& path : locations.paths()) {
    std::vector<std::uint32_t>& files = files_of_path_.emplace_back();
    for (std::uint32_t file = 1; file < files_of_source; ++file) {
      if (is_path_of(path, files_[file])) files.push_back(file);
    }
    const auto header =
        std::ranges::find_if(kernel.headers, [&](const auto& each) { return is_path_of(path, each.first); });
    if (files.empty() && header != kernel.headers.end()) {
      files.push_back(add_file(header->first, header->second));
    }
    if (files.empty() && source.empty() && kernel.read_source) {
      if (const auto text = kernel.read_source(path)) files.push_back(add_file(path, *text));
    }
    // File 0 has the lines before the first #line.
    if (!source.empty() && path == main_path) files.push_back(0);
  }
}

std::optional<std::uint32_t> SourceRows::row_of(const Location& location) const {
  for (const std::uint32_t file : files_of_path_[location.path]) {
    if (const auto found = index_.find({file, location.line}); found != index_.end()) return found->second;
  }
  return std::nullopt;
}

}  // namespace view
TMAJIT_END
