#include "report/layout_parts.hpp"
#include "report/text.hpp"

#include <algorithm>
#include <iterator>

#include <spdlog/fmt/fmt.h>

TMAJIT_BEGIN
namespace {

// Pixels.
constexpr double margin = 24;
constexpr double bank_width = 30;
constexpr double line_height = 20;
constexpr double period_gap = 4;  ///< after every layout_period_lines
constexpr double grid_left = margin + 62;
constexpr double grid_width = bank_width * shared_banks;
constexpr double picture_width = grid_left + grid_width + margin;
constexpr double histogram_height = 64;
constexpr double label_size = 9.5;   ///< as in the style below
constexpr double character = 0.602;  ///< width of a monospaced character, in font sizes

constexpr auto style = R"(
  text { font: 12px 'DejaVu Sans Mono', Menlo, Consolas, monospace; fill: #24292f }
  .title { font-size: 17px; font-weight: bold }
  .note { fill: #57606a }
  .head { font-size: 9.5px; fill: #57606a; text-anchor: middle }
  .at { font-size: 10.5px; fill: #57606a; text-anchor: end }
  .in { font-size: 9.5px; text-anchor: middle }
  .lane { font-size: 9.5px; text-anchor: middle; font-weight: bold }
  .unit { stroke: #6e7781; stroke-width: .8 }
  .gap { fill: #f0f2f4; stroke: #d0d7de; stroke-width: .8 }
  .bank { stroke: #24292f; stroke-opacity: .13 }
  .faint { opacity: .32 }
  .hit { stroke: #24292f; stroke-width: 1.4 }
  .one { fill: #57a75b } .more { fill: #d9534f }
  .good { fill: #d9f2d9 } .some { fill: #fdeec4 } .many { fill: #fad4cf }
  .c0 { fill: #f7b3ae } .c1 { fill: #fbcf9d } .c2 { fill: #f6eb9e } .c3 { fill: #c9e8a4 }
  .c4 { fill: #a3e3cd } .c5 { fill: #a8d3f5 } .c6 { fill: #c3bbf3 } .c7 { fill: #f0bde4 }
)";

class Picture {
 public:
  explicit Picture(const LayoutView& view) : view_(view), range_(lines_of(view)) {}

  [[nodiscard]] std::string draw() {
    title();
    banks();
    lines();
    if (view_.shown) {
      lanes();
      histogram();
    }
    legend();
    table();
    return fmt::format(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0:g}\" height=\"{1:g}\" viewBox=\"0 0 {0:g} "
        "{1:g}\">\n<title>{2}: {3}</title>\n<style>{4}</style>\n<rect width=\"100%\" height=\"100%\" "
        "rx=\"8\" "
        "fill=\"#ffffff\"/>\n{5}</svg>\n",
        picture_width, y_ + margin, describe_box(view_), describe_image(view_), style, body_);
  }

 private:
  template <typename... Values>
  void add(fmt::format_string<Values...> format, Values&&... values) {
    fmt::format_to(std::back_inserter(body_), format, std::forward<Values>(values)...);
  }
  void text(double x, double y, std::string_view kind, std::string_view words) {
    add("<text class=\"{}\" x=\"{:g}\" y=\"{:g}\">{}</text>\n", kind, x, y, words);
  }
  void rect(std::string_view kind, double x, double y, double width, double height) {
    add("<rect class=\"{}\" x=\"{:g}\" y=\"{:g}\" width=\"{:g}\" height=\"{:g}\"/>\n", kind, x, y, width,
        height);
  }
  static bool fits(std::string_view words, double width) {
    return static_cast<double>(width_of(words)) * label_size * character + 2 <= width;
  }
  static double x_of(std::uint32_t offset) {
    return grid_left + offset % layout_line_bytes * bank_width / bank_bytes;
  }
  [[nodiscard]] double y_of(std::uint32_t offset) const {
    const auto line = offset / layout_line_bytes - range_.first;
    const auto period = line / layout_period_lines;
    return grid_top_ + line * line_height + period * period_gap;
  }
  [[nodiscard]] bool is_drawn(std::uint32_t offset) const {
    const auto line = offset / layout_line_bytes;
    return line >= range_.first && line < range_.first + range_.count;
  }

  void title() {
    text(margin, y_ = margin + 14, "title", describe_box(view_));
    text(margin, y_ += 21, "note", describe_image(view_));
    if (view_.shown) text(margin, y_ += 21, "", describe_access(*view_.shown));
    if (const auto cut = describe_cut(view_); !cut.empty()) text(margin, y_ += 21, "note", cut);
    y_ += 26;
  }

  void banks() {
    text(grid_left - 8, y_, "at", "bank");
    for (std::uint32_t bank = 0; bank < shared_banks; ++bank) {
      text(grid_left + (bank + .5) * bank_width, y_, "head", fmt::to_string(bank));
    }
    grid_top_ = y_ + 7;
  }

  void lines() {
    const auto end = (range_.first + range_.count) * layout_line_bytes;
    for (auto offset = range_.first * layout_line_bytes; offset < end; offset += layout_unit_bytes) {
      if (offset % layout_line_bytes == 0) {
        text(grid_left - 8, y_of(offset) + 14, "at", fmt::format("{:#06x}", offset));
      }
      unit(offset);
    }
    y_ = y_of(end - 1) + line_height;
    for (std::uint32_t bank = 1; bank < shared_banks; ++bank) {
      const auto x = grid_left + bank * bank_width;
      if (bank * bank_bytes % layout_unit_bytes != 0)
        add("<path class=\"bank\" d=\"M{:g} {:g}V{:g}\"/>\n", x, grid_top_, y_);
    }
  }

  /// Draws 16 bytes in one colour, with the elements' positions if there is room.
  void unit(std::uint32_t offset) {
    constexpr auto width = bank_width * layout_unit_bytes / bank_bytes;
    const auto element = view_.box.element(offset);
    if (!element) return rect("gap", x_of(offset), y_of(offset), width, line_height);
    rect(fmt::format("unit c{}{}", colour_of(view_, *element), view_.shown ? " faint" : ""), x_of(offset),
         y_of(offset), width, line_height);
    if (view_.shown) return;
    const auto bytes = view_.box.element_bytes();
    const auto name = [](BoxElement e) { return fmt::format("{}:{}", e.row, e.column); };
    const auto last = element->column + layout_unit_bytes / bytes - 1;
    const auto element_width = bank_width * bytes / bank_bytes;
    // All units of a picture have the same form of label.
    if (!fits(name({view_.box.rows() - 1, view_.box.columns() - 1}), element_width)) {
      const auto words = fmt::format("{}–{}", name(*element), last);
      return text(x_of(offset) + width / 2, y_of(offset) + 14, "in", words);
    }
    for (auto e = *element; e.column <= last; ++e.column) {
      const auto at = offset + (e.column - element->column) * bytes;
      text(x_of(at) + element_width / 2, y_of(at) + 14, "in", name(e));
    }
  }

  /// Draws the bytes that each lane of the shown access reads or writes.
  void lanes() {
    const auto& access = view_.shown->access;
    const auto width = bank_width * access.width / bank_bytes;
    for (std::uint32_t lane = 0; lane < access.lanes; ++lane) {
      const auto offset = access.offsets[lane];
      const auto element = view_.box.element(offset);
      if (!element || !is_drawn(offset)) continue;
      rect(fmt::format("hit c{}", colour_of(view_, *element)), x_of(offset), y_of(offset), width,
           line_height);
      const auto words = access.width >= 8 ? fmt::format("lane {}", lane) : fmt::to_string(lane);
      if (fits(words, width)) text(x_of(offset) + width / 2, y_of(offset) + 14, "lane", words);
    }
  }

  /// Draws the number of words of each bank, below the banks.
  void histogram() {
    const auto words = words_of_banks(view_.shown->access);
    const auto most = *std::max_element(words.begin(), words.end());
    const auto scale = histogram_height / std::max(most, 4U);
    text(grid_left, y_ += 28, "note",
         "words that each bank serves to the lanes of one request, one per wavefront");
    const auto floor = y_ + 26 + histogram_height;
    for (std::uint32_t bank = 0; bank < words.size(); ++bank) {
      if (words[bank] == 0) continue;
      const auto x = grid_left + bank * bank_width;
      const auto height = words[bank] * scale;
      rect(words[bank] == 1 ? "one" : "more", x + 4, floor - height, bank_width - 8, height);
      text(x + bank_width / 2, floor - height - 4, "head", fmt::to_string(words[bank]));
    }
    add("<path class=\"unit\" d=\"M{:g} {:g}h{:g}\"/>\n", grid_left, floor, grid_width);
    y_ = floor;
  }

  void legend() {
    y_ += 18;
    const std::string_view heading = tmajit::name(view_.colour);
    const double left = grid_left + 62;
    double x = left;
    text(grid_left, y_ + 11.5, "", heading);
    const auto entry = [&](std::string_view kind, std::string_view words) {
      const auto width = 24 + static_cast<double>(width_of(words)) * 12 * character + 18;
      if (x > left && x + width > grid_left + grid_width) {
        x = left;
        y_ += 22;
      }
      rect(kind, x, y_, 18, 14);
      text(x + 24, y_ + 11.5, "", words);
      x += width;
    };
    for (std::uint32_t i = 0; i < layout_colours; ++i) {
      if (const auto what = describe_colour(view_, i); !what.empty()) entry(fmt::format("unit c{}", i), what);
    }
    if (view_.box.pitch_bytes() != view_.box.row_bytes()) entry("gap", "not written");
    y_ += 36;
    text(grid_left, y_, "note",
         fmt::format("each outlined unit is 16 bytes, which a swizzle moves together; the numbers are {}",
                     view_.shown ? "the warp's lanes" : "row:column"));
    if (view_.box.extents().size() > 2) {
      text(grid_left, y_ += 18, "note", "a row is all dimensions but the innermost, counted row-major");
    }
  }

  void table() {
    if (view_.patterns.empty()) return;
    constexpr double first = 270;
    constexpr double height = 21;
    const auto width = (grid_width - first) / static_cast<double>(layout_swizzles.size());
    const auto column = [&](std::size_t i) { return grid_left + first + static_cast<double>(i) * width; };
    y_ += 32;
    text(grid_left, y_, "", "Bank conflicts of a warp");
    for (std::size_t i = 0; i < layout_swizzles.size(); ++i) {
      const auto swizzle = layout_swizzles[i];
      const bool here = swizzle == view_.box.swizzle();
      const auto words = swizzle == Swizzle::none ? "no swizzle" : name(swizzle);
      text(column(i) + 8, y_, here ? "" : "note", fmt::format("{}{}", words, here ? " (shown)" : ""));
    }
    y_ += 8;
    for (const auto& pattern : view_.patterns) {
      text(grid_left, y_ + 14.5, "", describe_pattern(pattern.pattern, pattern.width));
      for (std::size_t i = 0; i < pattern.under.size(); ++i) {
        const auto& conflicts = pattern.under[i];
        if (conflicts) {
          const auto* kind = conflicts->conflicting == 0 ? "good" : conflicts->ways <= 2 ? "some" : "many";
          rect(kind, column(i), y_ + 1, width - 4, height - 3);
        }
        text(column(i) + 8, y_ + 14.5, conflicts ? "" : "note", describe_conflicts(conflicts));
      }
      y_ += height;
    }
    text(grid_left, y_ += 18, "note", "n-way: an access takes n wavefronts instead of one; – illegal box");
  }

  const LayoutView& view_;
  LineRange range_;
  std::string body_;
  double y_ = 0;
  double grid_top_ = 0;
};

}  // namespace

std::string layout_svg(const LayoutView& view) {
  return Picture(view).draw();
}

TMAJIT_END
