#include "command_line/help.hpp"

#include "command_line/description.hpp"
#include "report/text.hpp"

#include <algorithm>
#include <utility>

#include <spdlog/fmt/fmt.h>

TMAJIT_BEGIN
namespace command_line {
namespace {

constexpr std::size_t name_columns = 30;

}  // namespace

HelpFormatter::HelpFormatter(std::size_t width) : width_(width) {
  label("SUBCOMMAND", "COMMAND");
  column_width(name_columns);
}

std::string HelpFormatter::make_option(const CLI::Option* option, bool positional) const {
  return described("  " + make_option_name(option, positional) + make_option_opts(option),
                   make_option_desc(option));
}

std::string HelpFormatter::make_subcommand(const CLI::App* command) const {
  return described("  " + command->get_display_name(true), command->get_description());
}

std::string HelpFormatter::make_subcommands(const CLI::App* app, CLI::AppFormatMode mode) const {
  constexpr std::string_view group = "\nSubcommands:\n";  // CLI11 has no label for it
  auto text = CLI::Formatter::make_subcommands(app, mode);
  if (const auto at = text.find(group); at != std::string::npos)
    text.replace(at, group.size(), "\nCommands:\n");
  return text;
}

std::string HelpFormatter::make_description(const CLI::App* command) const {
  return fitted(command->get_description(), 0);
}

std::string HelpFormatter::make_usage(const CLI::App* command, std::string name) const {
  auto usage = CLI::Formatter::make_usage(command, std::move(name));
  usage.pop_back();
  return fitted(usage, 4);
}

std::string HelpFormatter::make_footer(const CLI::App* command) const {
  return command->get_footer().empty() ? std::string() : fitted(command->get_footer(), 4);
}

/// Removes the mark that CLI11 adds to names that switch a flag off.
std::string HelpFormatter::make_option_name(const CLI::Option* option, bool positional) const {
  constexpr std::string_view mark = "{false}";
  auto names = CLI::Formatter::make_option_name(option, positional);
  for (auto at = names.find(mark); at != std::string::npos; at = names.find(mark))
    names.erase(at, mark.size());
  return names;
}

/// Descriptions name the legal values, so the names of validators are not shown.
std::string HelpFormatter::make_option_opts(const CLI::Option* option) const {
  if (option->get_type_size() == 0) return {};
  const auto type = type_text(*option);
  std::string text = type.empty() ? "" : " " + type;
  if (!option->get_default_str().empty()) text += " (" + option->get_default_str() + ")";
  return text;
}

/// `text` with its lines wrapped to the page. Continuations are indented by `indent` columns more than the
/// line's beginning. Commands continue after a backslash, so that they can be copied.
std::string HelpFormatter::fitted(std::string_view text, std::size_t indent) const {
  std::string page;
  for (const auto line : split(text, '\n')) {
    const std::size_t margin = std::min(line.find_first_not_of(' '), line.size());
    const bool is_command = line.substr(margin).starts_with("jitc ");
    const auto parts = wrap(line.substr(margin), width_ - margin - indent - (is_command ? 2 : 0));
    for (std::size_t i = 0; i < parts.size(); ++i) {
      page += fmt::format("{:{}}{}{}\n", "", margin + (i == 0 ? 0 : indent), parts[i],
                          is_command && i + 1 < parts.size() ? " \\" : "");
    }
  }
  return page;
}

/// A name with its description beside it, or below it if the name is long.
std::string HelpFormatter::described(std::string text, std::string_view description) const {
  std::size_t column = width_of(text);
  for (const auto& line : wrap(description, std::max(width_, name_columns + 30) - name_columns)) {
    if (column >= name_columns) {
      text += '\n';
      column = 0;
    }
    text += std::string(name_columns - column, ' ') + line;
    column = name_columns;
  }
  return text + '\n';
}

}  // namespace command_line
TMAJIT_END
