#pragma once

#include <tmajit/bank_conflicts.hpp>
#include <tmajit/names.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

TMAJIT_BEGIN

/// The property of an element that its colour shows.
enum class ColourBy { column, row };
[[nodiscard]] TMAJIT_API std::string_view name(ColourBy colour) noexcept;
template <>
[[nodiscard]] TMAJIT_API ColourBy parse<ColourBy>(std::string_view name);

/// One instruction of a warp, drawn over the tile.
struct ShownAccess {
  AccessPattern pattern;
  std::uint32_t number;        ///< number of the instruction in the pattern, from 0
  std::uint32_t instructions;  ///< instructions of the pattern
  WarpAccess access;
};

/// The swizzles whose bank conflicts are compared, in the order of PatternConflicts::under.
inline constexpr std::array layout_swizzles{Swizzle::none, Swizzle::b32, Swizzle::b64, Swizzle::b128};

/// The bank conflicts of one access pattern.
struct PatternConflicts {
  AccessPattern pattern;
  std::uint32_t width;  ///< bytes a lane
  /// Conflicts under each of layout_swizzles; nothing for a swizzle under which the box is illegal.
  std::array<std::optional<Conflicts>, layout_swizzles.size()> under;
};

/// Everything that a picture of a box in shared memory shows, as text, SVG or JSON.
struct LayoutView {
  BoxLayout box;
  std::vector<std::uint32_t> extents;  ///< extents of the box, outermost first, as given to BoxLayout
  ColourBy colour = ColourBy::column;
  std::optional<ShownAccess> shown = {};
  std::uint32_t lines = 0;  ///< lines of 128 bytes to show, at most; 0: all
  std::vector<PatternConflicts> patterns = {};
  std::string cut_hint = {};  ///< advice, shown if lines are left out, how to show all lines; or empty
};

/// Conflicts of every pattern that can cover the box, under every swizzle. `extents` are those from which
/// `box` was made.
[[nodiscard]] TMAJIT_API std::vector<PatternConflicts> conflicts_of_patterns(
    const BoxLayout& box, const std::vector<std::uint32_t>& extents);

/// "bf16 64x64, swizzle 128B"
[[nodiscard]] TMAJIT_API std::string describe_box(const LayoutView& view);
/// "64 rows of 128 bytes, 8.0 KiB, aligned to 1024 bytes"
[[nodiscard]] TMAJIT_API std::string describe_image(const LayoutView& view);

/// The tile as a table of 128-byte lines, by banks if `width` columns are wide enough, else by units of 16
/// bytes; then the patterns' costs. With `colour` cells have coloured backgrounds (ANSI, 256 colours).
[[nodiscard]] TMAJIT_API std::string layout_text(const LayoutView& view, std::size_t width, bool colour);

/// The tile as a stand-alone SVG picture for a browser or a README: 128-byte lines by 32 banks, a legend, and
/// a table of the patterns' costs.
[[nodiscard]] TMAJIT_API std::string layout_svg(const LayoutView& view);

/// The tile as one JSON object on one line: the position of each unit of 16 bytes, the patterns' costs, and
/// the lanes of the shown access. docs/layout.md lists the keys.
[[nodiscard]] TMAJIT_API std::string layout_json(const LayoutView& view);

TMAJIT_END
