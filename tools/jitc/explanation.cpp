#include "explanation.hpp"

#include "table.hpp"
#include "terminal.hpp"
#include "text.hpp"

#include <algorithm>
#include <string_view>

#include <spdlog/fmt/fmt.h>

namespace jitc {
namespace {

using tmajit::MoveExplanation;
using tmajit::MoveStep;

constexpr std::size_t margin = 14;

std::string_view plural(std::uint64_t count) {
  return count == 1 ? "" : "s";
}

double gb_per_s(const MoveStep& step, double microseconds) {
  return static_cast<double>(step.bytes_read + step.bytes_written) / microseconds * 1e-3;
}

/// Headings on the left, texts on the right, wrapped.
class Page {
 public:
  Page(std::size_t width, int fd) : width_(std::max(width, margin + 40) - margin), fd_(fd) {}

  void title(std::string_view text) { text_ += fmt::format("{}\n", styled(text, Style::bold, fd_)); }
  void row(std::string_view heading, std::string_view text) {
    auto label = styled(fmt::format("  {:<{}}", heading, margin - 2), Style::dim, fd_);
    for (const auto& line : wrap(text, width_)) {
      text_ += fmt::format("{}{}\n", label, line);
      label = std::string(margin, ' ');
    }
  }
  [[nodiscard]] std::string take() { return std::move(text_); }
  [[nodiscard]] std::size_t width() const { return width_; }

 private:
  std::size_t width_;
  int fd_;
  std::string text_;
};

std::string predicted(const MoveStep& step, double microseconds) {
  return fmt::format("{:.1f} µs, {:.0f} GB/s", microseconds, gb_per_s(step, microseconds));
}

void add_alternatives(Page& page, const MoveStep& step) {
  if (step.alternatives.empty()) return;
  std::vector<std::vector<std::string>> rows{{"CHOICE", "PREDICTED", "OF THE CHOSEN"}};
  for (const auto& other : step.alternatives) {
    rows.push_back(
        {other.choice, predicted(step, other.predicted_us),
         step.predicted_us > 0 ? fmt::format("{:.2f}", other.predicted_us / step.predicted_us) : ""});
  }
  std::string_view heading = "others";
  const auto table = format_table(rows, page.width());
  for (std::string_view rest = table; !rest.empty();) {
    const auto end = rest.find('\n');
    page.row(heading, rest.substr(0, end));
    heading = "";
    rest.remove_prefix(end + 1);
  }
}

void add_step(Page& page, const MoveStep& step) {
  page.row("kernel", step.choice.empty() ? step.kernel : step.choice);
  if (!step.why.empty()) page.row("why", step.why);
  page.row("canonical", step.canonical);
  for (std::size_t i = 0; i < step.rewrites.size(); ++i) page.row(i == 0 ? "rewrites" : "", step.rewrites[i]);
  page.row("tiles", fmt::format("{} tile{} of {} in {}", step.tiles, plural(step.tiles),
                                step.tile.empty() ? "1" : fmt::to_string(fmt::join(step.tile, "x")),
                                step.shape.empty() ? "1" : fmt::to_string(fmt::join(step.shape, "x"))));
  page.row("CTA",
           fmt::format("{} threads, {} registers a thread, {} shared memory, {} stage{}", step.threads,
                       step.registers, describe_bytes(step.shared_bytes), step.stages, plural(step.stages)));
  if (step.ctas_per_sm != 0) {
    page.row("SM", fmt::format("{} CTA{} at a time, {} of loads in flight", step.ctas_per_sm,
                               plural(step.ctas_per_sm), describe_bytes(step.bytes_in_flight)));
  }
  page.row("bytes", fmt::format("{} read, {} written", describe_bytes(step.bytes_read),
                                describe_bytes(step.bytes_written)));
  if (step.predicted_us > 0) {
    page.row("predicted", fmt::format("{}; chosen by {}", predicted(step, step.predicted_us),
                                      step.tuned ? "a measurement (jitc tune)" : "the cost model"));
  }
  add_alternatives(page, step);
}

}  // namespace

Json to_json(const MoveExplanation& explanation) {
  Json steps = Json::array();
  for (const auto& step : explanation.steps) {
    Json alternatives = Json::array();
    for (const auto& other : step.alternatives) {
      alternatives.push_back({{"choice", other.choice}, {"predicted_us", other.predicted_us}});
    }
    steps.push_back({{"kernel", step.kernel},
                     {"choice", step.choice},
                     {"why", step.why},
                     {"canonical", step.canonical},
                     {"rewrites", step.rewrites},
                     {"shape", step.shape},
                     {"tile", step.tile},
                     {"tiles", step.tiles},
                     {"threads", step.threads},
                     {"stages", step.stages},
                     {"shared_bytes", step.shared_bytes},
                     {"registers", step.registers},
                     {"ctas_per_sm", step.ctas_per_sm},
                     {"bytes_in_flight", step.bytes_in_flight},
                     {"bytes_read", step.bytes_read},
                     {"bytes_written", step.bytes_written},
                     {"predicted_us", step.predicted_us},
                     {"tuned", step.tuned},
                     {"alternatives", alternatives}});
  }
  return {
      {"shape_class", explanation.shape_class}, {"planning_us", explanation.planning_us}, {"steps", steps}};
}

std::string explanation_page(const std::string& title, const std::vector<PageRow>& first,
                             const MoveExplanation& explanation, std::size_t width, int fd) {
  Page page(width, fd);
  page.title(title);
  for (const auto& [heading, text] : first) page.row(heading, text);
  const std::size_t count = explanation.steps.size();
  if (count == 0) {
    page.row("plan", "nothing to move: a dimension has the extent 0");
    return page.take();
  }
  if (!explanation.shape_class.empty()) page.row("class", explanation.shape_class);
  for (std::size_t i = 0; i < count; ++i) {
    if (count > 1) page.title(fmt::format("step {} of {}", i + 1, count));
    add_step(page, explanation.steps[i]);
  }
  if (explanation.planning_us > 0) page.row("planned in", fmt::format("{:.1f} µs", explanation.planning_us));
  return page.take();
}

std::string describe(const MoveStep& step) {
  return fmt::format("{}: {} tile{} of {}, {} threads", step.choice.empty() ? step.kernel : step.choice,
                     step.tiles, plural(step.tiles), fmt::join(step.tile, "x"), step.threads);
}

}  // namespace jitc
