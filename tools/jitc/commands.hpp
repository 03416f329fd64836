#pragma once

#include <functional>
#include <string>

namespace CLI {
class App;
}

namespace jitc {

/// Exit codes of jitc, one per meaning; docs/check.md has the table.
namespace exit_code {
inline constexpr int done = 0;            ///< done, without problems
inline constexpr int problems_found = 1;  ///< findings, reports, results that differ
inline constexpr int refused = 2;         ///< the command line or an input is not legal
inline constexpr int failed = 3;          ///< no device, no compiler, no memory, no such file
}  // namespace exit_code

/// The action that the command line asks for. It runs after the whole line has been parsed.
struct Session {
  std::function<int(bool json)> action;  ///< returns the exit code
  bool json = false;
  std::string log_level;
};

// Each function adds its commands to `app`. Parsing a command sets the action of `session`, which must
// outlive `app`.
void add_stage_commands(CLI::App& app, Session& session);
void add_run_command(CLI::App& app, Session& session);
void add_launch_file_command(CLI::App& app, Session& session);
void add_explain_command(CLI::App& app, Session& session);
void add_tune_command(CLI::App& app, Session& session);
void add_validate_command(CLI::App& app, Session& session);
void add_lint_command(CLI::App& app, Session& session);
void add_view_command(CLI::App& app, Session& session);
void add_layout_command(CLI::App& app, Session& session);
void add_cache_command(CLI::App& app, Session& session);
void add_key_command(CLI::App& app, Session& session);
void add_top_command(CLI::App& app, Session& session);
void add_pack_command(CLI::App& app, Session& session);
void add_warm_command(CLI::App& app, Session& session);
void add_operations_command(CLI::App& app, Session& session);
void add_headers_command(CLI::App& app, Session& session);
void add_conformance_command(CLI::App& app, Session& session);
void add_doctor_command(CLI::App& app, Session& session);
/// `completions` and `man`, which describe all commands of `app`.
void add_completions_commands(CLI::App& app, Session& session);

/// Adds the options of every command, --json and --log-level, and sets the action that runs after parsing.
/// `action` is null for a command that only has subcommands.
void add_action(CLI::App& command, Session& session, std::function<int(bool json)> action);

/// Parses the command line, runs its command and returns the exit code.
[[nodiscard]] int run(int argc, const char* const* argv);

}  // namespace jitc
