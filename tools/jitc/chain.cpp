#include "chain.hpp"

#include "command_line/misspelt.hpp"
#include "option_group.hpp"
#include "parse.hpp"
#include "text.hpp"
#include "usage.hpp"

#include <tmajit/error.hpp>

#include <algorithm>
#include <array>
#include <string_view>

#include <CLI/CLI.hpp>
#include <spdlog/fmt/fmt.h>

namespace jitc {
namespace {

namespace command_line = tmajit::command_line;

/// Parses "softmax --axis 1" as the command line parses an operation with its options.
ProblemOptions parse_then(const std::string& text) {
  ProblemOptions options;
  CLI::App app;
  app.name("--then");
  app.set_help_flag();
  add_problem_options(app, options);
  std::vector<std::string> words = command_words(text);
  std::vector<const char*> pointers;
  for (const auto& word : words) pointers.push_back(word.c_str());
  command_line::refuse_empty_values(pointers);
  std::ranges::reverse(words);  // CLI11 takes words from the back
  try {
    app.parse(std::move(words));
  } catch (const CLI::ParseError& error) {
    command_line::refuse_usage(app, error);
  }
  constexpr std::array options_of_first{"--in", "--shape", "--strides", "--offset", "--into"};
  for (const auto* const option : options_of_first) {
    if (app.get_option(option)->count() == 0) continue;
    refuse(
        "{} is for the operation before the first --then; here the first input is the result of the "
        "operation "
        "before, and further inputs are made up",
        option);
  }
  return options;
}

/// The problem of the next operation of a chain.
Problem next_problem(const ProblemOptions& options, const Problem& before, Purpose purpose) {
  Problem problem = make_problem(options, purpose, &before);
  if (problem.request.family != nullptr)
    refuse("{}: a chain takes operations, no families of kernels and no tiles of your choice", problem.word);
  return problem;
}

}  // namespace

void add_then_option(CLI::App& command, std::vector<std::string>& then) {
  OptionGroup(command, chain_group)
      .add_list("--then", then, "'OPERATION …'",
                "An operation with its options, in quotes. Its first input is the first result of the "
                "operation before it; further inputs are made up. Repeat the option for a longer chain. "
                "Operations are fused where this saves memory traffic")
      ->check(offers(operation_words()));
}

bool Chain::combines() const {
  return std::ranges::any_of(steps, [](const Problem& step) { return step.request.combines(); });
}

std::vector<Addresses> Chain::planning_addresses() const {
  std::vector<Addresses> all;
  std::size_t arrays = 0;
  for (const Problem& step : steps) {
    Addresses at = step.planning_addresses(arrays);
    arrays += step.inputs.size() + step.outputs.size();
    if (!all.empty()) at.inputs.front() = all.back().outputs.front();
    all.push_back(std::move(at));
  }
  return all;
}

tmajit::Fusion Chain::fusion(const std::vector<Addresses>& at) const {
  std::vector<tmajit::Operation> operations;
  std::vector<tmajit::Tensor> unused;
  for (std::size_t k = 0; k < steps.size(); ++k) {
    const auto& made = operations.emplace_back(steps[k].operation(at[k]));
    if (k + 1 < steps.size()) unused.insert(unused.end(), made.destinations.begin(), made.destinations.end());
  }
  if (is_single()) return {.operations = std::move(operations), .sentences = {}};
  return tmajit::fuse(operations, unused);
}

Chain make_chain(const ProblemOptions& first, const std::vector<std::string>& then, Purpose purpose) {
  Chain chain;
  chain.steps.push_back(make_problem(first, purpose));
  if (then.empty()) return chain;
  if (chain.first().request.family != nullptr)
    refuse("{}: a chain takes operations, no families of kernels and no tiles of your choice", first.word);
  const auto rename = [](Problem& step, std::size_t number) {
    for (auto& output : step.outputs)
      output.name = fmt::format("{} of operation {} ({})", output.name, number, step.word);
  };
  for (std::size_t k = 0; k < then.size(); ++k) {
    rename(chain.steps.back(), k);
    try {
      chain.steps.push_back(next_problem(parse_then(then[k]), chain.last(), purpose));
    } catch (const tmajit::SpecError&) {
      throw;
    } catch (const tmajit::Error& error) {
      fail(error.code(), "--then {}, '{}': {}", k + 1, then[k], error.what());
    } catch (const CLI::Error& error) {
      refuse("--then {}, '{}': {}", k + 1, then[k], error.what());
    }
  }
  return chain;
}

std::string describe_kernels(const Chain& chain, std::size_t kernels) {
  return fmt::format("{} in {}", counted(chain.steps.size(), "operation"), counted(kernels, "kernel"));
}

}  // namespace jitc
