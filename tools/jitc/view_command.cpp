#include "commands.hpp"
#include "files.hpp"
#include "option_group.hpp"
#include "plan_kernels.hpp"
#include "report.hpp"
#include "terminal.hpp"
#include "text.hpp"
#include "usage.hpp"

#include <tmajit/view/page.hpp>

#include <memory>
#include <optional>

#include <CLI/CLI.hpp>
#include <unistd.h>

namespace jitc {
namespace {

struct ViewCommand : KernelOptions {
  std::string compare;
  std::string out;
};

constexpr auto alternatives_help =
    "A file of CUDA C++ (kernel.cu), a file of PTX (kernel.ptx, - for standard input), or an operation: ";

tmajit::ViewedKernel viewed(const KernelOptions& options) {
  const std::string& word = options.problem.word;
  if (word.ends_with(".ptx") || word == "-")
    return tmajit::viewed_ptx(std::string(InputFile(word).text()), tmajit::input_name(word));
  const Progress progress("compiling");
  const auto runtime = planning_runtime(options.compiler, select_chip("auto").chip);
  if (is_own_kernel(word)) return viewed_kernel(runtime, read_own_kernel(word, options.own));
  const Problem problem = make_problem(options.problem, Purpose::look);
  const auto plan =
      tmajit::plan(runtime, problem.operation(problem.planning_addresses()), problem.request.family_name());
  static_cast<void>(kernel_of_step({plan.plans().begin(), plan.plans().end()}, options.step));
  auto kernel = viewed_kernel(runtime, plan, options.step - 1);
  kernel.title = describe(problem);
  return kernel;
}

/// Parses the words of --compare. If they begin with an option, the operation or file is that of `first`.
KernelOptions compared(const std::string& words, const KernelOptions& first) {
  CLI::App app;
  KernelOptions options;
  add_kernel_options(app, options, alternatives_help);
  options.problem.word = first.problem.word;
  app.get_option("OPERATION")->required(!words.starts_with('-'));
  try {
    app.parse(words);
  } catch (const CLI::ParseError& error) {
    refuse("--compare \"{}\": {}", words, error.what());
  }
  check_own_usage(app, options.problem.word);
  return options;
}

int view(const ViewCommand& command, bool json) {
  if (to_standard_output(command.out) && !json && is_terminal(STDOUT_FILENO))
    refuse("a page would flood the terminal: write it with -o kernel.html, or into a pipe");
  std::optional<OutputFile> file;
  if (!command.out.empty()) file.emplace(command.out);
  const auto kernel = viewed(command);
  const std::string page = command.compare.empty()
                               ? view_page(kernel)
                               : view_page(kernel, viewed(compared(command.compare, command)));
  if (file) {
    file->write(page);
    file->commit();
  }
  if (json) {
    print_json({{"title", kernel.title},
                {"bytes", page.size()},
                {"findings", kernel.lint.findings.size()},
                file ? Json{"output", command.out} : Json{"text", page}});
  } else if (file) {
    say("view", "{}: {}", output_name(command.out), describe_bytes(page.size()));
  } else {
    write_stdout(page);
  }
  return 0;
}

}  // namespace

void add_view_command(CLI::App& app, Session& session) {
  auto& command = *app.add_subcommand("view", "Write a page with a kernel's source, PTX and SASS in step");
  auto options = std::make_shared<ViewCommand>();
  add_kernel_options(command, *options, alternatives_help);
  OptionGroup group(command);
  group.add("--compare", options->compare, "WORDS",
            "Show the differences to another kernel. WORDS are its operation or file, and its options");
  group.add("-o,--output", options->out, "FILE.html", "Write to this file; default: standard output");
  command.footer(
      "The page is one file that loads nothing. docs/view.md describes it.\n\n"
      "Examples:\n"
      "  jitc view permute --shape 8192x8192 --axes 1,0 --dtype f16 -o transpose.html\n"
      "  jitc view kernel.cu -D stages=4 --compare '-D stages=3' -o stages.html\n"
      "  jitc view kernel.ptx -o kernel.html");
  add_action(command, session, [options, &command](bool json) {
    check_own_usage(command, options->problem.word);
    return view(*options, json);
  });
}

}  // namespace jitc
