#include "commands.hpp"
#include "files.hpp"
#include "option_group.hpp"
#include "plan_kernels.hpp"
#include "report.hpp"
#include "terminal.hpp"
#include "text.hpp"

#include <algorithm>
#include <memory>
#include <string_view>

#include <CLI/CLI.hpp>
#include <spdlog/fmt/fmt.h>
#include <unistd.h>

namespace jitc {
namespace {

using tmajit::MoveExplanation;
using tmajit::MoveStep;

constexpr std::size_t heading_width = 14;

/// Headings on the left, texts on the right, wrapped.
class Page {
 public:
  Page(std::size_t width, int fd) : width_(std::max(width, heading_width + 40)), fd_(fd) {}

  void title(std::string_view text) { text_ += fmt::format("{}\n", styled(text, Style::bold, fd_)); }
  void row(std::string_view heading, std::string_view text) {
    text_ += labelled(heading, text, heading_width, width_, fd_);
  }
  [[nodiscard]] std::string take() { return std::move(text_); }
  [[nodiscard]] std::size_t text_width() const { return width_ - heading_width; }

 private:
  std::size_t width_;
  int fd_;
  std::string text_;
};

std::string predicted(const MoveStep& step, double microseconds) {
  const auto bytes = static_cast<double>(step.bytes_read + step.bytes_written);
  return fmt::format("{:.1f} µs, {:.0f} GB/s", microseconds, bytes / microseconds * 1e-3);
}

void add_alternatives(Page& page, const MoveStep& step) {
  if (step.alternatives.empty()) return;
  Rows rows{{"CHOICE", "PREDICTED", "OF THE CHOSEN"}};
  for (const auto& other : step.alternatives) {
    rows.push_back(
        {other.choice, predicted(step, other.predicted_us),
         step.predicted_us > 0 ? fmt::format("{:.2f}", other.predicted_us / step.predicted_us) : ""});
  }
  page.row("others", format_table(rows, page.text_width()));
}

void add_step(Page& page, const MoveStep& step) {
  page.row("kernel", step.choice.empty() ? step.kernel : step.choice);
  if (!step.why.empty()) page.row("why", step.why);
  if (!step.canonical.empty()) page.row("canonical", step.canonical);
  for (std::size_t i = 0; i < step.rewrites.size(); ++i) page.row(i == 0 ? "rewrites" : "", step.rewrites[i]);
  page.row("tiles", fmt::format("{} of {}{}", counted(step.tiles, "tile"),
                                step.tile.empty() ? "1" : fmt::to_string(fmt::join(step.tile, "x")),
                                step.shape.empty() ? "" : fmt::format(" in {}", fmt::join(step.shape, "x"))));
  page.row("CTA",
           fmt::format("{} threads, {} registers a thread, {} shared memory, {}", step.threads,
                       step.registers, describe_bytes(step.shared_bytes), counted(step.stages, "stage")));
  if (step.ctas_per_sm != 0) {
    page.row("SM", fmt::format("{} at a time, {} of loads in flight", counted(step.ctas_per_sm, "CTA"),
                               describe_bytes(step.bytes_in_flight)));
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

namespace {

struct ExplainOptions {
  ProblemOptions problem;
  CompilerOptions compiler;
  std::string device = "auto";
};

MoveExplanation explain(const Problem& problem, tmajit::Runtime& runtime) {
  const auto at = problem.unplaced();
  if (!problem.request.has_tile && !problem.is_batch()) {
    const Progress progress("planning and compiling");
    return tmajit::plan(runtime, problem.operation(at), problem.request.family_name()).explain();
  }
  const auto plans = plan_kernels(problem, at, runtime);
  const auto kernels = make_kernels(plans, runtime);
  MoveExplanation explanation;
  for (std::size_t i = 0; i < plans.size(); ++i) {
    explanation.steps.push_back(tmajit::explain(plans[i], kernels[i]));
  }
  return explanation;
}

int explain(const ExplainOptions& options, bool json) {
  const auto problem = make_problem(options.problem, Purpose::look);
  const auto choice = select_chip(options.device);
  const auto& chip = choice.chip;
  auto runtime = planning_runtime(options.compiler, chip);
  const auto explanation = explain(problem, runtime);
  if (json) {
    auto report = to_json(problem);
    report["device"] = {{"name", chip.name},
                        {"present", choice.present},
                        {"sm_count", chip.sm_count},
                        {"gb_per_s", chip.gbps}};
    report.update(to_json(explanation));
    print_json(report);
    return 0;
  }
  if (!choice.why.empty()) {
    say("device", styled(fmt::format("{}: planned for an {}, compiled and not run", choice.why, chip.name),
                         Style::warn, STDERR_FILENO));
  }
  const auto width = std::min(columns(STDOUT_FILENO), widest_page);
  const std::vector<PageRow> first{{"device", fmt::format("{}, {} SMs", chip.name, chip.sm_count)}};
  write_stdout(explanation_page(describe(problem), first, explanation, width, STDOUT_FILENO));
  return 0;
}

}  // namespace

void add_explain_command(CLI::App& app, Session& session) {
  auto& command = *app.add_subcommand(
      "explain",
      "How an operation would be done and why: its canonical form, kernel, tiles, memory; runs nothing");
  auto options = std::make_shared<ExplainOptions>();
  add_problem_options(command, options->problem);
  add_compiler_options(command, options->compiler);
  OptionGroup(command).add(
      "--device", options->device, "DEVICE",
      "Whose plan: auto: the first Hopper GPU's, else an H200's; gpu, gpu:N; h200: an H200's, which need "
      "not be there");
  command.footer(
      "Nothing is moved and no memory is needed, so shapes may be of any size. Kernels are compiled, since "
      "their\n"
      "registers decide how many CTAs fit an SM. docs/explain.md says what each line means.\n\n"
      "Examples:\n"
      "  jitc explain permute --shape 64x128x256x512 --axes 0,2,1,3 --type f32\n"
      "  jitc explain permute --shape 8191x8209 --axes 1,0 --type u8 --json\n"
      "  jitc explain copy --shape 16384x16384 --slice 100:12100,64:12064 --type f32\n"
      "  jitc explain cast --in a.npy --out-type bf16\n"
      "  jitc explain rows --shape 4096x4096   # the best kernel of one family\n"
      "  jitc explain copy --shape 1000000 --offset 1 --type u8   # an address that is not aligned");
  add_action(command, session, [options](bool json) { return explain(*options, json); });
}

}  // namespace jitc
