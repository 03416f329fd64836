#pragma once

#include <tmajit/report/layout.hpp>

#include <cstdint>
#include <optional>
#include <string>

TMAJIT_BEGIN

/// Bytes that the 32 banks serve at once: a line of a picture.
inline constexpr std::uint32_t layout_line_bytes = shared_banks * bank_bytes;
/// Bytes that a swizzle moves as one unit.
inline constexpr std::uint32_t layout_unit_bytes = 16;
inline constexpr std::uint32_t layout_units_a_line = layout_line_bytes / layout_unit_bytes;
/// Lines after which the pattern of a swizzle repeats.
inline constexpr std::uint32_t layout_period_lines = 8;
/// Number of colours of a picture. Further columns or rows repeat them.
inline constexpr std::uint32_t layout_colours = 8;

/// The number of the colour of element `e`.
[[nodiscard]] std::uint32_t colour_of(const LayoutView& view, BoxElement e);

/// The lines that a picture shows.
struct LineRange {
  std::uint32_t first = 0;
  std::uint32_t count = 0;
  std::uint32_t all = 0;  ///< lines of the tile
};
/// The lines of the view: from the tile's beginning, or from the beginning of the shown access.
[[nodiscard]] LineRange lines_of(const LayoutView& view);
/// "lines 32 to 63 of 64, 128 bytes each", then LayoutView::cut_hint; empty if all lines are shown.
[[nodiscard]] std::string describe_cut(const LayoutView& view);

/// "column, 4 bytes a lane"
[[nodiscard]] std::string describe_pattern(AccessPattern pattern, std::uint32_t width);
/// "none", "8-way", "2-way, mean 1.25"; "–" for nullopt.
[[nodiscard]] std::string describe_conflicts(const std::optional<Conflicts>& conflicts);
/// "column, 2 bytes a lane, instruction 0 of 128: 4 wavefronts instead of 1 (4-way conflict)"
[[nodiscard]] std::string describe_access(const ShownAccess& shown);
/// The columns or rows of the elements of colour `number`: "0-7", "0, 8 …". Empty if no element has it.
[[nodiscard]] std::string describe_colour(const LayoutView& view, std::uint32_t number);

TMAJIT_END
