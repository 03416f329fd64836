#include "commands.hpp"
#include "files.hpp"
#include "option_checks.hpp"
#include "report.hpp"
#include "spec/suggestion.hpp"
#include "terminal.hpp"
#include "text.hpp"
#include "usage.hpp"

#include <tmajit/error.hpp>
#include <tmajit/logging.hpp>
#include <tmajit/version.hpp>

#include <algorithm>
#include <memory>
#include <new>
#include <span>
#include <sstream>
#include <string_view>

#include <CLI/CLI.hpp>
#include <spdlog/fmt/fmt.h>
#include <unistd.h>

namespace jitc {
namespace {

using tmajit::ErrorCode;

void use_log_level(const std::string& level) {
  if (!level.empty()) tmajit::set_logger(nullptr, tmajit::parse<tmajit::LogLevel>(level));
}

/// Width of help texts in columns.
std::size_t help_columns() {
  constexpr std::size_t widest = 110;
  return std::min(columns(STDOUT_FILENO), widest);
}

/// Returns `text` with its lines wrapped to the page. Continuations are indented by `indent` columns more
/// than the line's beginning. Commands continue after a backslash, so that they can be copied.
std::string fitted(std::string_view text, std::size_t indent) {
  std::string page;
  for (const auto line : split(text, '\n')) {
    const std::size_t margin = std::min(line.find_first_not_of(' '), line.size());
    const bool is_command = line.substr(margin).starts_with("jitc ");
    const auto parts = wrap(line.substr(margin), help_columns() - margin - indent - (is_command ? 2 : 0));
    for (std::size_t i = 0; i < parts.size(); ++i) {
      page += fmt::format("{:{}}{}{}\n", "", margin + (i == 0 ? 0 : indent), parts[i],
                          is_command && i + 1 < parts.size() ? " \\" : "");
    }
  }
  return page;
}

/// CLI11's help, wrapped to the terminal. Each option shows its names, its value's type, its default and its
/// description.
class HelpFormatter : public CLI::Formatter {
 public:
  HelpFormatter() {
    label("SUBCOMMAND", "COMMAND");
    column_width(name_columns);
  }

  std::string make_option(const CLI::Option* option, bool positional) const override {
    return described("  " + make_option_name(option, positional) + make_option_opts(option),
                     make_option_desc(option));
  }
  std::string make_subcommand(const CLI::App* command) const override {
    return described("  " + command->get_display_name(true), command->get_description());
  }
  std::string make_subcommands(const CLI::App* app, CLI::AppFormatMode mode) const override {
    constexpr std::string_view group = "\nSubcommands:\n";  // CLI11 has no label for it
    auto text = CLI::Formatter::make_subcommands(app, mode);
    if (const auto at = text.find(group); at != std::string::npos)
      text.replace(at, group.size(), "\nCommands:\n");
    return text;
  }
  std::string make_description(const CLI::App* command) const override {
    return fitted(command->get_description(), 0);
  }
  std::string make_usage(const CLI::App* command, std::string name) const override {
    auto usage = CLI::Formatter::make_usage(command, std::move(name));
    usage.pop_back();
    return fitted(usage, 4);
  }
  std::string make_footer(const CLI::App* command) const override {
    return command->get_footer().empty() ? std::string() : fitted(command->get_footer(), 4);
  }

  /// Removes the mark that CLI11 adds to names that switch a flag off.
  std::string make_option_name(const CLI::Option* option, bool positional) const override {
    constexpr std::string_view mark = "{false}";
    auto names = CLI::Formatter::make_option_name(option, positional);
    for (auto at = names.find(mark); at != std::string::npos; at = names.find(mark))
      names.erase(at, mark.size());
    return names;
  }

  std::string make_option_opts(const CLI::Option* option) const override {
    if (option->get_type_size() == 0) return {};
    // CLI11 appends validators' names after a colon; the descriptions already name the legal values.
    const auto type = option->get_type_name().substr(0, option->get_type_name().find(':'));
    std::string text = type.empty() ? "" : " " + type;
    if (!option->get_default_str().empty()) text += " (" + option->get_default_str() + ")";
    return text;
  }

 private:
  static constexpr std::size_t name_columns = 30;

  /// A name with its description beside it, or below it if the name is long.
  static std::string described(std::string text, std::string_view description) {
    std::size_t column = width_of(text);
    for (const auto& line : wrap(description, std::max(help_columns(), name_columns + 30) - name_columns)) {
      if (column >= name_columns) {
        text += '\n';
        column = 0;
      }
      text += std::string(name_columns - column, ' ') + line;
      column = name_columns;
    }
    return text + '\n';
  }
};

/// Whether the command line has --json. Also works for one that cannot be parsed.
bool wants_json(int argc, const char* const* argv) {
  return std::any_of(argv, argv + argc, [](const char* word) { return std::string_view(word) == "--json"; });
}

/// "jitc cache ls"
std::string full_name(const CLI::App& command) {
  const auto* const parent = command.get_parent();
  return (parent == nullptr ? std::string() : full_name(*parent) + " ") + command.get_name();
}

std::vector<std::string> commands_of(const CLI::App& app) {
  std::vector<std::string> names;
  for (const auto* command : app.get_subcommands([](const CLI::App*) { return true; })) {
    names.push_back(command->get_name());
  }
  return names;
}

/// Throws Error{invalid_argument} that lists the commands to choose from, if none was given.
void require_command(const CLI::App& app, const Session& session) {
  if (session.action) return;
  const CLI::App* last = &app;
  while (!last->get_subcommands().empty()) last = last->get_subcommands().front();
  refuse("a command is required: {}; {} --help says more", fmt::join(commands_of(*last), ", "),
         full_name(*last));
}

/// Throws Error{invalid_argument} for the first word that the parser did not expect, if any, and suggests a
/// similar word.
void refuse_unknown_words(const CLI::App& app) {
  for (const auto* command : app.get_subcommands()) refuse_unknown_words(*command);
  const auto unknown = app.remaining();
  if (unknown.empty()) return;
  const auto& word = unknown.front();
  const auto commands = commands_of(app);
  if (word.starts_with('-')) {
    std::vector<std::string> names;
    for (const auto* option : app.get_options()) {
      for (const auto& name : option->get_lnames()) names.push_back("--" + name);
    }
    const auto name = word.substr(0, word.find('='));
    refuse("{} has no option {}{}", full_name(app), name, tmajit::suggestion(name, names));
  }
  if (commands.empty()) refuse("{} takes no \"{}\" here", full_name(app), word);
  refuse("there is no command \"{}\"; legal: {}{}", word, fmt::join(commands, ", "),
         tmajit::suggestion(word, commands));
}

/// Throws Error{invalid_argument} for "--shape=": CLI11 would take the next word for its value.
void refuse_empty_values(int argc, const char* const* argv) {
  for (const std::string_view word : std::span(argv, static_cast<std::size_t>(argc))) {
    if (word.starts_with("--") && word.find('=') == word.size() - 1) {
      refuse("{} has no value behind it; give one, or leave the option out", word);
    }
  }
}

void describe_program(CLI::App& app) {
  app.description("jitc makes Hopper TMA kernels: source, PTX, machine code, and runs of them.");
  app.set_version_flag("--version", "jitc " TMAJIT_VERSION_STRING);
  // At most one command, so that errors name an unknown one; require_command() reports a missing one.
  app.require_subcommand(0, 1);
  app.footer(
      "Exit code:\n"
      "  0  done, and nothing found\n"
      "  1  findings: of lint, of the simulated device, of a comparison\n"
      "  2  wrong usage, or something that is not legal\n"
      "  3  it could not be done: no device, no compiler, a file that cannot be read or written\n"
      "Shapes, strides and boxes are row-major as in NumPy: --box 32x64 is 32 rows of 64.\n\n"
      "Examples:\n"
      "  jitc doctor\n"
      "  jitc source copy --box 64x64 --dtype bf16 --swizzle 128B\n"
      "  jitc run map --expr 'x*2+1' --in a.npy --out y.npy\n"
      "  jitc run --help");
}

/// Reports an exception of any kind as one message on standard error (and as JSON on standard output) and
/// returns the exit code.
int report_error(const std::exception& error, bool json) {
  auto code = ErrorCode::internal;
  std::string message = error.what();
  std::vector<tmajit::Violation> violations;
  if (const auto* known = dynamic_cast<const tmajit::Error*>(&error)) code = known->code();
  if (const auto* spec = dynamic_cast<const tmajit::SpecError*>(&error)) violations = spec->violations();
  if (dynamic_cast<const CLI::Error*>(&error) != nullptr) code = ErrorCode::invalid_argument;
  if (dynamic_cast<const std::bad_alloc*>(&error) != nullptr) {
    code = ErrorCode::out_of_memory;
    message = "this machine does not have enough memory";
  }
  Json report;
  report_failure(code, message, report, violations);
  if (const auto* compile = dynamic_cast<const tmajit::CompileError*>(&error);
      compile != nullptr && !compile->log().empty()) {
    report["error"]["log"] = compile->log();
  }
  try {
    if (json) print_json(report);
  } catch (const std::exception&) {
    // Standard output is gone, but the message is already on standard error.
  }
  return code == ErrorCode::invalid_argument || code == ErrorCode::illegal_spec ? exit_code::refused
                                                                                : exit_code::failed;
}

}  // namespace

void add_action(CLI::App& command, Session& session, std::function<int(bool json)> action) {
  command.add_flag("--json", session.json, "Print one JSON object to standard output");
  command
      .add_option("--log-level", session.log_level,
                  "What the library logs to standard error: trace, debug, info, warn, err or off")
      ->check(one_of({"trace", "debug", "info", "warn", "err", "off"}))
      ->type_name("LEVEL");
  if (action) command.callback([action = std::move(action), &session] { session.action = action; });
}

namespace {

/// Returns false if --help or --version was asked for, which is then printed. Throws CLI::Error and
/// Error{invalid_argument} for wrong usage.
bool parse(CLI::App& app, int argc, const char* const* argv) {
  refuse_empty_values(argc, argv);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    // CLI11 reports --help and --version as errors, too.
    if (error.get_exit_code() == 0) {
      std::ostringstream text;
      app.exit(error, text);
      write_stdout(text.str());
      return false;
    }
    refuse_unknown_words(app);
    if (dynamic_cast<const CLI::ArgumentMismatch*>(&error) != nullptr) {
      const std::string_view what = error.what();  // "--shape: 1 required TYPE missing"
      refuse("{} needs a value", what.substr(0, what.find(':')));
    }
    throw;
  }
  return true;
}

}  // namespace

int run(int argc, const char* const* argv) {
  hold_standard_streams();
  install_signal_handling();
  Session session;
  CLI::App app;
  app.name("jitc");
  app.formatter(std::make_shared<HelpFormatter>());  // subcommands inherit it
  describe_program(app);
  add_stage_commands(app, session);
  add_run_command(app, session);
  add_launch_file_command(app, session);
  add_explain_command(app, session);
  add_tune_command(app, session);
  add_validate_command(app, session);
  add_lint_command(app, session);
  add_view_command(app, session);
  add_layout_command(app, session);
  add_cache_command(app, session);
  add_operations_command(app, session);
  add_headers_command(app, session);
  add_conformance_command(app, session);
  add_doctor_command(app, session);
  try {
    if (!parse(app, argc, argv)) return 0;
  } catch (const std::exception& error) {
    const int code = report_error(error, wants_json(argc, argv));
    if (code == exit_code::refused) tell("jitc --help and jitc COMMAND --help say what is possible\n");
    return code;
  }
  try {
    require_command(app, session);
    use_log_level(session.log_level);
    return session.action(session.json);
  } catch (const std::exception& error) {
    return report_error(error, session.json);
  }
}

}  // namespace jitc
