#include "command_line/man_page.hpp"

#include "report/text.hpp"

#include <algorithm>
#include <map>

#include <llvm/ADT/StringRef.h>
#include <spdlog/fmt/fmt.h>
#include <spdlog/fmt/ranges.h>

TMAJIT_BEGIN
namespace command_line {
namespace {

/// Escapes a text for troff: hyphens can be copied, and no line begins with a request.
std::string troff_text(std::string_view text) {
  std::string result;
  for (const char c : text) {
    if (c == '\\') {
      result += "\\e";
    } else if (c == '-') {
      result += "\\-";
    } else if (c == '\'') {
      result += "\\(aq";
    } else {
      result += c;
    }
  }
  return result.starts_with('.') ? "\\&" + result : result;
}

/// The lines of a footer, as they are.
std::string literal(std::string_view text) {
  std::string page = ".nf\n";
  for (const auto line : split(text, '\n'))
    page += line.empty() ? std::string(".sp\n") : troff_text(line) + "\n";
  return page + ".fi\n";
}

/// "jitc [OPTION]... OPERATION"
std::string synopsis(const CommandText& command) {
  std::string text = fmt::format("\\fB{}\\fR", troff_text(command.name));
  if (!command.options.empty()) text += " [\\fIOPTION\\fR]...";
  for (const auto& argument : command.arguments)
    text += fmt::format(" \\fI{}\\fR", troff_text(argument.names.front()));
  if (!command.commands.empty()) text += " \\fICOMMAND\\fR";
  return text + "\n";
}

std::string option_entry(const OptionText& option, const std::vector<std::string>& commands) {
  std::vector<std::string> names;
  for (const auto& name : option.names) names.push_back(fmt::format("\\fB{}\\fR", troff_text(name)));
  std::string text = fmt::format(".TP\n{}", fmt::join(names, ", "));
  if (!option.type.empty()) text += fmt::format(" \\fI{}\\fR", troff_text(option.type));
  text += "\n" + troff_text(option.description);
  if (!option.fallback.empty()) text += fmt::format(" (default: {})", troff_text(option.fallback));
  if (!commands.empty())
    text += fmt::format("\n.br\nCommands: {}", troff_text(fmt::to_string(fmt::join(commands, ", "))));
  return text + "\n";
}

/// An option, and all commands that have it with the same description.
struct SharedOption {
  const OptionText* option;
  std::vector<std::string> commands;
};

}  // namespace

std::string man_page(const CommandText& program, std::string_view version) {
  const auto all = all_commands(program);
  std::string commands;
  std::vector<SharedOption> shared;
  std::vector<std::string> groups;
  for (const auto* command : all) {
    const std::string name(llvm::StringRef(command->name).drop_front(program.name.size()).ltrim());
    const auto add = [&](const OptionText& option) {
      const auto same =
          std::ranges::find_if(shared, [&](const SharedOption& one) { return *one.option == option; });
      auto& entry = same == shared.end() ? shared.emplace_back(SharedOption{&option, {}}) : *same;
      if (!name.empty()) entry.commands.push_back(name);
      if (std::ranges::find(groups, option.group) == groups.end()) groups.push_back(option.group);
    };
    std::ranges::for_each(command->arguments, add);
    std::ranges::for_each(command->options, add);
    if (name.empty()) continue;
    commands += fmt::format(".SS \"{}\"\n{}.PP\n{}\n", troff_text(command->name), synopsis(*command),
                            troff_text(command->description));
    if (!command->footer.empty()) commands += ".PP\n" + literal(command->footer);
  }
  std::string options;
  for (const auto& group : groups) {
    options += fmt::format(".SS \"{}\"\n", troff_text(group));
    for (const auto& [option, names] : shared) {
      // An option of every command needs no list of them.
      if (option->group == group)
        options += option_entry(*option, names.size() + 1 < all.size() ? names : std::vector<std::string>());
    }
  }
  llvm::StringRef description = program.description;
  description.consume_front(program.name);
  const auto upper = llvm::StringRef(program.name).upper();
  return fmt::format(
      "'\\\" -*- coding: utf-8 -*-\n"
      ".TH {0} 1 \"\" \"{1} {2}\"\n"
      ".SH NAME\n{1} \\- {3}\n"
      ".SH SYNOPSIS\n{4}"
      ".SH COMMANDS\n{5}"
      ".SH ARGUMENTS AND OPTIONS\n{6}"
      ".SH EXIT STATUS AND EXAMPLES\n{7}",
      upper, program.name, troff_text(version), troff_text(description.ltrim()), synopsis(program), commands,
      options, literal(program.footer));
}

}  // namespace command_line
TMAJIT_END
