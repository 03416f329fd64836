#include "report/layout_parts.hpp"
#include "report/text.hpp"

#include <algorithm>
#include <regex>
#include <sstream>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

using namespace tmajit;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::StartsWith;

namespace {

LayoutView view_of(ElementType type, const std::vector<std::uint32_t>& box, Swizzle swizzle) {
  LayoutView view{.box = BoxLayout(type, box, swizzle), .extents = box};
  view.patterns = conflicts_of_patterns(view.box, box);
  return view;
}

void show(LayoutView& view, AccessPattern pattern, std::uint32_t width, std::uint32_t number = 0) {
  view.shown = ShownAccess{.pattern = pattern,
                           .number = number,
                           .instructions = instructions(view.box, pattern, width),
                           .access = warp_access(view.box, pattern, width, number)};
}

std::size_t count(const std::string& text, const std::string& what) {
  std::size_t found = 0;
  for (auto at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++found;
  return found;
}

std::string without_colours(const std::string& text) {
  return std::regex_replace(text, std::regex("\x1b\\[[0-9;]*m"), "");
}

}  // namespace

TEST_CASE("narrower terminals get coarser pictures: banks, then 16-byte units, then shorter labels") {
  auto view = view_of(ElementType::f32, {64, 32}, Swizzle::b128);
  view.lines = 10;
  const auto first_line = [](const std::string& text, const char* begins) {
    const auto at = text.find(begins) + 1;
    return text.substr(at, text.find('\n', at) - at);
  };
  const struct {
    std::size_t width;
    const char* bank;
    const char* row;
  } expected[] = {
      {240, "bank        0     1     2", "0x0080    1:4   1:5   1:6   1:7    1:0   1:1"},
      {160, "bank         0-3       4-7", "0x0080     1:4-7     1:0-3"},
      {70, "bank      0-3    4-7   8-11  12-15", "0x0080    1:4    1:0   1:12    1:8"},
      {40, "bank     0   4   8  12", "0x0080   4   0  12   8"},
  };
  for (const auto& [width, bank, row] : expected) {
    const auto text = layout_text(view, width, false);
    INFO(text);
    CHECK_THAT(first_line(text, "\nbank"), StartsWith(bank));
    CHECK_THAT(first_line(text, "\n0x0080"), StartsWith(row));
    CHECK_THAT(text, ContainsSubstring("lines 0 to 9 of 64"));
    CHECK(count(text, "\n0x") == 10);
    const auto coloured = layout_text(view, width, true);
    CHECK(count(coloured, "\x1b[38;5;16;48;5;") == count(coloured, "\x1b[0m"));
    std::istringstream lines(without_colours(coloured));
    for (std::string line; std::getline(lines, line);) {
      INFO(line);
      // At any width the table's columns have 10 characters, and the picture has its shortest labels.
      if (width >= 70) CHECK(width_of(line) <= width);
    }
  }
}

TEST_CASE("cells are coloured by the row or the columns of their elements, and gaps have no colour") {
  auto view = view_of(ElementType::f32, {2, 24}, Swizzle::b128);
  view.patterns.clear();
  const auto colours_of = [&](const std::string& line) {
    const auto text = layout_text(view, 100, true);
    const auto at = text.find(line);
    const auto end = text.find('\n', at);
    std::vector<int> colours;
    const std::regex background("48;5;(\\d+)m");
    for (std::sregex_iterator match(text.begin() + static_cast<std::ptrdiff_t>(at),
                                    text.begin() + static_cast<std::ptrdiff_t>(end), background);
         match != std::sregex_iterator(); ++match) {
      colours.push_back(std::stoi((*match)[1]));
    }
    return colours;
  };
  const auto first = colours_of("0x0000");
  REQUIRE(first.size() == 6);
  for (const auto colour : first) CHECK(std::ranges::count(first, colour) == 1);
  CHECK(colours_of("0x0080") == std::vector<int>{first[1], first[0], first[3], first[2], first[5], first[4]});
  view.colour = ColourBy::row;
  CHECK(colours_of("0x0000") == std::vector<int>(6, first[0]));
  CHECK(colours_of("0x0080") == std::vector<int>(6, first[1]));
}

TEST_CASE("if a tile has too many lines, the lines from the access on are shown") {
  auto view = view_of(ElementType::f32, {64, 32}, Swizzle::none);
  view.lines = 8;
  show(view, AccessPattern::row, 4, 20);
  auto range = lines_of(view);
  CHECK(range.first == 16);
  CHECK(range.count == 8);
  show(view, AccessPattern::row, 4, 63);
  CHECK(lines_of(view).first == 56);
  view.lines = 12;
  CHECK(lines_of(view).first == 52);
  view.lines = 0;
  range = lines_of(view);
  CHECK(range.first == 0);
  CHECK(range.count == 64);
  CHECK(describe_cut(view).empty());
}

TEST_CASE("the picture of an access shows lanes at the bytes that they access, and each bank's words below") {
  auto view = view_of(ElementType::bf16, {64, 64}, Swizzle::b128);
  show(view, AccessPattern::column, 2);
  const auto svg = layout_svg(view);
  CHECK(count(svg, "<rect class=\"hit ") == 32);
  CHECK(count(svg, "<rect class=\"more\"") == 8);
  CHECK(count(svg, "<rect class=\"one\"") == 0);
  CHECK_THAT(svg, ContainsSubstring("4 wavefronts instead of 1"));
  view.lines = 8;
  CHECK(count(layout_svg(view), "<rect class=\"hit ") == 8);
}
