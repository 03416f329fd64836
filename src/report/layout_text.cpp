#include "report/layout_parts.hpp"
#include "report/text.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <span>
#include <string_view>

#include <spdlog/fmt/fmt.h>

TMAJIT_BEGIN
namespace {

/// Backgrounds for black text, in the order of the rainbow (xterm's 256 colours).
constexpr std::array<int, layout_colours> backgrounds{217, 223, 229, 193, 158, 153, 183, 225};

/// The text of a cell, made from its first element.
using Label = std::function<std::string(BoxElement)>;

struct Grid {
  std::uint32_t cell_bytes = layout_unit_bytes;
  std::string_view description;  ///< what the label is, for the legend
  Label label;
  std::size_t cell_width = 0;

  [[nodiscard]] std::uint32_t cells() const { return layout_line_bytes / cell_bytes; }
  [[nodiscard]] std::size_t columns() const { return cells() * cell_width + layout_units_a_line; }
};

/// "0-7", "5", or "0…24" if lanes are missing in between.
std::string lanes_text(std::span<const std::uint32_t> lanes) {
  if (lanes.empty()) return "·";
  if (lanes.size() == 1) return fmt::to_string(lanes.front());
  const bool all = lanes.back() - lanes.front() + 1 == lanes.size();
  return fmt::format("{}{}{}", lanes.front(), all ? "-" : "…", lanes.back());
}

/// Lanes of the shown access that read or write any of the `bytes` bytes at `offset`.
std::vector<std::uint32_t> lanes_at(const LayoutView& view, std::uint32_t offset, std::uint32_t bytes) {
  std::vector<std::uint32_t> lanes;
  const auto& access = view.shown->access;
  for (std::uint32_t lane = 0; lane < access.lanes; ++lane) {
    const auto begin = access.offsets[lane];
    if (begin < offset + bytes && offset < begin + access.width) lanes.push_back(lane);
  }
  return lanes;
}

class Painter {
 public:
  Painter(const LayoutView& view, std::size_t width, bool colour)
      : view_(view), range_(lines_of(view)), width_(std::max<std::size_t>(width, 20)), colour_(colour) {
    offset_width_ = fmt::formatted_size("{:#06x}", (range_.first + range_.count) * layout_line_bytes) + 1;
    choose_grid();
  }

  [[nodiscard]] std::string grid() const {
    auto text = header();
    for (std::uint32_t line = range_.first; line < range_.first + range_.count; ++line) text += row(line);
    if (const auto cut = describe_cut(view_); !cut.empty()) text += wrapped(cut);
    return text;
  }

  /// Explains a cell's text and colour.
  [[nodiscard]] std::string legend() const {
    auto words = fmt::format("a cell: {} bytes, {}", grid_.cell_bytes,
                             view_.shown ? "the lanes that touch it" : grid_.description);
    if (view_.box.extents().size() > 2 && !view_.shown)
      words += "; a row is all dimensions but the innermost, row-major";
    std::string text = wrapped(words);
    if (!colour_) return text;
    text += view_.colour == ColourBy::row ? "row    " : "column ";
    std::size_t column = 7;
    for (std::uint32_t i = 0; i < layout_colours; ++i) {
      const auto what = describe_colour(view_, i);
      if (what.empty()) continue;
      if (column + width_of(what) + 2 > width_) {
        text += "\n       ";
        column = 7;
      }
      text += painted(fmt::format(" {} ", what), i) + ' ';
      column += width_of(what) + 3;
    }
    return text + '\n';
  }

  [[nodiscard]] std::string wrapped(std::string_view words) const {
    std::string text;
    for (const auto& line : wrap(words, width_)) text += line + '\n';
    return text;
  }

 private:
  void choose_grid() {
    const auto elements = [&](std::uint32_t bytes) {
      return std::max(bytes / view_.box.element_bytes(), 1U);
    };
    const auto place = [](BoxElement e) { return fmt::format("{}:{}", e.row, e.column); };
    const auto span = [n = elements(layout_unit_bytes)](BoxElement e) {
      return fmt::format("{}:{}-{}", e.row, e.column, e.column + n - 1);
    };
    const auto column = [](BoxElement e) { return fmt::to_string(e.column); };
    const std::array choices{Grid{bank_bytes, "row:column of its elements", place},
                             Grid{layout_unit_bytes, "row:columns of its elements", span},
                             Grid{layout_unit_bytes, "row:column of its first element", place},
                             Grid{layout_unit_bytes, "column of its first element", column}};
    for (const auto& choice : choices) {
      grid_ = choice;
      // An element wider than a bank would be in two cells.
      if (choice.cell_bytes < view_.box.element_bytes()) continue;
      grid_.cell_width = widest_label(choice) + 1;
      if (offset_width_ + grid_.columns() <= width_) break;
    }
  }

  [[nodiscard]] std::size_t widest_label(const Grid& grid) const {
    const BoxElement last{
        .row = view_.box.rows() - 1,
        .column = view_.box.columns() - std::max(grid.cell_bytes / view_.box.element_bytes(), 1U)};
    constexpr std::size_t lanes = 5;  // "16-31"
    constexpr std::size_t bank = 2;
    return std::max(view_.shown ? lanes : width_of(grid.label(last)), bank);
  }

  [[nodiscard]] std::string header() const {
    std::string text = fmt::format("{:<{}}", "bank", offset_width_);
    for (std::uint32_t cell = 0; cell < grid_.cells(); ++cell) {
      const auto first = cell * grid_.cell_bytes / bank_bytes;
      const auto last = first + grid_.cell_bytes / bank_bytes - 1;
      const auto banks = fmt::format("{}-{}", first, last);
      const bool one = first == last || width_of(banks) >= grid_.cell_width;
      text += padded(one ? fmt::to_string(first) : banks);
      if (ends_unit(cell)) text += ' ';
    }
    return trimmed(std::move(text));
  }

  [[nodiscard]] std::string row(std::uint32_t line) const {
    std::string text = fmt::format("{:<{}}", fmt::format("{:#06x}", line * layout_line_bytes), offset_width_);
    for (std::uint32_t cell = 0; cell < grid_.cells(); ++cell) {
      text += this->cell(line * layout_line_bytes + cell * grid_.cell_bytes);
      if (ends_unit(cell)) text += ' ';
    }
    return trimmed(std::move(text));
  }

  [[nodiscard]] std::string cell(std::uint32_t offset) const {
    const auto element = view_.box.element(offset);
    if (!element) return padded("");
    if (!view_.shown) return painted(padded(grid_.label(*element)), colour_of(view_, *element));
    const auto lanes = lanes_at(view_, offset, grid_.cell_bytes);
    const auto text = padded(lanes_text(lanes));
    return lanes.empty() ? text : painted(text, colour_of(view_, *element));
  }

  [[nodiscard]] bool ends_unit(std::uint32_t cell) const {
    return (cell + 1) * grid_.cell_bytes % layout_unit_bytes == 0;
  }

  [[nodiscard]] std::string padded(const std::string& text) const {
    return std::string(grid_.cell_width - std::min(grid_.cell_width, width_of(text)), ' ') + text;
  }

  [[nodiscard]] std::string painted(const std::string& text, std::uint32_t number) const {
    if (!colour_) return text;
    return fmt::format("\x1b[38;5;16;48;5;{}m{}\x1b[0m", backgrounds[number], text);
  }

  static std::string trimmed(std::string text) {
    text.erase(text.find_last_not_of(' ') + 1);
    return text + '\n';
  }

  const LayoutView& view_;
  LineRange range_;
  std::size_t width_;
  bool colour_;
  std::size_t offset_width_ = 0;
  Grid grid_;
};

/// The banks that serve the most words of the shown access.
std::string busiest_banks(const ShownAccess& shown) {
  const auto words = words_of_banks(shown.access);
  const auto most = *std::max_element(words.begin(), words.end());
  std::vector<std::size_t> banks;
  for (std::size_t bank = 0; bank < words.size(); ++bank) {
    if (words[bank] == most) banks.push_back(bank);
  }
  return fmt::format("bank{} {}: {} words", banks.size() == 1 ? "" : "s", fmt::join(banks, ", "), most);
}

std::string conflict_table(const LayoutView& view, std::size_t width) {
  Rows rows{{"BANK CONFLICTS"}};
  if (view.patterns.empty()) return {};
  for (const auto swizzle : layout_swizzles) {
    rows[0].push_back(fmt::format("{}{}", name(swizzle), swizzle == view.box.swizzle() ? " *" : ""));
  }
  for (const auto& pattern : view.patterns) {
    rows.push_back({describe_pattern(pattern.pattern, pattern.width)});
    for (const auto& conflicts : pattern.under) rows.back().push_back(describe_conflicts(conflicts));
  }
  return format_table(rows, width) + "* this swizzle; – the box is illegal under it\n";
}

}  // namespace

std::string layout_text(const LayoutView& view, std::size_t width, bool colour) {
  const Painter painter(view, width, colour);
  auto text = painter.wrapped(fmt::format("{}: {}", describe_box(view), describe_image(view))) + '\n';
  if (view.shown) {
    text += painter.wrapped(describe_access(*view.shown));
    const auto taken = wavefronts(view.shown->access);
    if (taken.needed > taken.ideal) text += painter.wrapped(busiest_banks(*view.shown));
    text += '\n';
  }
  return text + painter.grid() + painter.legend() + '\n' + conflict_table(view, width);
}

TMAJIT_END
