#pragma once

#include <functional>
#include <string>

namespace CLI {
class App;
}

namespace jitc {

/// What the command line asked for, carried out once all of it has been understood.
struct Session {
  std::function<int()> action;  ///< returns the exit code
  bool json = false;
  std::string log_level;
};

/// Each adds its commands to `app`; parsing one sets the session's action. `session` must outlive both.
void add_stage_commands(CLI::App& app, Session& session);
void add_run_command(CLI::App& app, Session& session);
void add_explain_command(CLI::App& app, Session& session);
void add_tune_command(CLI::App& app, Session& session);
void add_validate_command(CLI::App& app, Session& session);
void add_lint_command(CLI::App& app, Session& session);
void add_layout_command(CLI::App& app, Session& session);
void add_cache_command(CLI::App& app, Session& session);
void add_doctor_command(CLI::App& app, Session& session);

/// --json and --log-level, which every command has.
void add_common_options(CLI::App& command, Session& session);

}  // namespace jitc
