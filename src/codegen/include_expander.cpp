#include "codegen/include_expander.hpp"

#include "codegen/definitions.hpp"
#include "codegen/directives.hpp"
#include "codegen/templates.hpp"

#include <tmajit/error.hpp>

#include <algorithm>
#include <optional>

#include <spdlog/fmt/fmt.h>

TMAJIT_BEGIN
namespace {

/// The header that a line includes from tmajit/: "mbarrier.cuh"; nullopt for other lines.
std::optional<std::string_view> included_header(std::string_view line) {
  constexpr std::string_view directive = "#include \"tmajit/";
  if (!line.starts_with(directive)) return std::nullopt;
  line.remove_prefix(directive.size());
  const std::size_t quote = line.find('"');
  if (quote == std::string_view::npos) return std::nullopt;
  return line.substr(0, quote);
}

constexpr std::array folders{"params", "ptx", "device", "kernels"};

struct Header {
  std::size_t folder;  ///< index into `folders`
  std::string text;
};

Header header(std::string_view name) {
  for (std::size_t folder = 0; folder < folders.size(); ++folder) {
    std::string text = template_text(fmt::format("{}/{}", folders.at(folder), name));
    if (!text.empty()) return {folder, std::move(text)};
  }
  std::string known;
  for (const EmbeddedFile& file : embedded_templates()) {
    if (file.path.starts_with("kernels/")) continue;
    known += fmt::format("{}tmajit/{}", known.empty() ? "" : ", ", file.path.substr(file.path.find('/') + 1));
  }
  throw Error(ErrorCode::invalid_argument,
              fmt::format("there is no device header \"tmajit/{}\"; the device headers are {}", name, known));
}

/// `text` with one blank line where removed includes and pragmas left several.
std::string close_gaps(std::string text) {
  for (std::size_t at = 0; (at = text.find("\n\n\n", at)) != std::string::npos;) text.erase(at, 1);
  return text;
}

/// A header's text without blank lines at its beginning and end.
std::string_view trim_blank_lines(std::string_view text) {
  while (text.starts_with('\n')) text.remove_prefix(1);
  while (text.ends_with("\n\n")) text.remove_suffix(1);
  return text;
}

}  // namespace

std::string IncludeExpander::strip(std::string_view text) {
  std::string stripped;
  stripped.reserve(text.size());
  for (const std::string_view line : lines_of(text)) {
    if (const auto header = included_header(line)) {
      add(*header);
    } else if (line != "#pragma once") {
      stripped += line;
    }
    stripped += '\n';
  }
  return stripped;
}

std::string IncludeExpander::kernel(std::string_view file) {
  const std::string path = fmt::format("kernels/{}", file);
  return close_gaps(strip(with_uses(selected(template_text(path), path, flags_))));
}

void IncludeExpander::add(std::string_view name) {
  if (!added_.emplace(name).second) return;
  const auto [folder, text] = header(name);
  std::string chosen = selected(text, fmt::format("{}/{}", folders.at(folder), name), flags_);
  if (!flags_.keeps_all()) chosen = with_uses(chosen);
  const std::string stripped = close_gaps(strip(chosen));
  std::string& part = parts_.at(folder);
  std::string_view rest = trim_blank_lines(stripped);
  if (flags_.keeps_all()) {
    part += fmt::format("\n// ---- tmajit/{} ----\n{}", name, rest);
    return;
  }
  // In a kernel the header's first line is its heading.
  const std::size_t end = rest.find('\n');
  std::string_view title = rest.substr(0, end);
  rest.remove_prefix(end);
  title.remove_prefix(std::min<std::size_t>(3, title.size()));
  if (title.ends_with('.')) title.remove_suffix(1);
  part += fmt::format("\n// ---- {}: {} ----{}", name, title, rest);
}

TMAJIT_END
