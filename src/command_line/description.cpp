#include "command_line/description.hpp"

#include "report/text.hpp"

#include <algorithm>
#include <string_view>

TMAJIT_BEGIN
namespace command_line {
namespace {

/// The words in the validators' descriptions, such as "{late,early,random}", which CLI11 appends to the type.
std::vector<std::string> offered_words(const std::string& type) {
  std::vector<std::string> words;
  for (auto begin = type.find(":{"); begin != std::string::npos; begin = type.find(":{", begin + 1)) {
    const auto length = type.find('}', begin) - begin - 2;
    for (const auto word : split(std::string_view(type).substr(begin + 2, length), ',')) {
      if (std::ranges::find(words, word) == words.end()) words.emplace_back(word);
    }
  }
  return words;
}

}  // namespace

OptionText describe(const CLI::Option& option) {
  OptionText text{.type = type_text(option), .fallback = option.get_default_str()};
  for (const auto& name : option.get_snames()) text.names.push_back("-" + name);
  for (const auto& name : option.get_lnames()) text.names.push_back("--" + name);
  if (option.get_positional()) text.names = {option.get_name(true)};
  text.description = option.get_description();
  text.group = option.get_positional() ? "Arguments" : option.get_group();
  text.words = offered_words(option.get_type_name());
  text.takes_files = std::erase(text.words, "FILE") > 0 || text.type.starts_with("FILE");
  text.takes_folders = text.type == "FOLDER" || text.type == "DIR";
  text.takes_list = text.type.find(',') != std::string::npos;
  text.repeats = option.get_multi_option_policy() == CLI::MultiOptionPolicy::TakeAll && !text.type.empty();
  return text;
}

std::string type_text(const CLI::Option& option) {
  if (option.get_type_size() == 0) return {};
  const auto type = option.get_type_name();
  return type.substr(0, type.find(':'));
}

std::string full_name(const CLI::App& command) {
  const auto* const parent = command.get_parent();
  return (parent == nullptr ? std::string() : full_name(*parent) + " ") + command.get_name();
}

CommandText describe(const CLI::App& app) {
  CommandText text{.name = full_name(app), .description = app.get_description(), .footer = app.get_footer()};
  for (const auto* option : app.get_options())
    (option->get_positional() ? text.arguments : text.options).push_back(describe(*option));
  for (const auto* command : app.get_subcommands([](const CLI::App*) { return true; }))
    text.commands.push_back(describe(*command));
  return text;
}

std::vector<const CommandText*> all_commands(const CommandText& command) {
  std::vector<const CommandText*> all{&command};
  for (const auto& subcommand : command.commands) {
    const auto more = all_commands(subcommand);
    all.insert(all.end(), more.begin(), more.end());
  }
  return all;
}

}  // namespace command_line
TMAJIT_END
