#include "check/also_lines.hpp"

#include <algorithm>

#include <spdlog/fmt/fmt.h>

TMAJIT_BEGIN
namespace check {

void add_lines(Finding& finding, std::vector<std::uint32_t> lines) {
  constexpr std::size_t max_shown = 8;
  std::ranges::sort(lines);
  // Not std::ranges::unique(): clang 14 rejects the range that it returns.
  lines.erase(std::unique(lines.begin(), lines.end()), lines.end());
  if (lines.empty()) return;
  const auto end = lines.begin() + static_cast<std::ptrdiff_t>(std::min(lines.size(), max_shown));
  const bool one = lines.size() == 1;
  finding.found += fmt::format("; {} more instruction{} (PTX line{} {}{}) show{} the same", lines.size(),
                               one ? "" : "s", one ? "" : "s", fmt::join(lines.begin(), end, ", "),
                               lines.size() > max_shown ? ", …" : "", one ? "s" : "");
  finding.also_lines = std::move(lines);
}

}  // namespace check
TMAJIT_END
