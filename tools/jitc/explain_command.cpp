#include "chain.hpp"
#include "commands.hpp"
#include "files.hpp"
#include "option_group.hpp"
#include "plan_kernels.hpp"
#include "report.hpp"
#include "terminal.hpp"

#include <tmajit/report/plan.hpp>

#include <algorithm>
#include <memory>

#include <CLI/CLI.hpp>
#include <spdlog/fmt/fmt.h>
#include <unistd.h>

namespace jitc {
namespace {

struct ExplainOptions {
  ProblemOptions problem;
  std::vector<std::string> then;  ///< texts of --then
  CompilerOptions compiler;
  std::string device = "auto";
};

/// The plans of the chain's fused operations, or of its one operation.
std::vector<tmajit::Plan> plans_of(const Chain& chain, const tmajit::Fusion& fusion,
                                   tmajit::Runtime& runtime) {
  const Progress progress("planning and compiling");
  std::vector<tmajit::Plan> plans;
  for (const auto& operation : fusion.operations)
    plans.push_back(tmajit::plan(runtime, operation, chain.first().request.family_name()));
  return plans;
}

int explain(const ExplainOptions& options, bool json) {
  const auto chain = make_chain(options.problem, options.then, Purpose::look);
  const auto choice = select_chip(options.device);
  const auto& chip = choice.chip;
  auto runtime = planning_runtime(options.compiler, chip);
  const auto fusion = chain.fusion(chain.planning_addresses());
  const auto plans = plans_of(chain, fusion, runtime);
  if (json) {
    auto report = to_json(chain);
    report["device"] = {{"name", chip.name},
                        {"present", choice.present},
                        {"sm_count", chip.sm_count},
                        {"gb_per_s", chip.gbps}};
    report.update(Json::parse(chain.is_single() ? explanation_json(plans.front().explain())
                                                : explanation_json(tmajit::plan(runtime, fusion))));
    print_json(report);
    return 0;
  }
  if (!choice.why.empty()) {
    say("device", styled(fmt::format("{}: planned for an {}, compiled and not run", choice.why, chip.name),
                         Style::warn, STDERR_FILENO));
  }
  const auto width = std::min(columns(STDOUT_FILENO), widest_page);
  std::vector<tmajit::PageRow> rows;
  for (std::size_t k = 1; k < chain.steps.size(); ++k) rows.push_back({"then", describe(chain.steps[k])});
  for (const auto& sentence : fusion.sentences) rows.push_back({"fusion", sentence});
  if (!chain.is_single()) {
    std::size_t kernels = 0;
    for (const auto& plan : plans) kernels += plan.kernels().size();
    rows.push_back({"chain", describe_kernels(chain, kernels)});
  }
  rows.push_back({"device", fmt::format("{}, {} SMs", chip.name, chip.sm_count)});
  for (std::size_t p = 0; p < plans.size(); ++p) {
    const std::string title = p == 0 ? describe(chain.first()) : describe(plans[p]);
    write_stdout(explanation_text(title, p == 0 ? rows : std::vector<tmajit::PageRow>(), plans[p].explain(),
                                  width, takes_colour(STDOUT_FILENO)));
  }
  return 0;
}

}  // namespace

void add_explain_command(CLI::App& app, Session& session) {
  auto& command = *app.add_subcommand(
      "explain",
      "How an operation would be done and why: its canonical form, kernel, tiles, memory; runs nothing");
  auto options = std::make_shared<ExplainOptions>();
  add_problem_options(command, options->problem);
  add_then_option(command, options->then);
  add_compiler_options(command, options->compiler);
  OptionGroup(command)
      .add("--device", options->device, "DEVICE",
           "The GPU to plan for. auto: the first Hopper GPU, or an H200 if there is none; gpu, gpu:N: this "
           "GPU; "
           "h200: an H200, present or not")
      ->check(offers({"auto", "gpu", "h200"}));
  command.footer(
      "Nothing is moved and no memory is needed, so shapes may be of any size. Kernels are compiled, since "
      "their\n"
      "registers decide how many CTAs fit an SM. docs/explain.md says what each line means.\n\n"
      "Examples:\n"
      "  jitc explain permute --shape 64x128x256x512 --axes 0,2,1,3 --type f32\n"
      "  jitc explain permute --shape 8191x8209 --axes 1,0 --type u8 --json\n"
      "  jitc explain copy --shape 16384x16384 --slice 100:12100,64:12064 --type f32\n"
      "  jitc explain cast --in a.npy --out-type bf16\n"
      "  jitc explain map --expr 'x * x' --shape 4096x4096 --then 'reduce --op sum --axes 1'   # is it one "
      "kernel?\n"
      "  jitc explain rows --shape 4096x4096   # the best kernel of one family\n"
      "  jitc explain copy --shape 1000000 --offset 1 --type u8   # an address that is not aligned");
  add_action(command, session, [options](bool json) { return explain(*options, json); });
}

}  // namespace jitc
