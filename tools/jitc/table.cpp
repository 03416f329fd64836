#include "table.hpp"

#include "text.hpp"

#include <algorithm>
#include <numeric>

namespace jitc {
namespace {

constexpr std::size_t gap = 2;
constexpr std::size_t narrowest = 10;

}  // namespace

std::string format_table(const std::vector<std::vector<std::string>>& rows, std::size_t width) {
  std::vector<std::size_t> widths;
  for (const auto& row : rows) {
    widths.resize(std::max(widths.size(), row.size()), 0);
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], width_of(row[i]));
  }
  const auto total = [&] { return std::accumulate(widths.begin(), widths.end(), gap * (widths.size() - 1)); };
  while (!widths.empty() && total() > width) {
    auto widest = std::max_element(widths.begin(), widths.end());
    if (*widest <= narrowest) break;
    --*widest;
  }
  std::string text;
  for (const auto& row : rows) {
    std::vector<std::vector<std::string>> cells;
    std::size_t lines = 1;
    for (std::size_t i = 0; i < row.size(); ++i) {
      cells.push_back(wrap(row[i], widths[i]));
      lines = std::max(lines, cells.back().size());
    }
    for (std::size_t line = 0; line < lines; ++line) {
      std::string out;
      for (std::size_t i = 0; i < cells.size(); ++i) {
        const std::string cell = line < cells[i].size() ? cells[i][line] : std::string();
        out += cell + std::string(widths[i] - std::min(widths[i], width_of(cell)) + gap, ' ');
      }
      out.erase(out.find_last_not_of(' ') + 1);
      text += out + '\n';
    }
  }
  return text;
}

}  // namespace jitc
