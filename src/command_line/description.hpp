#pragma once

/// A command line as plain data, from which completions and manual pages are written.
#include <tmajit/version.hpp>

#include <string>
#include <vector>

#include <CLI/CLI.hpp>

TMAJIT_BEGIN
namespace command_line {

/// An option, or an argument without dashes.
struct OptionText {
  /// "-o", "--output". An argument without dashes has one: its name in the help.
  std::vector<std::string> names = {};
  std::string type = {};      ///< "FILE"; empty for a flag
  std::string fallback = {};  ///< the default; empty if the description says it
  std::string description = {};
  std::string group = {};
  std::vector<std::string> words = {};  ///< values that completions offer
  bool takes_files = false;
  bool takes_folders = false;
  bool takes_list = false;  ///< values separated by commas
  bool repeats = false;

  friend bool operator==(const OptionText&, const OptionText&) = default;
};

struct CommandText {
  std::string name = {};  ///< "jitc cache ls"
  std::string description = {};
  std::string footer = {};
  std::vector<OptionText> options = {};
  std::vector<OptionText> arguments = {};
  std::vector<CommandText> commands = {};

  /// "ls"
  [[nodiscard]] std::string last_name() const { return name.substr(name.rfind(' ') + 1); }
};

/// The description of `app` and its commands. Reads the words of an option from the validators of
/// option_checks.hpp, and files and folders from the type that its help shows.
[[nodiscard]] CommandText describe(const CLI::App& app);

[[nodiscard]] OptionText describe(const CLI::Option& option);

/// The command itself, and all commands below it, in the order of the help.
[[nodiscard]] std::vector<const CommandText*> all_commands(const CommandText& command);

/// The type of an option's value in its help: "MODE", without the names of validators.
[[nodiscard]] std::string type_text(const CLI::Option& option);

/// "jitc cache ls"
[[nodiscard]] std::string full_name(const CLI::App& command);

}  // namespace command_line
TMAJIT_END
