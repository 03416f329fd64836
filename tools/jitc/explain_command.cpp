#include "commands.hpp"
#include "explanation.hpp"
#include "files.hpp"
#include "move_planning.hpp"
#include "move_problem.hpp"
#include "run.hpp"
#include "terminal.hpp"

#include <algorithm>
#include <memory>

#include <CLI/CLI.hpp>
#include <spdlog/fmt/fmt.h>
#include <unistd.h>

namespace jitc {
namespace {

constexpr std::size_t widest = 118;  // longer lines are hard to read

struct ExplainOptions {
  KernelOptions tensors;
  MoveOptions move;
  CompilerOptions compiler;
  std::string device = "auto";
};

int explain(const ExplainOptions& options, bool json) {
  const auto problem = make_move(options.tensors, options.move);
  const auto choice = select_planning_device(options.device);
  auto chosen = runtime_options(options.compiler);
  chosen.device = choice.device;
  tmajit::Runtime runtime(std::move(chosen));
  const auto explanation = make_plan(runtime, problem.unplaced()).explain();
  const auto& info = choice.device->info();
  if (json) {
    Json report{{"operation", problem.operation}, {"arguments", problem.arguments}};
    auto device = to_json(info);
    device.erase("simulated");
    device["present"] = info.ordinal >= 0;
    report["device"] = std::move(device);
    report.update(to_json(explanation));
    print_json(report);
    return 0;
  }
  if (!choice.why.empty()) {
    say("device", styled(fmt::format("{}: planned for an {}, compiled and not run", choice.why, info.name),
                         Style::warn, STDERR_FILENO));
  }
  const auto width = std::min<std::size_t>(columns(STDOUT_FILENO), widest);
  const std::vector<PageRow> first{{"device", fmt::format("{}, {} SMs", info.name, info.sm_count)}};
  write_stdout(explanation_page(describe(problem), first, explanation, width, STDOUT_FILENO));
  return 0;
}

}  // namespace

void add_explain_command(CLI::App& app, Session& session) {
  auto& command = *app.add_subcommand(
      "explain", "How a move would be done and why: its canonical form, kernel, tiles, memory; runs nothing");
  auto options = std::make_shared<ExplainOptions>();
  add_move_command_options(command, options->tensors, options->move);
  add_compiler_options(command, options->compiler);
  command
      .add_option(
          "--device", options->device,
          "Whose plan: auto: the first Hopper GPU's, else an H200's; gpu, gpu:N; h200: an H200's, which need "
          "not be there")
      ->type_name("DEVICE")
      ->capture_default_str();
  add_common_options(command, session);
  command.footer(
      "Nothing is moved and no memory is needed, so shapes may be of any size. Kernels are compiled, since "
      "their\n"
      "registers decide how many CTAs fit an SM. docs/explain.md says what each line means.\n\n"
      "Examples:\n"
      "  jitc explain permute --shape 64x128x256x512 --axes 0,2,1,3 --type f32\n"
      "  jitc explain permute --shape 8191x8209 --axes 1,0 --type u8 --json\n"
      "  jitc explain copy --shape 16384x16384 --slice 100:12100,64:12064 --type f32\n"
      "  jitc explain cast --in a.npy --out-type bf16\n"
      "  jitc explain copy --plan --shape 1000000 --offset 1 --type u8   # an address that is not aligned");
  command.callback([options, &session] {
    session.action = [options, &session] { return explain(*options, session.json); };
  });
}

}  // namespace jitc
