#include "commands.hpp"
#include "files.hpp"
#include "option_group.hpp"
#include "report.hpp"
#include "terminal.hpp"

#include <tmajit/machine/machine.hpp>

#include <memory>

#include <CLI/CLI.hpp>
#include <unistd.h>

namespace jitc {
namespace {

int doctor(const std::string& cache_directory, bool json) {
  const auto machine = [&] {
    const Progress progress("examining this machine");
    return tmajit::examine_machine(cache_directory);
  }();
  if (json) {
    print_json(Json::parse(machine_json(machine)));
  } else {
    write_stdout(machine_text(machine, columns(STDOUT_FILENO), takes_colour(STDOUT_FILENO)));
  }
  return machine.compiles ? exit_code::done : exit_code::problems_found;
}

}  // namespace

void add_doctor_command(CLI::App& app, Session& session) {
  auto& command = *app.add_subcommand("doctor", "What this machine has and lacks, and what to do about it");
  auto directory = std::make_shared<std::string>();
  OptionGroup(command).add("--cache-dir", *directory, "FOLDER",
                           "The cache folder to look at; default: $TMAJIT_CACHE_DIR, else ~/.cache/tmajit");
  command.footer(
      "Exit code: 0 if everything up to the cubin works here, with or without a GPU; else 1.\n\n"
      "Examples:\n"
      "  jitc doctor\n"
      "  jitc doctor --json");
  add_action(command, session, [directory](bool json) { return doctor(*directory, json); });
}

}  // namespace jitc
