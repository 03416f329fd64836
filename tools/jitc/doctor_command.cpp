#include "checks.hpp"
#include "commands.hpp"
#include "files.hpp"
#include "report.hpp"
#include "terminal.hpp"

#include <algorithm>

#include <CLI/CLI.hpp>
#include <spdlog/fmt/fmt.h>
#include <unistd.h>

namespace jitc {
namespace {

const char* name(Health health) {
  switch (health) {
    case Health::good: return "ok";
    case Health::poor: return "warning";
    case Health::absent: return "missing";
  }
  return "";
}

Style style(Health health) {
  return health == Health::good ? Style::good : health == Health::poor ? Style::warn : Style::bad;
}

void print_text(const std::vector<Check>& checks) {
  std::string text;
  for (const auto& check : checks) {
    text += fmt::format("{} {:<16} {}\n",
                        styled(fmt::format("{:<8}", name(check.health)), style(check.health), STDOUT_FILENO),
                        check.subject, check.found);
    if (!check.remedy.empty()) text += fmt::format("{:<26}→ {}\n", "", check.remedy);
  }
  write_stdout(text);
}

Json to_json(const std::vector<Check>& checks, bool compiles) {
  Json list = Json::array();
  for (const auto& check : checks) {
    Json one{{"subject", check.subject}, {"status", name(check.health)}, {"found", check.found}};
    if (!check.remedy.empty()) one["remedy"] = check.remedy;
    if (!check.details.is_null()) one["details"] = check.details;
    list.push_back(std::move(one));
  }
  return {{"compiles", compiles}, {"checks", list}};
}

int doctor(const std::string& cache_directory, bool json) {
  const auto checks = [&] {
    const Progress progress("looking around");
    return examine_machine(cache_directory);
  }();
  const bool compiles = std::none_of(checks.begin(), checks.end(), [](const Check& check) {
    return check.needed_to_compile && check.health == Health::absent;
  });
  if (json) {
    print_json(to_json(checks, compiles));
  } else {
    print_text(checks);
  }
  return compiles ? 0 : 1;
}

}  // namespace

void add_doctor_command(CLI::App& app, Session& session) {
  auto& command = *app.add_subcommand("doctor", "What this machine has and lacks, and what to do about it");
  auto directory = std::make_shared<std::string>();
  command
      .add_option("--cache-dir", *directory,
                  "The cache folder to look at; default: $TMAJIT_CACHE_DIR, else ~/.cache/tmajit")
      ->type_name("FOLDER");
  add_common_options(command, session);
  command.footer(
      "Exit code: 0 if everything up to the cubin works here, with or without a GPU; else 1.\n\n"
      "Examples:\n"
      "  jitc doctor\n"
      "  jitc doctor --json");
  command.callback([directory, &session] {
    session.action = [directory, &session] { return doctor(*directory, session.json); };
  });
}

}  // namespace jitc
