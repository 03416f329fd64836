#include "command_line/misspelt.hpp"

#include "command_line/description.hpp"
#include "spec/refuse.hpp"
#include "spec/suggestion.hpp"

#include <string_view>

TMAJIT_BEGIN
namespace command_line {

std::vector<std::string> commands_of(const CLI::App& app) {
  std::vector<std::string> names;
  for (const auto* command : app.get_subcommands([](const CLI::App*) { return true; })) {
    names.push_back(command->get_name());
  }
  return names;
}

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
    refuse("{} has no option {}{}", full_name(app), name, suggestion(name, names));
  }
  if (commands.empty()) refuse("{} takes no \"{}\" here", full_name(app), word);
  refuse("there is no command \"{}\"; legal: {}{}", word, fmt::join(commands, ", "),
         suggestion(word, commands));
}

void refuse_usage(const CLI::App& app, const CLI::ParseError& error) {
  refuse_unknown_words(app);
  if (dynamic_cast<const CLI::ArgumentMismatch*>(&error) != nullptr) {
    const std::string_view what = error.what();  // "--shape: 1 required TYPE missing"
    refuse("{} needs a value", what.substr(0, what.find(':')));
  }
  throw error;
}

void refuse_empty_values(std::span<const char* const> words) {
  for (const std::string_view word : words) {
    if (word.starts_with("--") && word.find('=') == word.size() - 1) {
      refuse("{} has no value behind it; give one, or leave the option out", word);
    }
  }
}

void refuse_missing_command(const CLI::App& app) {
  const CLI::App* last = &app;
  while (!last->get_subcommands().empty()) last = last->get_subcommands().front();
  refuse("a command is required: {}; {} --help says more", fmt::join(commands_of(*last), ", "),
         full_name(*last));
}

}  // namespace command_line
TMAJIT_END
