#pragma once

/// The difference of two texts, line by line.
#include <tmajit/version.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

TMAJIT_BEGIN
namespace view {

/// A row of a diff: the line's index in each text, from 0; `absent` in a text without it.
struct DiffRow {
  static constexpr std::int32_t absent = -1;
  std::int32_t left = absent;
  std::int32_t right = absent;
  friend bool operator==(const DiffRow&, const DiffRow&) = default;
};

/// Pairs equal lines of two texts in order. Between two pairs the left text's lines come first. Lines are
/// paired along those that both texts have exactly once (patience diff), and from there to both sides.
[[nodiscard]] std::vector<DiffRow> diff(const std::vector<std::string>& left,
                                        const std::vector<std::string>& right);

/// A line without numbers of registers and labels. In PTX also without the numbers of a `.loc`, of a
/// declaration of registers, and in debug sections. Compilers renumber these after any change, so that they
/// would hide the differences that matter.
[[nodiscard]] std::string ptx_key(std::string_view line);
[[nodiscard]] std::string sass_key(std::string_view line);

}  // namespace view
TMAJIT_END
