#include "commands.hpp"
#include "files.hpp"
#include "report.hpp"
#include "terminal.hpp"
#include "text.hpp"

#include <tmajit/operations.hpp>

#include <algorithm>
#include <string>

#include <CLI/CLI.hpp>
#include <spdlog/fmt/fmt.h>
#include <spdlog/fmt/ranges.h>
#include <unistd.h>

namespace jitc {
namespace {

/// The legal values of an argument, and its default.
std::string legal_text(const tmajit::Argument& argument) {
  std::string text =
      argument.choices.empty() ? std::string() : fmt::to_string(fmt::join(argument.choices, ", "));
  if (argument.required) return text;
  return text + fmt::format("{}default: {}", text.empty() ? "" : "; ", argument.fallback);
}

constexpr std::size_t margin = 18;  // columns of the names

/// A name, and beside it a text that is wrapped to the terminal.
std::string fitted(std::string name, std::string_view text) {
  std::string page;
  for (const auto& line : wrap(text, std::max(columns(STDOUT_FILENO), margin + 40) - margin)) {
    page += name + line + '\n';
    name.assign(margin, ' ');
  }
  return page;
}

void print_table() {
  for (const auto& operation : tmajit::operations()) {
    write_stdout(fitted(fmt::format("{:<{}}", operation.name, margin), operation.summary));
    for (const auto& argument : operation.arguments) {
      const auto legal = legal_text(argument);
      write_stdout(fitted(fmt::format("  {:<{}}", argument.name, margin - 2),
                          fmt::format("{} {}: {}{}{}", argument.option, argument.example, argument.sentence,
                                      legal.empty() ? "" : "; ", legal)));
    }
  }
}

Json argument_json(const tmajit::Argument& argument) {
  Json json{
      {"name", argument.name},         {"option", argument.option},     {"type", tmajit::name(argument.type)},
      {"required", argument.required}, {"sentence", argument.sentence}, {"example", argument.example}};
  if (!argument.required) json["default"] = argument.fallback;
  if (!argument.choices.empty()) json["choices"] = argument.choices;
  return json;
}

void print_descriptions() {
  Json all = Json::array();
  for (const auto& operation : tmajit::operations()) {
    Json arguments = Json::array();
    for (const auto& argument : operation.arguments) arguments.push_back(argument_json(argument));
    all.push_back({{"name", operation.name},
                   {"summary", operation.summary},
                   {"min_sources", operation.min_sources},
                   {"max_sources", operation.max_sources},
                   {"takes_numbers", operation.takes_numbers},
                   {"arguments", arguments}});
  }
  print_json(all);
}

}  // namespace

void add_operations_command(CLI::App& app, Session& session) {
  auto& command = *app.add_subcommand("operations", "List every operation with its arguments");
  command.footer(
      "Examples:\n"
      "  jitc operations\n"
      "  jitc operations --json");
  add_action(command, session, [](bool json) {
    json ? print_descriptions() : print_table();
    return exit_code::done;
  });
}

}  // namespace jitc
