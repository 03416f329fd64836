#include "help_formatter.hpp"

#include "terminal.hpp"
#include "text.hpp"

#include <algorithm>

#include <unistd.h>

namespace jitc {
namespace {

constexpr std::size_t name_columns = 30;
/// Longer lines are hard to read, however wide the terminal.
constexpr std::size_t widest = 110;

}  // namespace

HelpFormatter::HelpFormatter() {
  label("SUBCOMMAND", "COMMAND");
  label("Subcommands", "Commands");
  column_width(name_columns);
}

std::string HelpFormatter::make_option(const CLI::Option* option, bool positional) const {
  std::string text = "  " + make_option_name(option, positional) + make_option_opts(option);
  const std::size_t page = std::min(columns(STDOUT_FILENO), widest);
  std::size_t column = width_of(text);
  for (const auto& line : wrap(make_option_desc(option), std::max(page, name_columns + 30) - name_columns)) {
    if (column >= name_columns) {
      text += '\n';
      column = 0;
    }
    text += std::string(name_columns - column, ' ') + line;
    column = name_columns;
  }
  return text + '\n';
}

std::string HelpFormatter::make_option_opts(const CLI::Option* option) const {
  if (option->get_type_size() == 0) return {};
  // What follows a colon are the names of validators; descriptions say it better.
  const auto type = option->get_type_name().substr(0, option->get_type_name().find(':'));
  std::string text = type.empty() ? "" : " " + type;
  if (!option->get_default_str().empty()) text += " (" + option->get_default_str() + ")";
  return text;
}

}  // namespace jitc
