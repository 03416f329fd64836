#include "command_line/completions.hpp"
#include "command_line/man_page.hpp"
#include "commands.hpp"
#include "files.hpp"
#include "option_group.hpp"

#include <tmajit/version.hpp>

#include <functional>
#include <memory>
#include <string>

#include <CLI/CLI.hpp>

namespace jitc {
namespace {

namespace command_line = tmajit::command_line;

/// Adds a command that describes the command line of `app`, passes the description to `text`, and prints the
/// result or writes it to the file of -o.
CLI::App& add_printer(CLI::App& app, Session& session, const char* name, const char* description,
                      std::function<std::string(const command_line::CommandText&)> text) {
  auto& command = *app.add_subcommand(name, description);
  auto out = std::make_shared<std::string>();
  OptionGroup(command).add("-o,--output", *out, "FILE", "Write to this file; default: standard output");
  add_action(command, session, [&app, out, text = std::move(text)](bool) {
    write_text(*out, text(command_line::describe(app)));
    return exit_code::done;
  });
  return command;
}

}  // namespace

void add_completions_commands(CLI::App& app, Session& session) {
  auto shell = std::make_shared<std::string>();
  auto& completions = add_printer(app, session, "completions", "Print the completions of jitc for a shell",
                                  [shell](const command_line::CommandText& program) {
                                    return *shell == "bash"  ? bash_completions(program)
                                           : *shell == "zsh" ? zsh_completions(program)
                                                             : fish_completions(program);
                                  });
  completions.add_option("SHELL", *shell, "bash, zsh or fish")
      ->required()
      ->type_name("")
      ->check(one_of({"bash", "zsh", "fish"}));
  completions.footer(
      "`cmake --install` installs them, so that new shells find them. Without an installation:\n"
      "  source <(jitc completions bash)\n"
      "  source <(jitc completions zsh)       # after compinit\n"
      "  jitc completions fish | source\n\n"
      "Example:\n"
      "  jitc completions fish -o ~/.config/fish/completions/jitc.fish");
  auto& man = add_printer(
      app, session, "man", "Print the manual page of jitc",
      [](const command_line::CommandText& program) { return man_page(program, TMAJIT_VERSION_STRING); });
  man.footer(
      "Examples:\n"
      "  jitc man | man -l -\n"
      "  jitc man -o jitc.1");
}

}  // namespace jitc
