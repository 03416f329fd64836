#include "compile/excerpt.hpp"

#include <algorithm>

#include <llvm/ADT/StringRef.h>
#include <llvm/Support/Unicode.h>

TMAJIT_BEGIN

namespace {

constexpr std::size_t window = 96;  ///< bytes shown of a longer line

bool continues_character(char c) {
  return (static_cast<unsigned char>(c) & 0xC0) == 0x80;
}

/// Terminal columns of `text`; bytes where it is not printable UTF-8.
std::size_t columns(std::string_view text) {
  const int width = llvm::sys::unicode::columnWidthUTF8({text.data(), text.size()});
  return width < 0 ? text.size() : static_cast<std::size_t>(width);
}

}  // namespace

std::string excerpt(std::string_view line, std::size_t offset) {
  offset = std::min(offset, line.size());
  std::size_t begin = 0;
  std::size_t end = line.size();
  if (line.size() > window) {
    begin = std::min(offset - std::min(offset, window / 2), line.size() - window);
    end = begin + window;
    while (begin > 0 && continues_character(line[begin])) --begin;
    while (end < line.size() && continues_character(line[end])) ++end;
  }
  const std::string_view lead = begin > 0 ? "…" : "";
  // A tab or an unprintable character takes one column, so that the caret stays under its character.
  std::string shown(line.substr(begin, end - begin));
  std::replace_if(
      shown.begin(), shown.end(), [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7F; },
      ' ');
  const auto before = std::string_view(shown).substr(0, offset - begin);
  std::string result("  ");
  result.append(lead).append(shown).append(end < line.size() ? "…" : "").append("\n  ");
  result.append(columns(lead) + columns(before), ' ').append("^");
  return result;
}

TMAJIT_END
