#include "commands.hpp"
#include "files.hpp"
#include "option_group.hpp"
#include "report.hpp"
#include "terminal.hpp"
#include "text.hpp"

#include <tmajit/counters.hpp>
#include <tmajit/error.hpp>

#include <chrono>
#include <map>
#include <memory>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

#include <CLI/CLI.hpp>
#include <spdlog/fmt/fmt.h>
#include <unistd.h>

namespace jitc {
namespace {

using tmajit::CacheLevel;
using tmajit::Counters;
using tmajit::PublishedCounters;

constexpr CacheLevel all_levels[] = {CacheLevel::memory, CacheLevel::pack, CacheLevel::disk,
                                     CacheLevel::fleet, CacheLevel::compiled};

std::filesystem::path statistics_folder(const std::string& directory) {
  if (!directory.empty()) return directory;
  if (auto folder = tmajit::default_statistics_directory()) return *std::move(folder);
  throw tmajit::Error(tmajit::ErrorCode::invalid_argument,
                      "there is no folder of counters: set TMAJIT_STATS_DIR here and for the processes, or "
                      "give their folder by --dir");
}

void add_counters(Counters& sum, const Counters& other) {
  for (std::size_t i = 0; i < Counters::levels; ++i) sum.requests[i] += other.requests[i];
  sum.failures += other.failures;
  auto& [generate, key, fetch, compile, store, load] = sum.times;
  generate += other.times.generate;
  key += other.times.key;
  fetch += other.times.fetch;
  compile += other.times.compile;
  store += other.times.store;
  load += other.times.load;
  sum.bytes_read += other.bytes_read;
  sum.bytes_written += other.bytes_written;
  sum.bytes_loaded += other.bytes_loaded;
  sum.served += other.served;
  sum.waited += other.waited;
  sum.swaps += other.swaps;
  sum.swap_ms += other.swap_ms;
}

/// The counters of each process: the sums of its runtimes'.
std::vector<PublishedCounters> by_process(const std::filesystem::path& folder) {
  std::vector<PublishedCounters> processes;
  for (PublishedCounters& runtime : tmajit::published_counters(folder)) {
    if (processes.empty() || processes.back().process != runtime.process) {
      processes.push_back(std::move(runtime));
    } else {
      add_counters(processes.back().counters, runtime.counters);
      if (!runtime.last_kernel.empty()) processes.back().last_kernel = std::move(runtime.last_kernel);
    }
  }
  return processes;
}

std::uint64_t requests_of(const Counters& counters) {
  return std::accumulate(counters.requests.begin(), counters.requests.end(), std::uint64_t{0});
}

Json counters_json(const PublishedCounters& process) {
  const Counters& counters = process.counters;
  Json requests;
  for (const CacheLevel level : all_levels) requests[std::string(name(level))] = counters.of(level);
  const auto& [generate, key, fetch, compile, store, load] = counters.times;
  return {{"process", process.process},
          {"program", process.program},
          {"requests", requests},
          {"failures", counters.failures},
          {"times_ms",
           {{"generate", generate},
            {"key", key},
            {"fetch", fetch},
            {"compile", compile},
            {"store", store},
            {"load", load}}},
          {"bytes_read", counters.bytes_read},
          {"bytes_written", counters.bytes_written},
          {"bytes_loaded", counters.bytes_loaded},
          {"served", counters.served},
          {"waited", counters.waited},
          {"swaps", counters.swaps},
          {"swap_ms", counters.swap_ms},
          {"last_kernel", process.last_kernel}};
}

/// Requests by process at the last look, for rates.
using Requests = std::map<int, std::uint64_t>;

std::string counters_table(const std::vector<PublishedCounters>& processes, const Requests& before,
                           double seconds) {
  if (processes.empty()) return "no process publishes counters here\n";
  Rows rows{{"PID", "PROGRAM", "PER SECOND", "MEMORY", "PACK", "DISK", "FLEET", "COMPILED", "FAILED",
             "SERVED", "WAITED", "SWAPS", "FETCH", "COMPILE", "LOAD", "SWAP", "LAST KERNEL"}};
  for (const PublishedCounters& process : processes) {
    const Counters& counters = process.counters;
    const auto known = before.find(process.process);
    std::vector<std::string> row{
        std::to_string(process.process), process.program,
        known == before.end() || seconds <= 0
            ? std::string("–")
            : fmt::format("{:.0f}", static_cast<double>(requests_of(counters) - known->second) / seconds)};
    for (const CacheLevel level : all_levels) row.push_back(std::to_string(counters.of(level)));
    for (const std::uint64_t count : {counters.failures, counters.served, counters.waited, counters.swaps})
      row.push_back(std::to_string(count));
    for (const double time :
         {counters.times.fetch, counters.times.compile, counters.times.load, counters.swap_ms})
      row.push_back(fmt::format("{:.0f} ms", time));
    row.push_back(process.last_kernel.empty() ? "–" : process.last_kernel);
    rows.push_back(std::move(row));
  }
  return format_table(rows, columns(STDOUT_FILENO));
}

void redraw(const std::filesystem::path& folder) {
  using Clock = std::chrono::steady_clock;
  Requests before;
  auto looked = Clock::now();
  for (;;) {
    const auto now = Clock::now();
    const auto processes = by_process(folder);
    const double seconds = std::chrono::duration<double>(now - looked).count();
    // Moves the cursor to the top, and clears the screen below it.
    write_stdout("\x1b[H\x1b[J{}: {}\n\n{}", folder.string(), counted(processes.size(), "process"),
                 counters_table(processes, before, seconds));
    before.clear();
    for (const PublishedCounters& process : processes)
      before[process.process] = requests_of(process.counters);
    looked = now;
    std::this_thread::sleep_for(std::chrono::seconds(1));
  }
}

int show_top(const std::string& directory, bool once, bool json) {
  const std::filesystem::path folder = statistics_folder(directory);
  if (!json && !once && is_terminal(STDOUT_FILENO)) redraw(folder);
  const auto processes = by_process(folder);
  if (json) {
    Json listed = Json::array();
    for (const PublishedCounters& process : processes) listed.push_back(counters_json(process));
    print_json({{"directory", folder.string()}, {"processes", listed}});
  } else {
    write_stdout(counters_table(processes, {}, 0));
  }
  return exit_code::done;
}

}  // namespace

void add_top_command(CLI::App& app, Session& session) {
  auto& command = *app.add_subcommand("top", "Counters of running processes: where their kernels come from");
  auto directory = std::make_shared<std::string>();
  auto once = std::make_shared<bool>(false);
  OptionGroup group(command);
  group.add("--dir", *directory, "FOLDER", "Folder of the processes' counters; default: $TMAJIT_STATS_DIR");
  group.add_flag("--once", *once, "Print the counters once; default: each second, on a terminal");
  command.footer(
      "A process publishes its counters if TMAJIT_STATS_DIR names a folder.\n\n"
      "Examples:\n"
      "  jitc top --dir /run/user/1000/tmajit\n"
      "  jitc top --once --json");
  add_action(command, session, [=](bool json) { return show_top(*directory, *once, json); });
}

}  // namespace jitc
