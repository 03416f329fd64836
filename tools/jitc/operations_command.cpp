#include "commands.hpp"
#include "files.hpp"
#include "report.hpp"
#include "terminal.hpp"
#include "text.hpp"
#include "usage.hpp"

#include <tmajit/operations.hpp>

#include <algorithm>
#include <memory>
#include <span>
#include <string>
#include <variant>
#include <vector>

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

/// A name, and beside it, or below a long one, a text that is wrapped to the terminal.
std::string fitted(std::string name, std::string_view text) {
  std::string page;
  if (!name.ends_with(' ')) {
    page = name + '\n';
    name.assign(margin, ' ');
  }
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

Json operands_json(std::span<const tmajit::OperandInfo> operands) {
  Json json = Json::array();
  for (const auto& one : operands) {
    json.push_back({{"name", one.name},
                    {"shape", tmajit::name(one.shape)},
                    {"elements", tmajit::name(one.elements)},
                    {"required", one.required}});
  }
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
    if (operation.sources.empty()) continue;
    all.back()["sources"] = operands_json(operation.sources);
    all.back()["destinations"] = operands_json(operation.destinations);
  }
  print_json(all);
}

/// "x, [weight]": optional operands are in brackets.
std::string operands_text(std::span<const tmajit::OperandInfo> operands) {
  std::vector<std::string> names;
  for (const auto& one : operands)
    names.push_back(one.required ? std::string(one.name) : fmt::format("[{}]", one.name));
  return fmt::to_string(fmt::join(names, ", "));
}

/// Prints the operands of each recipe, and its steps for all sources, of f32 if they may be.
void print_recipes() {
  for (const auto& operation : tmajit::operations()) {
    if (operation.sources.empty()) continue;
    const auto rows = tmajit::TensorView::contiguous(tmajit::ElementType::f32, {128, 128});
    std::vector<tmajit::Tensor> sources;
    std::vector<tmajit::Tensor> destinations;
    const auto views = tmajit::sources_of(operation.name, rows, operation.max_sources, {});
    for (const auto& view : views) sources.emplace_back(view);
    for (const auto& view : tmajit::destinations_of(operation.name, views, {}))
      destinations.emplace_back(view);
    const auto made = tmajit::make_operation(operation.name, destinations, sources, {});
    write_stdout(fmt::format("{}({}) -> {}\n    {}\n", operation.name, operands_text(operation.sources),
                             operands_text(operation.destinations),
                             std::get<tmajit::Rowwise>(made.moves.front().body).steps));
  }
}

}  // namespace

void add_operations_command(CLI::App& app, Session& session) {
  auto& command = *app.add_subcommand("operations", "List every operation with its arguments");
  command.footer(
      "Examples:\n"
      "  jitc operations\n"
      "  jitc operations --recipes\n"
      "  jitc operations --json");
  const auto recipes = std::make_shared<bool>(false);
  command.add_flag("--recipes", *recipes, "The operands and the steps of each recipe (docs/rowwise.md)");
  add_action(command, session, [recipes](bool json) {
    if (*recipes && json) refuse("--recipes prints text; leave --json or --recipes out");
    *recipes ? print_recipes() : json ? print_descriptions() : print_table();
    return exit_code::done;
  });
}

}  // namespace jitc
