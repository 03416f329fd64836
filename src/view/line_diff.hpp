#pragma once

/// The difference of two texts, line by line.
#include <tmajit/version.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

TMAJIT_BEGIN
namespace view {

/// A row of a diff: the index of its line in each text, from 0; `absent` for a text that lacks the line.
struct DiffRow {
  static constexpr std::int32_t absent = -1;
  std::int32_t left = absent;
  std::int32_t right = absent;
  friend bool operator==(const DiffRow&, const DiffRow&) = default;
};

/// Pairs equal lines of two texts in order. Unpaired lines between two pairs come from the left text first.
/// This is a patience diff: it first pairs lines that occur exactly once in each text, then diffs the ranges
/// between them in the same way.
[[nodiscard]] std::vector<DiffRow> diff(const std::vector<std::string>& left,
                                        const std::vector<std::string>& right);

/// The key by which a diff compares a line: its text without the numbers of registers and labels. A key of
/// PTX also lacks the numbers of a `.loc`, of a declaration of registers, and of debug sections. Compilers
/// renumber these after any change, which would hide the other differences.
[[nodiscard]] std::string ptx_key(std::string_view line);
[[nodiscard]] std::string sass_key(std::string_view line);

}  // namespace view
TMAJIT_END
