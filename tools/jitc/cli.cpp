#include "command_line/help.hpp"
#include "command_line/misspelt.hpp"
#include "command_line/streams.hpp"
#include "commands.hpp"
#include "files.hpp"
#include "option_group.hpp"
#include "report.hpp"
#include "terminal.hpp"
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

namespace command_line = tmajit::command_line;
using tmajit::ErrorCode;

void use_log_level(const std::string& level) {
  if (!level.empty()) tmajit::set_logger(nullptr, tmajit::parse<tmajit::LogLevel>(level));
}

/// Width of help texts in columns.
std::size_t help_columns() {
  constexpr std::size_t widest = 110;
  return std::min(columns(STDOUT_FILENO), widest);
}

/// Whether the command line has --json. Also works for one that cannot be parsed.
bool wants_json(int argc, const char* const* argv) {
  return std::any_of(argv, argv + argc, [](const char* word) { return std::string_view(word) == "--json"; });
}

void describe_program(CLI::App& app) {
  app.description("jitc makes Hopper TMA kernels: source, PTX, machine code, and runs of them.");
  app.set_version_flag("--version", "jitc " TMAJIT_VERSION_STRING);
  // At most one command, so that errors name an unknown one; run() reports a missing one.
  app.require_subcommand(0, 1);
  app.footer(
      "Exit code:\n"
      "  0  done, and nothing found\n"
      "  1  findings: of lint, of the simulated device, of a comparison\n"
      "  2  wrong usage, or something that is not legal\n"
      "  3  it could not be done: no device, no compiler, a file that cannot be read or written\n"
      "In place of a file, - is standard input, or standard output for outputs. ./- is a file of that name.\n"
      "Shapes, strides and boxes are row-major as in NumPy: --box 32x64 is 32 rows of 64.\n\n"
      "Examples:\n"
      "  jitc doctor\n"
      "  jitc source copy --box 64x64 --dtype bf16 --swizzle 128B\n"
      "  jitc run map --expr 'x*2+1' --in a.npy --out y.npy\n"
      "  jitc run cast --out-dtype f16 --in - --out - <a.npy >y.npy\n"
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

/// If --help or --version is given, prints its text and returns false. Throws CLI::Error and
/// Error{invalid_argument} for wrong usage.
bool parse(CLI::App& app, int argc, const char* const* argv) {
  command_line::refuse_empty_values(std::span(argv, static_cast<std::size_t>(argc)));
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
    command_line::refuse_usage(app, error);
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
  app.formatter(std::make_shared<command_line::HelpFormatter>(help_columns()));  // subcommands inherit it
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
  add_key_command(app, session);
  add_top_command(app, session);
  add_pack_command(app, session);
  add_warm_command(app, session);
  add_operations_command(app, session);
  add_headers_command(app, session);
  add_conformance_command(app, session);
  add_doctor_command(app, session);
  add_completions_commands(app, session);
  try {
    if (!parse(app, argc, argv)) return 0;
  } catch (const std::exception& error) {
    const int code = report_error(error, wants_json(argc, argv));
    if (code == exit_code::refused)
      write_stderr("jitc --help and jitc COMMAND --help say what is possible\n");
    return code;
  }
  try {
    if (!session.action) command_line::refuse_missing_command(app);
    command_line::refuse_unusable_streams(app);
    use_log_level(session.log_level);
    return session.action(session.json);
  } catch (const std::exception& error) {
    return report_error(error, session.json);
  }
}

}  // namespace jitc
