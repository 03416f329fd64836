#include "cli.hpp"

#include "commands.hpp"
#include "files.hpp"
#include "help_formatter.hpp"
#include "report.hpp"
#include "terminal.hpp"

#include <tmajit/error.hpp>
#include <tmajit/logging.hpp>
#include <tmajit/version.hpp>

#include <algorithm>
#include <memory>
#include <new>
#include <string_view>

#include <CLI/CLI.hpp>
#include <spdlog/fmt/fmt.h>
#include <spdlog/sinks/stdout_color_sinks.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

namespace jitc {
namespace {

using tmajit::ErrorCode;

int exit_code(ErrorCode code) {
  return code == ErrorCode::invalid_argument || code == ErrorCode::illegal_spec ? 2 : 1;
}

/// What an exception of any kind amounts to.
struct Failure {
  ErrorCode code = ErrorCode::internal;
  std::string message;
  std::vector<tmajit::Violation> violations = {};
  std::string log = {};  ///< the compiler's
};

Failure examine(const std::exception& error) {
  Failure failure{.message = error.what()};
  if (const auto* known = dynamic_cast<const tmajit::Error*>(&error)) failure.code = known->code();
  if (const auto* spec = dynamic_cast<const tmajit::SpecError*>(&error))
    failure.violations = spec->violations();
  if (const auto* compile = dynamic_cast<const tmajit::CompileError*>(&error)) failure.log = compile->log();
  if (dynamic_cast<const CLI::Error*>(&error) != nullptr) failure.code = ErrorCode::invalid_argument;
  if (dynamic_cast<const std::bad_alloc*>(&error) != nullptr) {
    failure.code = ErrorCode::out_of_memory;
    failure.message = "this machine has not enough memory";
  }
  return failure;
}

void use_log_level(const std::string& level) {
  if (level.empty()) return;
  auto logger =
      std::make_shared<spdlog::logger>("tmajit", std::make_shared<spdlog::sinks::stderr_color_sink_mt>());
  logger->set_level(spdlog::level::from_str(level));
  tmajit::set_logger(std::move(logger));
}

/// Before the command line is understood, whether it would ask for JSON.
bool wants_json(int argc, const char* const* argv) {
  return std::any_of(argv, argv + argc, [](const char* word) { return std::string_view(word) == "--json"; });
}

/// Throws Error{invalid_argument} that lists the commands to choose from, if none was given.
void require_command(const CLI::App& app, const Session& session) {
  if (session.action) return;
  const CLI::App* last = &app;
  while (!last->get_subcommands().empty()) last = last->get_subcommands().front();
  std::vector<std::string> names;
  for (const auto* command : last->get_subcommands([](const CLI::App*) { return true; })) {
    names.push_back(command->get_name());
  }
  throw tmajit::Error(ErrorCode::invalid_argument,
                      fmt::format("a command is required: {}; {} --help says more", fmt::join(names, ", "),
                                  last == &app ? "jitc" : "jitc " + last->get_name()));
}

void describe_program(CLI::App& app) {
  app.description("jitc makes Hopper TMA kernels: source, PTX, machine code, and runs of them.");
  app.set_version_flag("--version", "jitc " TMAJIT_VERSION_STRING);
  app.require_subcommand(
      0, 1);  // a word that is no command is then named; none at all is found by require_command()
  app.footer(
      "Exit code: 0 done, 1 failure, 2 wrong usage or an illegal spec.\n"
      "Shapes, strides and boxes are row-major as in NumPy: --box 32x64 is 32 rows of 64.\n\n"
      "Examples:\n"
      "  jitc doctor\n"
      "  jitc source copy --box 64x64 --dtype bf16 --swizzle 128B\n"
      "  jitc run map --expr 'x*2+1' --in a.npy --out y.npy\n"
      "  jitc run --help");
}

}  // namespace

void add_common_options(CLI::App& command, Session& session) {
  command.add_flag("--json", session.json, "Print one JSON object to standard output");
  command
      .add_option("--log-level", session.log_level,
                  "What the library logs to standard error: trace, debug, info, warn, err or off")
      ->check(CLI::IsMember({"trace", "debug", "info", "warn", "err", "off"}))
      ->type_name("LEVEL");
}

int report_error(const std::exception& error, bool json) {
  const auto failure = examine(error);
  fmt::print(stderr, "{} {}\n", styled("jitc: error:", Style::bad, STDERR_FILENO), failure.message);
  if (json) {
    Json object{{"code", tmajit::name(failure.code)},
                {"message", failure.message},
                {"violations", to_json(failure.violations)}};
    if (!failure.log.empty()) object["log"] = failure.log;
    try {
      print_json({{"error", object}});
    } catch (const std::exception&) {
      // Standard output is gone, and the message already stands on standard error.
    }
  }
  return exit_code(failure.code);
}

int run(int argc, const char* const* argv) {
  install_signal_handling();
  Session session;
  CLI::App app;
  app.name("jitc");
  app.formatter(std::make_shared<HelpFormatter>());  // subcommands inherit it
  describe_program(app);
  add_stage_commands(app, session);
  add_run_command(app, session);
  add_explain_command(app, session);
  add_tune_command(app, session);
  add_validate_command(app, session);
  add_lint_command(app, session);
  add_layout_command(app, session);
  add_cache_command(app, session);
  add_doctor_command(app, session);
  try {
    app.parse(argc, argv);
    require_command(app, session);
    use_log_level(session.log_level);
    return session.action();
  } catch (const CLI::ParseError& error) {
    // --help and --version are errors too, to the parser.
    if (error.get_exit_code() == 0) {
      app.exit(error);
      return 0;
    }
    const int code = report_error(error, wants_json(argc, argv));
    fmt::print(stderr, "jitc --help and jitc COMMAND --help say what is possible\n");
    return code;
  } catch (const std::exception& error) {
    return report_error(error, session.json);
  }
}

}  // namespace jitc
