#include "codegen/definitions.hpp"

#include "codegen/directives.hpp"
#include "codegen/repetition.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

#include <spdlog/fmt/fmt.h>

TMAJIT_BEGIN
namespace {

/// A line without its comment and trailing blanks.
std::string_view code_of(std::string_view line) {
  line = line.substr(0, line.find("//"));
  return line.substr(0, line.find_last_not_of(' ') + 1);
}

/// The position after the parentheses that begin at `at`.
std::size_t after_parentheses(std::string_view text, std::size_t at) {
  int depth = 0;
  while (at < text.size()) {
    const char c = text[at++];
    depth += c == '(' ? 1 : c == ')' ? -1 : 0;
    if (depth == 0) break;
  }
  return at;
}

/// Returns the name that a definition declares; empty where code cannot name it. Template parameters,
/// arguments and alignas are skipped.
std::string_view declared_name(std::string_view text) {
  std::string_view name;
  int angles = 0;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t first = at;
    while (at < text.size() && is_name_character(text[at])) ++at;
    if (at > first && text.substr(first, at - first) == "alignas") {
      at = after_parentheses(text, at);
      continue;
    }
    if (at > first) {
      const bool is_type = name == "struct" || name == "class" || name == "using";
      if (angles == 0) name = text.substr(first, at - first);
      if (is_type && angles == 0) break;
      continue;
    }
    const char c = text[at++];
    angles += c == '<' ? 1 : c == '>' ? -1 : 0;
    if (angles == 0 && (c == '(' || c == '=' || c == '{' || c == ';')) break;
  }
  return name == "static_assert" || name == "operator" ? std::string_view() : name;
}

bool begins_definition(std::string_view line) {
  return !line.empty() && (is_name_character(line.front()) || line.starts_with("[[")) &&
         !line.starts_with("namespace ");
}

}  // namespace

std::string with_uses(std::string_view text) {
  std::string out;
  std::string comments;
  std::string definition;
  std::ptrdiff_t depth = 0;
  for (const std::string_view line : lines_of(text)) {
    if (definition.empty() && !begins_definition(line)) {
      const bool is_comment = line.starts_with("//") && !line.starts_with("//@") && !line.ends_with(" ----");
      if (!is_comment) out += std::exchange(comments, {});
      (is_comment ? comments : out).append(line).append("\n");
      continue;
    }
    definition.append(line).append("\n");
    const std::string_view code = code_of(line);
    depth += std::ranges::count(code, '{') - std::ranges::count(code, '}');
    if (depth > 0 || (!code.ends_with(';') && !code.ends_with('}'))) continue;
    const std::string_view name = declared_name(definition);
    out += name.empty() ? comments + definition
                        : fmt::format("//@ used {}\n{}{}//@ end\n", name, comments, definition);
    comments.clear();
    definition.clear();
  }
  return out + comments + definition;
}

TMAJIT_END
