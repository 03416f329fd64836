#include "commands.hpp"
#include "conformance/suite.hpp"
#include "conformance_run.hpp"
#include "files.hpp"
#include "option_group.hpp"
#include "spec/suggestion.hpp"
#include "terminal.hpp"
#include "text.hpp"
#include "usage.hpp"

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <spdlog/fmt/ranges.h>
#include <unistd.h>

namespace jitc {
namespace {

using conformance::Case;

struct ConformanceOptions {
  std::string device = "auto";
  std::vector<std::string> only;
  std::uint64_t seed = 1;
  bool list = false;
};

/// Whether `name` is the case's name or a prefix that names its group: "tensor.load", "settle".
bool matches(const Case& each, const std::string& name) {
  if (!each.name.starts_with(name)) return false;
  const auto rest = each.name.substr(name.size());
  return rest.empty() || rest.front() == '.' || rest.front() == ':';
}

std::vector<const Case*> chosen_cases(const std::vector<std::string>& only) {
  std::vector<std::string> names;
  for (const Case& each : conformance::all_cases()) names.push_back(each.name);
  for (const std::string& name : only) {
    const auto found =
        std::ranges::any_of(conformance::all_cases(), [&](const Case& each) { return matches(each, name); });
    if (!found)
      refuse("--only {}: no case and no group has this name{}; jitc conformance --list prints all", name,
             tmajit::suggestion(name, names));
  }
  std::vector<const Case*> chosen;
  for (const Case& each : conformance::all_cases()) {
    if (only.empty() || std::ranges::any_of(only, [&](const auto& name) { return matches(each, name); }))
      chosen.push_back(&each);
  }
  return chosen;
}

int list(const std::vector<const Case*>& cases, bool json) {
  if (json) {
    Json all = Json::array();
    for (const Case* each : cases)
      all.push_back({{"case", each->name}, {"instructions", each->instructions}, {"what", each->what}});
    print_json({{"cases", all}});
    return 0;
  }
  Rows rows{{"CASE", "WHAT", "INSTRUCTIONS"}};
  for (const Case* each : cases)
    rows.push_back({each->name, each->what, fmt::format("{}", fmt::join(each->instructions, ", "))});
  write_stdout(format_table(rows, columns(STDOUT_FILENO)));
  return 0;
}

bool agrees(const Json& result) {
  return result.at("wrong") == 0 && result.at("error").get<std::string>().empty();
}

std::string verdict(const Json& result) {
  if (agrees(result)) return "agrees";
  if (!result.at("error").get<std::string>().empty()) return "error";
  return fmt::format("differs in {}", result.at("wrong").get<std::uint64_t>());
}

void print_table(const Json& results) {
  Rows rows{{"CASE", "TRIALS", "RESULT"}};
  for (const Json& result : results) {
    rows.push_back({result.at("case").get<std::string>(),
                    fmt::format("{}", result.at("trials").get<std::uint64_t>()), verdict(result)});
  }
  write_stdout(format_table(rows, columns(STDOUT_FILENO)));
  for (const Json& result : results) {
    if (agrees(result)) continue;
    write_stdout("\n{}\n", result.at("case").get<std::string>());
    for (const auto& difference : result.at("differences"))
      write_stdout("  {}\n", difference.get<std::string>());
    const auto error = result.at("error").get<std::string>();
    if (!error.empty()) write_stdout("  {}\n", error);
  }
}

int conform(const ConformanceOptions& options, bool json) {
  const auto cases = chosen_cases(options.only);
  if (options.list) return list(cases, json);
  const auto results = run_conformance({.cases = cases, .device = options.device, .seed = options.seed});
  const auto wrong = std::ranges::count_if(results.cases, [](const Json& each) { return !agrees(each); });
  if (json) {
    print_json({{"device", results.device},
                {"seed", options.seed},
                {"agree", wrong == 0},
                {"cases", results.cases}});
    return wrong == 0 ? exit_code::done : exit_code::problems_found;
  }
  const auto why = results.device.at("why").get<std::string>();
  say("device", "{}{}", results.device.at("name").get<std::string>(), why.empty() ? "" : ": " + why);
  print_table(results.cases);
  say("result", "{} of {} agree, seed {}", cases.size() - static_cast<std::size_t>(wrong),
      counted(cases.size(), "case"), options.seed);
  return wrong == 0 ? exit_code::done : exit_code::problems_found;
}

}  // namespace

void add_conformance_command(CLI::App& app, Session& session) {
  auto& command = *app.add_subcommand("conformance",
                                      "Run every instruction of the copy engine, and those used with it, on "
                                      "a device and compare the results with the CPU's");
  auto options = std::make_shared<ConformanceOptions>();
  OptionGroup group(command);
  group
      .add("--device", options->device, "DEVICE",
           "auto: the first Hopper GPU, else the simulated device; gpu, gpu:N or sim")
      ->check(offers({"auto", "gpu", "sim"}));
  group.add_list("--only", options->only, "NAME", "A case, or all cases of a group: tensor.load, settle");
  group.add("--seed", options->seed, "N", "Seed of all random values; the same seed gives the same run");
  group.add_flag("--list", options->list, "Print the cases and run none");
  command.footer(
      "Exit code: 0 every case agrees, 1 some do not, 2 wrong usage.\n\n"
      "Examples:\n"
      "  jitc conformance\n"
      "  jitc conformance --device sim --only tensor.load\n"
      "  jitc conformance --only settle --seed 7 --json");
  add_action(command, session, [options](bool json) { return conform(*options, json); });
}

}  // namespace jitc
