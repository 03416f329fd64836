#include "codegen/include_expander.hpp"

#include "codegen/templates.hpp"

#include <tmajit/error.hpp>

#include <optional>

#include <spdlog/fmt/fmt.h>

TMAJIT_BEGIN
namespace {

/// The header that an include line of ours names: "mbarrier.cuh".
std::optional<std::string_view> included_header(std::string_view line) {
  constexpr std::string_view directive = "#include \"tmajit/";
  if (!line.starts_with(directive)) return std::nullopt;
  line.remove_prefix(directive.size());
  const std::size_t quote = line.find('"');
  if (quote == std::string_view::npos) return std::nullopt;
  return line.substr(0, quote);
}

std::string header_text(std::string_view name) {
  for (const char* folder : {"ptx", "device", "kernels"}) {
    if (std::string text = template_text(fmt::format("{}/{}", folder, name)); !text.empty()) return text;
  }
  std::string known;
  for (const EmbeddedFile& file : embedded_templates()) {
    if (file.path.starts_with("kernels/")) continue;
    known += fmt::format("{}tmajit/{}", known.empty() ? "" : ", ", file.path.substr(file.path.find('/') + 1));
  }
  throw Error(ErrorCode::invalid_argument,
              fmt::format("there is no device header \"tmajit/{}\"; the device headers are {}", name, known));
}

/// A header's text without the lines that only mattered while it was a file.
std::string_view trim_blank_lines(std::string_view text) {
  while (text.starts_with('\n')) text.remove_prefix(1);
  while (text.ends_with("\n\n")) text.remove_suffix(1);
  return text;
}

}  // namespace

std::string close_gaps(std::string text) {
  for (std::size_t at = 0; (at = text.find("\n\n\n", at)) != std::string::npos;) text.erase(at, 1);
  return text;
}

std::string IncludeExpander::strip(std::string_view text) {
  std::string own;
  own.reserve(text.size());
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    if (const auto header = included_header(line)) {
      add(*header);
    } else if (line != "#pragma once") {
      own += line;
    }
    own += '\n';
  }
  return own;
}

void IncludeExpander::add(std::string_view named) {
  const std::string name = rank_ != 0 && named == "bulk_tensor.cuh"
                               ? fmt::format("bulk_tensor_{}d.cuh", rank_)
                               : std::string(named);
  if (!done_.insert(name).second) return;
  const std::string text = close_gaps(strip(header_text(name)));
  headers_ += fmt::format("\n// ---- tmajit/{} ----\n{}", name, trim_blank_lines(text));
}

TMAJIT_END
