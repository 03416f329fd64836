#include "report/layout_parts.hpp"
#include "report/text.hpp"
#include "spec/enum_names.hpp"

#include <tmajit/error.hpp>

#include <algorithm>
#include <array>

#include <spdlog/fmt/fmt.h>

TMAJIT_BEGIN
namespace {

constexpr EnumNames<ColourBy, 2> colours{"colour", {"column", "row"}};

/// Columns per unit of 16 bytes; a unit has one colour.
std::uint32_t columns_a_unit(const BoxLayout& box) {
  return layout_unit_bytes / box.element_bytes();
}

/// The layout of the box with another swizzle; nullopt if that is illegal.
std::optional<BoxLayout> with_swizzle(const BoxLayout& box, const std::vector<std::uint32_t>& extents,
                                      Swizzle swizzle) {
  try {
    return BoxLayout(box.type(), extents, swizzle, box.interleave());
  } catch (const SpecError&) {
    return std::nullopt;
  }
}

std::string range(std::uint32_t first, std::uint32_t last) {
  return first == last ? fmt::to_string(first) : fmt::format("{}-{}", first, last);
}

}  // namespace

std::string_view name(ColourBy colour) noexcept {
  return colours.of(colour);
}
template <>
ColourBy parse<ColourBy>(std::string_view text) {
  return colours.parse(text);
}

std::uint32_t colour_of(const LayoutView& view, BoxElement e) {
  const auto number = view.colour == ColourBy::row ? e.row : e.column / columns_a_unit(view.box);
  return number % layout_colours;
}

LineRange lines_of(const LayoutView& view) {
  LineRange range{.all = (view.box.bytes() + layout_line_bytes - 1) / layout_line_bytes};
  const auto most = view.lines == 0 ? range.all : view.lines;
  if (view.shown && most < range.all) {
    const auto& access = view.shown->access;
    const auto least = *std::min_element(access.offsets.begin(), access.offsets.begin() + access.lanes);
    // The first line shown begins a period of the swizzle.
    range.first =
        std::min(least / layout_line_bytes / layout_period_lines * layout_period_lines, range.all - most);
  }
  range.count = std::min(most, range.all - range.first);
  return range;
}

std::string describe_cut(const LayoutView& view) {
  const LineRange range = lines_of(view);
  if (range.count == range.all) return {};
  return fmt::format("lines {} to {} of {}, 128 bytes each{}{}", range.first, range.first + range.count - 1,
                     range.all, view.cut_hint.empty() ? "" : "; ", view.cut_hint);
}

std::vector<PatternConflicts> conflicts_of_patterns(const BoxLayout& box,
                                                    const std::vector<std::uint32_t>& extents) {
  std::array<std::optional<BoxLayout>, layout_swizzles.size()> layouts;
  std::ranges::transform(layout_swizzles, layouts.begin(),
                         [&](Swizzle one) { return with_swizzle(box, extents, one); });
  std::vector<PatternConflicts> table;
  for (const auto pattern : all_access_patterns) {
    for (std::uint32_t width = 1; width <= layout_unit_bytes; width *= 2) {
      if (instructions(box, pattern, width) == 0) continue;
      PatternConflicts line{.pattern = pattern, .width = width, .under = {}};
      for (std::size_t i = 0; i < layouts.size(); ++i) {
        if (layouts[i]) line.under[i] = conflicts(*layouts[i], pattern, width);
      }
      table.push_back(line);
    }
  }
  return table;
}

std::string describe_box(const LayoutView& view) {
  auto text = fmt::format("{} {}, swizzle {}", name(view.box.type()), fmt::join(view.extents, "x"),
                          name(view.box.swizzle()));
  if (view.box.interleave() != Interleave::none)
    text += fmt::format(", interleave {}", name(view.box.interleave()));
  return text;
}

std::string describe_image(const LayoutView& view) {
  const auto& box = view.box;
  const bool slices = box.interleave() != Interleave::none;
  auto text = fmt::format("{} of {} bytes", counted(box.rows(), slices ? "slice" : "row"), box.row_bytes());
  if (box.pitch_bytes() != box.row_bytes()) text += fmt::format(", {} apart", box.pitch_bytes());
  return text + fmt::format(", {}, aligned to {} bytes", describe_bytes(box.bytes()), box.alignment());
}

std::string describe_pattern(AccessPattern pattern, std::uint32_t width) {
  switch (pattern) {
    case AccessPattern::matrix: return "8x8 matrix (ldmatrix)";
    case AccessPattern::matrix_transposed: return "8x8 matrix, transposed (.trans)";
    default: return fmt::format("{}, {} a lane", name(pattern), counted(width, "byte"));
  }
}

std::string describe_conflicts(const std::optional<Conflicts>& conflicts) {
  if (!conflicts) return "–";
  if (conflicts->conflicting == 0) return "none";
  if (conflicts->wavefronts == conflicts->ideal * conflicts->ways)
    return fmt::format("{}-way", conflicts->ways);
  const auto mean = static_cast<double>(conflicts->wavefronts) / static_cast<double>(conflicts->ideal);
  return fmt::format("{}-way, mean {:.2f}", conflicts->ways, mean);
}

std::string describe_access(const ShownAccess& shown) {
  const auto taken = wavefronts(shown.access);
  auto text = fmt::format("{}, instruction {} of {}: {}", describe_pattern(shown.pattern, shown.access.width),
                          shown.number, shown.instructions, counted(taken.needed, "wavefront"));
  if (taken.needed == taken.ideal) return text + ", no conflict";
  return text + fmt::format(" instead of {} ({}-way conflict)", taken.ideal, taken.ways);
}

std::string describe_colour(const LayoutView& view, std::uint32_t number) {
  const bool by_row = view.colour == ColourBy::row;
  const auto per_colour = by_row ? 1 : columns_a_unit(view.box);
  const auto count = by_row ? view.box.rows() : view.box.columns();
  const auto period = per_colour * layout_colours;
  const auto first = number * per_colour;
  if (first >= count) return {};
  auto text = range(first, std::min(first + per_colour, count) - 1);
  if (first + period < count) {
    text += ", " + range(first + period, std::min(first + period + per_colour, count) - 1);
    if (first + 2 * period < count) text += " …";
  }
  return text;
}

TMAJIT_END
