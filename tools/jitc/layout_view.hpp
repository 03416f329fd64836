#pragma once

#include <tmajit/bank_conflicts.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace jitc {

/// Bytes that the 32 banks give at once: a line of a picture.
inline constexpr std::uint32_t line_bytes = tmajit::shared_banks * tmajit::bank_bytes;
/// What a swizzle moves as one.
inline constexpr std::uint32_t unit_bytes = 16;
inline constexpr std::uint32_t units_a_line = line_bytes / unit_bytes;
/// Colours of a picture; what they stand for repeats after as many.
inline constexpr std::uint32_t picture_colours = 8;

/// What the colour of an element tells.
enum class ColourBy { column, row };

/// One instruction of a warp, drawn over the tile.
struct ShownAccess {
  tmajit::AccessPattern pattern;
  std::uint32_t number;        ///< of the pattern's instructions
  std::uint32_t instructions;  ///< that the pattern has
  tmajit::WarpAccess access;
};

inline constexpr std::array all_swizzles{tmajit::Swizzle::none, tmajit::Swizzle::b32, tmajit::Swizzle::b64,
                                         tmajit::Swizzle::b128};

struct PatternConflicts {
  tmajit::AccessPattern pattern;
  std::uint32_t width;  ///< bytes a lane
  /// Under each of all_swizzles; none where the box is illegal under it.
  std::array<std::optional<tmajit::Conflicts>, all_swizzles.size()> under;
};

/// Everything that a picture of a box shows, as text or as SVG.
struct LayoutView {
  tmajit::BoxLayout box;
  std::vector<std::uint32_t> extents;  ///< of the box, as the user gave them
  ColourBy colour = ColourBy::column;
  std::optional<ShownAccess> shown = {};
  std::uint32_t lines = 0;  ///< at most; 0: all
  std::vector<PatternConflicts> patterns = {};

  /// Which of the picture's colours element `e` has.
  [[nodiscard]] std::uint32_t colour_of(tmajit::BoxElement e) const;
};

/// The lines of a picture: those from the first that is shown on.
struct LineRange {
  std::uint32_t first = 0;
  std::uint32_t count = 0;
  std::uint32_t all = 0;  ///< of the tile
};
/// From the tile's beginning, or from where the shown access begins.
[[nodiscard]] LineRange lines_of(const LayoutView& view);
/// "lines 32 to 63 of 64 lie here …", empty if all are shown.
[[nodiscard]] std::string describe_cut(const LineRange& range);

/// Conflicts of every pattern that can go over the box, under every swizzle.
[[nodiscard]] std::vector<PatternConflicts> conflicts_of_patterns(const tmajit::BoxLayout& box,
                                                                  const std::vector<std::uint32_t>& extents);

/// "bf16 64x64, swizzle 128B"
[[nodiscard]] std::string describe_box(const LayoutView& view);
/// "64 rows of 128 bytes, 8.0 KiB, aligned to 1024 bytes"
[[nodiscard]] std::string describe_image(const LayoutView& view);
/// "column, 4 bytes a lane"
[[nodiscard]] std::string describe_pattern(tmajit::AccessPattern pattern, std::uint32_t width);
/// "none", "8-way", "2-way, mean 1.25"; "–" if there is none.
[[nodiscard]] std::string describe_conflicts(const std::optional<tmajit::Conflicts>& conflicts);
/// "column, 2 bytes a lane, instruction 0 of 128: 4 wavefronts instead of 1 (4-way conflict)"
[[nodiscard]] std::string describe_access(const ShownAccess& shown);
/// The columns or rows of the elements of colour `number`: "0-7", "0, 8 …". Empty if no element has it.
[[nodiscard]] std::string describe_colour(const LayoutView& view, std::uint32_t number);

/// The tile as a table of 128-byte lines, in units of 16 bytes or in banks where `width` columns are wide
/// enough; then what the patterns cost. With `colour` cells have coloured backgrounds (ANSI, 256 colours).
[[nodiscard]] std::string layout_text(const LayoutView& view, std::size_t width, bool colour);

/// The tile as a picture of its own, for a browser or a README: 128-byte lines by 32 banks, a legend, and a
/// table of what the patterns cost.
[[nodiscard]] std::string layout_svg(const LayoutView& view);

}  // namespace jitc
