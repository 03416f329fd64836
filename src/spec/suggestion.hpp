#pragma once

#include <tmajit/version.hpp>

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>

#include <llvm/ADT/StringExtras.h>
#include <llvm/ADT/StringRef.h>

TMAJIT_BEGIN

/// The end of an error about an unknown name: "; did you mean bf16?". Suggests the string in `names` that is
/// the fewest edits away from `text`, ignoring case. Empty if all are more than one edit per three characters
/// away.
template <typename Names>
[[nodiscard]] std::string suggestion(std::string_view text, const Names& names) {
  const std::string typed = llvm::StringRef(text).lower();
  // Only letters and digits count, not the dashes of an option.
  const auto characters = std::count_if(typed.begin(), typed.end(), llvm::isAlnum);
  const auto max_edits = static_cast<unsigned>(std::max<std::ptrdiff_t>(characters / 3, 1));
  std::string_view nearest;
  unsigned fewest = max_edits + 1;
  for (const std::string_view name : names) {
    const std::string known = llvm::StringRef(name).lower();
    unsigned edits = llvm::StringRef(typed).edit_distance(known);
    // Two transposed letters count as one slip, though they are two edits.
    if (edits == 2 && std::is_permutation(typed.begin(), typed.end(), known.begin(), known.end())) edits = 1;
    // A name of one letter is one edit away from every other.
    if (edits >= fewest || edits >= name.size()) continue;
    fewest = edits;
    nearest = name;
  }
  return nearest.empty() ? std::string() : "; did you mean " + std::string(nearest) + "?";
}

TMAJIT_END
