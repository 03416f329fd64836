#include "command_line/streams.hpp"

#include "command_line/description.hpp"
#include "spec/refuse.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include <unistd.h>

TMAJIT_BEGIN
namespace command_line {
namespace {

/// Options for files that a command writes have one of these names.
constexpr std::array written_names{"--out", "--output", "--export", "--save"};

/// "--in and --launch"; one option that is given twice counts twice.
std::string pair_of(const std::vector<std::string>& names) {
  return fmt::format("{} and {}", names[0], names[1]);
}

}  // namespace

void refuse_unusable_streams(const CLI::App& app) {
  const CLI::App* command = &app;
  while (!command->get_subcommands().empty()) command = command->get_subcommands().front();
  std::vector<std::string> readers;
  std::vector<std::string> writers;
  std::string report_option;  // the option that prints a report to standard output
  for (const auto* option : command->get_options()) {
    const auto& values = option->results();
    const auto text = describe(*option);
    const auto is_one_of = [&](const auto& names) {
      return std::ranges::any_of(names, [&](const char* name) { return option->check_name(name); });
    };
    if (option->check_name("--json") && option->count() > 0) report_option = "--json";
    if (option->check_name("--format") && option->count() > 0 && values.back() != "text")
      report_option = "--format " + values.back();
    if (!text.takes_files) continue;
    auto& users = is_one_of(written_names) ? writers : readers;
    users.insert(users.end(), static_cast<std::size_t>(std::ranges::count(values, "-")), text.names.back());
  }
  if (readers.size() > 1) refuse("{} both read standard input; give one of them a file", pair_of(readers));
  if (!readers.empty() && ::isatty(STDIN_FILENO) == 1)
    refuse("{} -: standard input is a terminal; send it a file, by < or a pipe", readers.front());
  if (!writers.empty() && !report_option.empty()) writers.push_back(report_option);
  if (writers.size() > 1)
    refuse("{} both write to standard output; give one of them a file, or leave it out", pair_of(writers));
}

}  // namespace command_line
TMAJIT_END
