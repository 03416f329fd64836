#include "codegen/header_search.hpp"

#include "codegen/directives.hpp"
#include "codegen/limits_text.hpp"
#include "files/files.hpp"

#include <tmajit/codegen.hpp>
#include <tmajit/error.hpp>

#include <algorithm>
#include <cctype>
#include <limits>
#include <optional>
#include <system_error>
#include <utility>

#include <spdlog/fmt/fmt.h>

TMAJIT_BEGIN
namespace {

namespace fs = std::filesystem;

/// Headers of the C library that CUDA's headers include and NVRTC lacks. The 64-bit types agree with those of
/// libcu++ (cuda/std/cstdint), which a text may include as well.
constexpr std::string_view integer_types =
    "#pragma once\n"
    "typedef signed char int8_t;\ntypedef unsigned char uint8_t;\n"
    "typedef short int16_t;\ntypedef unsigned short uint16_t;\n"
    "typedef int int32_t;\ntypedef unsigned int uint32_t;\n"
    "typedef long long int64_t;\ntypedef unsigned long long uint64_t;\n"
    "typedef int64_t intptr_t;\ntypedef uint64_t uintptr_t;\n";
constexpr std::string_view empty_header = "#pragma once\n";
constexpr std::pair<std::string_view, std::string_view> c_library_headers[] = {
    {"stdint.h", integer_types}, {"cstdint", integer_types}, {"stddef.h", empty_header},
    {"cstddef", empty_header},   {"stdlib.h", empty_header}, {"cstdlib", empty_header},
    {"string.h", empty_header},  {"cstring", empty_header},  {"assert.h", empty_header},
    {"cassert", empty_header},   {"stdio.h", empty_header},  {"cstdio", empty_header},
};
/// The header of limit_macros() for each C and C++ header that defines such macros.
constexpr std::pair<std::string_view, std::string_view> headers_of_macros[] = {
    {"math.h", "math.h"},  {"cmath", "math.h"},      {"float.h", "float.h"},
    {"cfloat", "float.h"}, {"limits.h", "limits.h"}, {"climits", "limits.h"},
};

/// The replacement of a C or C++ library header that no include folder has; nullopt for other headers.
std::optional<std::string> library_header(std::string_view name) {
  using Pair = std::pair<std::string_view, std::string_view>;
  if (name == "limits") {
    return fmt::format("#pragma once\nnamespace std {{\n\n{}\n}}  // namespace std\n", numeric_limits_text());
  }
  const auto* const macros = std::ranges::find(headers_of_macros, name, &Pair::first);
  if (macros != std::end(headers_of_macros)) return macro_header(macros->second);
  const auto* const own = std::ranges::find(c_library_headers, name, &Pair::first);
  return own == std::end(c_library_headers) ? std::nullopt : std::optional(std::string(own->second));
}

bool is_file(const fs::path& path) {
  std::error_code ignored;
  return fs::is_regular_file(path, ignored);
}

std::string_view trimmed(std::string_view text) {
  const auto is_space = [](char c) { return c == ' ' || c == '\t' || c == '\r'; };
  while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
  return text;
}

/// Removes an identifier from the front of `text`, and returns it.
std::string_view take_name(std::string_view& text) {
  const auto end =
      std::ranges::find_if_not(text, [](unsigned char c) { return std::isalnum(c) != 0 || c == '_'; });
  const std::string_view name = text.substr(0, static_cast<std::size_t>(end - text.begin()));
  text.remove_prefix(name.size());
  return name;
}

/// Removes "(…)" from the front of `text` and returns the text inside; empty if `text` does not begin with
/// it.
std::string_view take_brackets(std::string_view& text) {
  if (!text.starts_with('(')) return {};
  const std::size_t end = text.find(')');
  if (end == text.npos) return {};
  const std::string_view inside = text.substr(1, end - 1);
  text.remove_prefix(end + 1);
  return trimmed(inside);
}

/// `body` with each whole word `parameter` replaced by `value`.
std::string replaced(std::string_view body, std::string_view parameter, std::string_view value) {
  std::string out;
  while (!body.empty()) {
    const std::string_view word = take_name(body);
    out += !word.empty() && word == parameter ? value : word;
    if (word.empty()) {
      out += body.front();
      body.remove_prefix(1);
    }
  }
  return out;
}

/// Whether a macro's body can be a header's name or a part of its path: <cuda/std/tuple>, detail/cuda.
bool is_part_of_name(std::string_view text) {
  if (text.starts_with('<') || text.starts_with('"')) return true;
  const auto fits = [](unsigned char c) {
    return std::isalnum(c) != 0 || c == '_' || c == '/' || c == '.' || c == '-';
  };
  return !text.empty() && std::isdigit(static_cast<unsigned char>(text.front())) == 0 &&
         std::ranges::all_of(text, fits);
}

constexpr std::uint32_t max_nested = 8;  ///< depth of nested macros
constexpr std::size_t max_names = 64;    ///< names that one #include expands to

}  // namespace

HeaderSearch::HeaderSearch(const SourceHeaders& given, const std::vector<fs::path>& folders)
    : given_(given.begin(), given.end()), folders_(folders) {
  for (const fs::path& folder : folders) {
    std::error_code ignored;
    if (fs::is_directory(folder, ignored)) continue;
    throw Error(ErrorCode::io, fmt::format("the include folder {} is no folder", folder.string()));
  }
  for (auto& [name, text] : device_headers()) given_.emplace(name, std::move(text));
}

SourceHeaders HeaderSearch::headers() const {
  SourceHeaders headers;
  headers.reserve(found_.size());
  for (const auto& [name, found] : found_) headers.emplace_back(name, found.text);
  return headers;
}

void HeaderSearch::scan(std::string_view text, const fs::path& folder) {
  for (std::string_view line : lines_of(text)) {
    line = trimmed(line);
    if (!line.starts_with('#')) continue;
    line = trimmed(line.substr(1));
    const std::string_view directive = take_name(line);
    if (directive == "include") include(trimmed(line), folder);
    if (directive == "define") define(trimmed(line));
  }
}

void HeaderSearch::define(std::string_view rest) {
  const std::string_view name = take_name(rest);
  const std::string_view parameter = take_brackets(rest);
  rest = trimmed(rest);
  if (is_part_of_name(rest)) macros_.emplace(name, Macro{std::string(parameter), std::string(rest)});
}

void HeaderSearch::include(std::string_view rest, const fs::path& folder) {
  if (rest.starts_with('<') || rest.starts_with('"')) return include_name(rest, folder);
  // The expansions are computed first: definitions in these headers do not change them.
  for (const std::string& name : expanded(rest, 0)) include_name(name, folder);
}

std::vector<std::string> HeaderSearch::expanded(std::string_view text, std::uint32_t depth) const {
  std::vector<std::string> all{{}};
  while (!text.empty()) {
    const std::string_view word = take_name(text);
    std::vector<std::string> words;
    const auto [begin, end] = macros_.equal_range(word);
    if (begin != end && depth < max_nested) {
      const std::string_view argument = take_brackets(text);
      for (auto at = begin; at != end; ++at) {
        for (std::string& expansion :
             expanded(replaced(at->second.body, at->second.parameter, argument), depth + 1))
          words.push_back(std::move(expansion));
      }
    } else {
      words.emplace_back(word);
    }
    if (word.empty()) {
      words.back() = text.front();
      text.remove_prefix(1);
    }
    std::vector<std::string> longer;
    for (const std::string& first : all) {
      for (const std::string& second : words) {
        if (longer.size() < max_names) longer.push_back(first + second);
      }
    }
    all = std::move(longer);
  }
  return all;
}

void HeaderSearch::include_name(std::string_view rest, const fs::path& folder) {
  const bool quoted = rest.starts_with('"');
  const std::size_t end = rest.find(quoted ? '"' : '>', 1);
  if (end != rest.npos) add(std::string(rest.substr(1, end - 1)), quoted, folder);
}

void HeaderSearch::add(const std::string& name, bool quoted, const fs::path& folder) {
  if (const auto given = given_.find(name); given != given_.end()) {
    if (found_.emplace(name, Found{{}, given->second}).second) scan(given->second, {});
    return;
  }
  const fs::path path = find(name, quoted, folder);
  if (path.empty()) {
    if (auto own = library_header(name)) found_.emplace(name, Found{{}, std::move(*own)});
    return;
  }
  const auto [at, is_new] = found_.emplace(name, Found{path, {}});
  if (!is_new) {
    std::error_code ignored;
    if (at->second.path == path || fs::equivalent(at->second.path, path, ignored)) return;
    throw Error(
        ErrorCode::invalid_argument,
        fmt::format("\"{}\" is included for {} and for {}; a compiler that reads no files cannot tell "
                    "them apart: include one of them by a longer name",
                    name, at->second.path.string(), path.string()));
  }
  std::error_code error;
  std::string text = read_file(path, std::numeric_limits<std::uint64_t>::max(), error);
  if (error) {
    throw Error(ErrorCode::io,
                fmt::format("the header {} cannot be read: {}", path.string(), error.message()));
  }
  at->second.text = std::move(text);
  scan(at->second.text, path.parent_path());
}

fs::path HeaderSearch::find(const std::string& name, bool quoted, const fs::path& folder) const {
  if (quoted && !folder.empty() && is_file(folder / name)) return folder / name;
  for (const fs::path& include_folder : folders_) {
    if (is_file(include_folder / name)) return include_folder / name;
  }
  return {};
}

TMAJIT_END
