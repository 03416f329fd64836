#include "report/text.hpp"

#include <algorithm>
#include <array>
#include <numeric>

#include <spdlog/fmt/fmt.h>

TMAJIT_BEGIN
namespace {

/// Bytes of the first `characters` characters.
std::size_t prefix_bytes(std::string_view text, std::size_t characters) {
  std::size_t bytes = 0;
  while (bytes < text.size() && characters > 0) {
    ++bytes;
    while (bytes < text.size() && (static_cast<unsigned char>(text[bytes]) & 0xc0U) == 0x80U) ++bytes;
    --characters;
  }
  return bytes;
}

}  // namespace

std::string describe_bytes(std::uint64_t bytes) {
  if (bytes < 1024) return fmt::format("{} bytes", bytes);
  constexpr std::array units{"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  auto value = static_cast<double>(bytes) / 1024;
  std::size_t unit = 0;
  while (value >= 1024 && unit + 1 < units.size()) {
    value /= 1024;
    ++unit;
  }
  return fmt::format("{:.1f} {}", value, units[unit]);
}

std::size_t width_of(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(
      text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xc0U) != 0x80U; }));
}

std::vector<std::string> wrap(std::string_view text, std::size_t width) {
  std::vector<std::string> lines;
  while (width_of(text) > width) {
    std::size_t bytes = prefix_bytes(text, width);
    // A line may also break at a space right after the last character that fits.
    const auto space = text.substr(0, bytes + 1).rfind(' ');
    if (space != std::string_view::npos && space > 0) bytes = space;
    lines.emplace_back(text.substr(0, bytes));
    text.remove_prefix(bytes);
    while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  }
  lines.emplace_back(text);
  return lines;
}

namespace {

std::size_t longest_word(std::string_view text) {
  std::size_t longest = 0;
  for (const auto word : split(text, ' ')) longest = std::max(longest, width_of(word));
  return longest;
}

/// The rows of a table as paragraphs, under the names of the columns.
std::string format_paragraphs(const Rows& rows, std::size_t width) {
  std::size_t indent = 0;
  for (std::size_t i = 1; i < rows.front().size(); ++i)
    indent = std::max(indent, width_of(rows.front()[i]) + 4);
  std::string text;
  for (std::size_t r = 1; r < rows.size(); ++r) {
    for (const auto& line : wrap(rows[r].empty() ? "" : rows[r].front(), width)) text += line + '\n';
    for (std::size_t i = 1; i < rows[r].size(); ++i) {
      std::string label = fmt::format("  {}", rows.front()[i]);
      label.resize(label.size() + indent - width_of(label), ' ');
      for (const auto& line : wrap(rows[r][i], std::max(width, indent + 20) - indent)) {
        std::string out = label + line;
        out.erase(out.find_last_not_of(' ') + 1);
        text += out + '\n';
        label.assign(indent, ' ');
      }
    }
  }
  return text;
}

}  // namespace

std::string format_table(const Rows& rows, std::size_t width) {
  constexpr std::size_t gap = 2;
  std::vector<std::size_t> widths;
  std::vector<std::size_t> narrowest;
  for (const auto& row : rows) {
    widths.resize(std::max(widths.size(), row.size()), 0);
    narrowest.resize(widths.size(), 0);
    for (std::size_t i = 0; i < row.size(); ++i) {
      widths[i] = std::max(widths[i], width_of(row[i]));
      narrowest[i] = std::max(narrowest[i], longest_word(row[i]));
    }
  }
  const auto total = [&] { return std::accumulate(widths.begin(), widths.end(), gap * (widths.size() - 1)); };
  while (!widths.empty() && total() > width) {
    // The widest column that can be narrowed.
    std::size_t widest = widths.size();
    for (std::size_t i = 0; i < widths.size(); ++i) {
      if (widths[i] > narrowest[i] && (widest == widths.size() || widths[i] > widths[widest])) widest = i;
    }
    if (widest == widths.size()) return format_paragraphs(rows, width);
    --widths[widest];
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

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (;;) {
    const auto end = text.find(separator);
    parts.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

std::string styled(std::string_view text, Style style, bool colour) {
  if (!colour) return std::string(text);
  return fmt::format("\x1b[{}m{}\x1b[0m", static_cast<int>(style), text);
}

std::string labelled(std::string_view heading, std::string_view text, std::size_t margin, std::size_t width,
                     bool colour) {
  std::string page;
  auto label = styled(fmt::format("  {:<{}}", heading, margin - 2), Style::dim, colour);
  if (text.ends_with('\n')) text.remove_suffix(1);
  for (const auto line : split(text, '\n')) {
    const auto indent = std::min(line.find_first_not_of(' '), line.size());
    for (const auto& part : wrap(line.substr(indent), std::max(width, margin + 40) - margin - indent)) {
      page += fmt::format("{}{:{}}{}\n", label, "", indent, part);
      label = std::string(margin, ' ');
    }
  }
  return page;
}

TMAJIT_END
