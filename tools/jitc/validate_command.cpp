#include "commands.hpp"
#include "files.hpp"
#include "plan_kernels.hpp"
#include "report.hpp"
#include "terminal.hpp"
#include "text.hpp"

#include <tmajit/error.hpp>

#include <memory>

#include <CLI/CLI.hpp>
#include <spdlog/fmt/fmt.h>
#include <unistd.h>

namespace jitc {
namespace {

int validate(const ProblemOptions& options, bool json) {
  const auto problem = make_problem(options, Purpose::look);
  auto runtime = planning_runtime({}, select_chip("auto").chip);
  std::vector<tmajit::KernelPlan> plans;
  std::vector<tmajit::Violation> broken;
  try {
    const Progress progress("planning");
    plans = plan_kernels(problem, problem.planning_addresses(), runtime);
  } catch (const tmajit::SpecError& error) {
    broken = error.violations();
  }
  if (json) {
    Json report{{"legal", broken.empty()}, {"violations", to_json(broken)}};
    report.update(to_json(problem));
    auto& steps = report["plan"]["steps"] = Json::array();
    for (const auto& plan : plans) steps.push_back({{"spec", to_json(plan)}});
    print_json(report);
  } else if (broken.empty()) {
    std::string text;
    for (const auto& plan : plans)
      text += fmt::format("{}: {}\n", styled("legal", Style::good, STDOUT_FILENO), describe(plan));
    if (plans.empty())
      text = fmt::format("{}: there is nothing to move\n", styled("legal", Style::good, STDOUT_FILENO));
    write_stdout(text);
  } else {
    write_stdout(tmajit::violations_text(broken, columns(STDOUT_FILENO)));
    write_stderr("{} {} broken\n", styled("illegal:", Style::bad, STDERR_FILENO),
                 counted(broken.size(), "rule"));
  }
  return broken.empty() ? 0 : 2;
}

}  // namespace

void add_validate_command(CLI::App& app, Session& session) {
  auto& command = *app.add_subcommand(
      "validate",
      "List every rule that an operation or a tile breaks, or the kernels that would run; needs no GPU");
  auto options = std::make_shared<ProblemOptions>();
  add_problem_options(command, *options);
  command.footer(
      "Exit code: 0 legal, 2 illegal. Rows are not padded here; `jitc run` pads them where TMA needs it.\n\n"
      "Examples:\n"
      "  jitc validate copy --shape 4096x4096 --dtype bf16 --box 64x64 --swizzle 128B\n"
      "  jitc validate map --expr 'x0+x1' --shape 100x7 --dtype u8 --box 4x16\n"
      "  jitc validate snapshot --in a.npy --box 8x128 --swizzle 64B --json\n"
      "  jitc validate permute --axes 1,0 --shape 64x64 --out-strides 0,1");
  add_action(command, session, [options](bool json) { return validate(*options, json); });
}

}  // namespace jitc
