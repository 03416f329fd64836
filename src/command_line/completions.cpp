#include "command_line/completions.hpp"

#include "report/text.hpp"

#include <algorithm>
#include <map>
#include <string_view>

#include <spdlog/fmt/fmt.h>
#include <spdlog/fmt/ranges.h>

TMAJIT_BEGIN
namespace command_line {
namespace {

/// `text` with each of `special` replaced by `escape` and itself.
std::string escaped(std::string_view text, std::string_view special, std::string_view escape) {
  std::string result;
  for (const char c : text) {
    if (special.find(c) != std::string_view::npos) result += escape;
    result += c;
  }
  return result;
}

/// The beginning of a description: its first sentence, or as much of it as fits a line of a menu.
std::string summary(std::string_view description) {
  constexpr std::size_t widest = 72;
  const auto sentence = description.substr(0, description.find(". "));
  const auto lines = wrap(sentence, widest);
  return lines.size() == 1 ? lines.front() : lines.front() + " …";
}

std::vector<std::string> names_of(const std::vector<CommandText>& commands) {
  std::vector<std::string> names;
  names.reserve(commands.size());
  for (const auto& command : commands) names.push_back(command.last_name());
  return names;
}

std::vector<std::string> names_of(const std::vector<OptionText>& options) {
  std::vector<std::string> names;
  for (const auto& option : options) names.insert(names.end(), option.names.begin(), option.names.end());
  return names;
}

// bash

/// The shell assignments that select the completions of an option's value; "return" if there are none.
std::string bash_values(const OptionText& option) {
  std::string text;
  if (!option.words.empty()) text += fmt::format(" values='{}'", fmt::join(option.words, " "));
  if (option.takes_files) text += " files=f";
  if (option.takes_folders) text += " files=d";
  return text.empty() ? "return" : text.substr(1);
}

/// The shell's cases of "$command $before", where `before` is an option that takes a value. If an option has
/// the same completions in all commands that have it, its case does not name the command.
std::string bash_options(const std::vector<const CommandText*>& commands) {
  std::map<std::string, std::map<std::string, std::vector<std::string>>> values;  // option, values, commands
  for (const auto* command : commands) {
    for (const auto& option : command->options) {
      if (option.type.empty()) continue;
      for (const auto& name : option.names) values[name][bash_values(option)].push_back(command->name);
    }
  }
  std::map<std::string, std::vector<std::string>> patterns;
  for (const auto& [name, meanings] : values) {
    for (const auto& [value, names] : meanings) {
      if (meanings.size() == 1) patterns[value].push_back(fmt::format("*' {}'", name));
      for (const auto& command : names) {
        if (meanings.size() > 1) patterns[value].push_back(fmt::format("'{} {}'", command, name));
      }
    }
  }
  std::string text;
  for (const auto& [value, cases] : patterns)
    text += fmt::format("    {}) {} ;;\n", fmt::join(cases, " | "), value);
  return text;
}

// zsh

/// `text` within single quotes of a shell.
std::string shell_word(std::string_view text) {
  std::string result = "'";
  for (const char c : text) result += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return result + "'";
}

/// The message and action of _arguments for a value: ":MODE:(late early random)".
std::string zsh_value(const OptionText& option) {
  constexpr std::string_view words_or_files =
      R"x({{_alternative "words\:word\:({})" "files\:file\:_files"}})x";
  const auto words = fmt::to_string(fmt::join(option.words, " "));
  std::string action = " ";
  if (!words.empty()) {
    action = option.takes_list ? "_sequence compadd - " + words : "(" + words + ")";
    if (option.takes_files) action = fmt::format(words_or_files, words);
  } else if (option.takes_files) {
    action = "_files";
  } else if (option.takes_folders) {
    action = "_files -/";
  }
  const auto& message = option.type.empty() ? option.names.front() : option.type;
  return fmt::format(":{}:{}", escaped(message, ":", "\\"), action);
}

/// The arguments of _arguments for an option, one for each of its names.
std::string zsh_option(const OptionText& option) {
  std::string text;
  const auto exclusions =
      option.repeats ? std::string("*") : fmt::format("({})", fmt::join(option.names, " "));
  for (const auto& name : option.names) {
    const auto sign = option.type.empty() ? "" : name.starts_with("--") ? "=" : "+";
    const auto value = option.type.empty() ? std::string() : zsh_value(option);
    text += fmt::format(" \\\n    {}",
                        shell_word(fmt::format("{}{}{}[{}]{}", exclusions, name, sign,
                                               escaped(summary(option.description), "[]\\", "\\"), value)));
  }
  return text;
}

std::string function_name(std::string name) {
  std::ranges::replace(name, ' ', '_');
  return "_" + name;
}

std::string zsh_function(const CommandText& command) {
  std::string arguments;
  for (const auto& option : command.options) arguments += zsh_option(option);
  for (const auto& argument : command.arguments)
    arguments += " \\\n    " + shell_word("1" + zsh_value(argument));
  if (command.commands.empty())
    return fmt::format("{}() {{\n  _arguments{}\n}}\n\n", function_name(command.name), arguments);
  std::string commands;
  for (const auto& subcommand : command.commands)
    commands += fmt::format("\n        {}", shell_word(escaped(subcommand.last_name(), ":", "\\") + ":" +
                                                       summary(subcommand.description)));
  return fmt::format(
      "{0}() {{\n"
      "  local curcontext=$curcontext state line\n"
      "  _arguments -C{1} \\\n    '1:command:->command' \\\n    '*::argument:->argument'\n"
      "  case $state in\n"
      "    command)\n"
      "      local -a commands=({2})\n"
      "      _describe command commands ;;\n"
      "    argument)\n"
      "      (( $+functions[{0}_$line[1]] )) && {0}_$line[1] ;;\n"
      "  esac\n"
      "}}\n\n",
      function_name(command.name), arguments, commands);
}

// fish

std::string fish_quoted(std::string_view text) {
  return "'" + escaped(text, "\\'", "\\") + "'";
}

/// A condition of fish that is true after the words of the command's name, and before a subcommand's.
std::string fish_condition(const CommandText& command) {
  std::string condition;
  const auto words = split(command.name, ' ');
  for (std::size_t i = 1; i < words.size(); ++i)
    condition += fmt::format("{}__fish_seen_subcommand_from {}", condition.empty() ? "" : "; and ", words[i]);
  if (command.commands.empty()) return condition;
  return fmt::format("{}not __fish_seen_subcommand_from {}", condition.empty() ? "" : condition + "; and ",
                     fmt::join(names_of(command.commands), " "));
}

std::string fish_value(const OptionText& option) {
  const auto words = fmt::to_string(fmt::join(option.words, " "));
  if (option.takes_folders) return " -xa '(__fish_complete_directories)'";
  if (option.takes_list && !words.empty()) return fmt::format(" -xa \"(__fish_append , {})\"", words);
  if (!words.empty()) return fmt::format(" -{}a {}", option.takes_files ? "rF" : "x", fish_quoted(words));
  return option.takes_files ? " -rF" : " -x";
}

std::string fish_command(const CommandText& command) {
  const auto start = fmt::format("complete -c {} -n ", command.name.substr(0, command.name.find(' '))) +
                     fish_quoted(fish_condition(command));
  std::string text;
  for (const auto& subcommand : command.commands)
    text += fmt::format("{} -a {} -d {}\n", start, subcommand.last_name(),
                        fish_quoted(summary(subcommand.description)));
  for (const auto& argument : command.arguments) {
    if (!argument.words.empty())
      text += fmt::format("{} -a {}\n", start, fish_quoted(fmt::to_string(fmt::join(argument.words, " "))));
    if (argument.takes_files) text += start + " -F\n";
  }
  for (const auto& option : command.options) {
    text += start;
    for (const auto& name : option.names)
      text += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
    text += (option.type.empty() ? "" : fish_value(option)) + " -d " +
            fish_quoted(summary(option.description)) + "\n";
  }
  return text;
}

}  // namespace

std::string bash_completions(const CommandText& program) {
  const auto commands = all_commands(program);
  std::vector<std::string> subcommands;
  std::string offered;
  for (const auto* command : commands) {
    if (command != &program) subcommands.push_back(shell_word(command->name));
    OptionText values;
    values.words = names_of(command->commands);
    for (const auto& argument : command->arguments) {
      values.words.insert(values.words.end(), argument.words.begin(), argument.words.end());
      values.takes_files |= argument.takes_files;
    }
    const auto first = bash_values(values);
    offered += fmt::format("        '{}') {}options='{}' ;;\n", command->name,
                           first == "return" ? "" : first + " ", fmt::join(names_of(command->options), " "));
  }
  return fmt::format(
      "# Completions of {0} for bash.\n"
      "_{0}() {{\n"
      "  local word=${{COMP_WORDS[COMP_CWORD]}} before=${{COMP_WORDS[COMP_CWORD - 1]}}\n"
      "  local command={0} values='' options='' files='' head='' i\n"
      "  COMPREPLY=()\n"
      "  for ((i = 1; i < COMP_CWORD; ++i)); do\n"
      "    case \"$command ${{COMP_WORDS[i]}}\" in\n"
      "      {1}) command+=\" ${{COMP_WORDS[i]}}\" ;;\n"
      "    esac\n"
      "  done\n"
      "  # Where = is in $COMP_WORDBREAKS, --option=value is three words, else one.\n"
      "  if [[ $word == '=' ]]; then\n"
      "    word=''\n"
      "  elif [[ $before == '=' && $COMP_CWORD -gt 1 ]]; then\n"
      "    before=${{COMP_WORDS[COMP_CWORD - 2]}}\n"
      "  elif [[ $word == --*=* ]]; then\n"
      "    before=${{word%%=*}} head=${{word%%=*}}= word=${{word#*=}}\n"
      "  fi\n"
      "  case \"$command $before\" in\n"
      "{2}"
      "    *)\n"
      "      case $command in\n"
      "{3}"
      "      esac\n"
      "      if [[ $word == -* ]]; then values=$options files=''; fi ;;\n"
      "  esac\n"
      "  if [[ -n $values ]]; then\n"
      "    if [[ $word == *,* ]]; then head+=${{word%,*}},; fi\n"
      "    mapfile -t COMPREPLY < <(compgen -P \"$head\" -W \"$values\" -- \"${{word##*,}}\")\n"
      "  fi\n"
      "  if [[ -n $files ]]; then\n"
      "    compopt -o filenames 2>/dev/null\n"
      "    mapfile -t -O \"${{#COMPREPLY[@]}}\" COMPREPLY < <(compgen -P \"$head\" -\"$files\" -- "
      "\"$word\")\n"
      "  fi\n"
      "}}\n"
      "complete -F _{0} {0}\n",
      program.name, fmt::join(subcommands, " | "), bash_options(commands), offered);
}

std::string zsh_completions(const CommandText& program) {
  std::string functions;
  for (const auto* command : all_commands(program)) functions += zsh_function(*command);
  return fmt::format(
      "#compdef {0}\n"
      "# Completions of {0} for zsh: a file _{0} in a folder of $fpath, or a text to evaluate.\n\n"
      "{1}"
      "if [[ $funcstack[1] == _{0} ]]; then _{0} \"$@\"; else compdef _{0} {0}; fi\n",
      program.name, functions);
}

std::string fish_completions(const CommandText& program) {
  std::string text = fmt::format("# Completions of {0} for fish.\ncomplete -c {0} -f\n", program.name);
  for (const auto* command : all_commands(program)) text += fish_command(*command);
  return text;
}

}  // namespace command_line
TMAJIT_END
