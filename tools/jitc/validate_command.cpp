#include "commands.hpp"
#include "files.hpp"
#include "problem.hpp"
#include "report.hpp"
#include "terminal.hpp"

#include <memory>

#include <CLI/CLI.hpp>
#include <spdlog/fmt/fmt.h>
#include <unistd.h>

namespace jitc {
namespace {

int validate(const KernelOptions& options, bool json) {
  const auto problem = make_problem(options, Padding::no);
  const auto broken = violations(problem);
  if (json) {
    Json report{{"legal", broken.empty()}, {"violations", to_json(broken)}};
    report.update(to_json(problem));
    print_json(report);
  } else if (broken.empty()) {
    write_stdout(
        fmt::format("{}: {}\n", styled("legal", Style::good, STDOUT_FILENO), describe(problem.spec)));
  } else {
    write_stdout(violation_table(broken, columns(STDOUT_FILENO)));
    fmt::print(stderr, "{} {} rule{} broken\n", styled("illegal:", Style::bad, STDERR_FILENO), broken.size(),
               broken.size() == 1 ? "" : "s");
  }
  return broken.empty() ? 0 : 2;
}

}  // namespace

void add_validate_command(CLI::App& app, Session& session) {
  auto& command = *app.add_subcommand("validate", "List every rule that a kernel would break; needs no GPU");
  auto options = std::make_shared<KernelOptions>();
  add_kernel_options(command, *options);
  add_common_options(command, session);
  command.footer(
      "Exit code: 0 legal, 2 illegal. Rows are taken as they are; `jitc run` pads them where TMA needs "
      "it.\n\n"
      "Examples:\n"
      "  jitc validate copy --shape 4096x4096 --dtype bf16 --box 64x64 --swizzle 128B\n"
      "  jitc validate map --expr 'x0+x1' --shape 100x7 --dtype u8\n"
      "  jitc validate snapshot --in a.npy --box 8x128 --swizzle 64B --json");
  command.callback([options, &session] {
    session.action = [options, &session] { return validate(*options, session.json); };
  });
}

}  // namespace jitc
