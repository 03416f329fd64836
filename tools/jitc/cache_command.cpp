#include "commands.hpp"
#include "files.hpp"
#include "kernel_cells.hpp"
#include "option_group.hpp"
#include "options.hpp"
#include "report.hpp"
#include "terminal.hpp"
#include "text.hpp"

#include <tmajit/cache.hpp>

#include <algorithm>
#include <chrono>
#include <ctime>
#include <memory>
#include <string>

#include <CLI/CLI.hpp>
#include <spdlog/fmt/chrono.h>
#include <spdlog/fmt/fmt.h>
#include <unistd.h>

namespace jitc {
namespace {

using Entry = tmajit::DiskCache::Entry;

std::time_t stored_time(const Entry& entry) {
  const auto time =
      std::chrono::time_point_cast<std::chrono::seconds>(std::chrono::file_clock::to_sys(entry.stored));
  return std::chrono::system_clock::to_time_t(time);
}

std::uint64_t total_bytes(const std::vector<Entry>& entries) {
  std::uint64_t bytes = 0;
  for (const auto& entry : entries) bytes += entry.bytes;
  return bytes;
}

int stat(const std::string& directory, bool json) {
  const tmajit::DiskCache cache(cache_folder(directory));
  const auto entries = cache.entries();
  const auto compilers = cache.known_compilers();
  if (json) {
    Json known = Json::array();
    for (const auto& compiler : compilers) known.push_back(to_json(compiler));
    print_json({{"directory", cache.directory().string()},
                {"entries", entries.size()},
                {"bytes", total_bytes(entries)},
                {"compilers", known}});
    return 0;
  }
  auto text = fmt::format("{}: {}, {}\n", cache.directory().string(), counted(entries.size(), "kernel"),
                          describe_bytes(total_bytes(entries)));
  for (const auto& compiler : compilers) {
    text +=
        fmt::format("compiled by NVRTC {}.{}, build {}\n", compiler.major, compiler.minor, compiler.build);
  }
  write_stdout(text);
  return 0;
}

int list(const std::string& directory, bool json) {
  const tmajit::DiskCache cache(cache_folder(directory));
  auto entries = cache.entries();
  std::sort(entries.begin(), entries.end(),
            [](const Entry& a, const Entry& b) { return a.stored > b.stored; });
  if (json) {
    Json listed = Json::array();
    for (const auto& entry : entries) {
      listed.push_back({{"key", entry.key.hex()},
                        {"entry", entry.entry},
                        {"operation", entry.made_for.operation},
                        {"types", entry.made_for.types},
                        {"shape", entry.made_for.shape},
                        {"bytes", entry.bytes},
                        {"stored", fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(stored_time(entry)))}});
    }
    print_json({{"directory", cache.directory().string()}, {"entries", listed}});
    return 0;
  }
  Rows rows{kernel_headings()};
  rows[0].insert(rows[0].end(), {"SIZE", "STORED"});
  for (const auto& entry : entries) {
    rows.push_back(kernel_cells(entry.key, entry.entry, entry.made_for));
    rows.back().push_back(describe_bytes(entry.bytes));
    rows.back().push_back(fmt::format("{:%Y-%m-%d %H:%M}", fmt::gmtime(stored_time(entry))));
  }
  if (!entries.empty()) write_stdout(format_table(rows, columns(STDOUT_FILENO)));
  return 0;
}

int clear(const std::string& directory, bool json) {
  const tmajit::DiskCache cache(cache_folder(directory));
  const auto removed = cache.clear();
  if (json) {
    print_json({{"directory", cache.directory().string()}, {"removed", removed}});
  } else {
    write_stdout("{}: {} removed\n", cache.directory().string(), counted(removed, "kernel"));
  }
  return 0;
}

}  // namespace

void add_cache_command(CLI::App& app, Session& session) {
  auto& cache = *app.add_subcommand("cache", "Show or empty the cache of compiled kernels");
  cache.require_subcommand(0, 1);
  add_action(cache, session, nullptr);
  cache.footer(
      "Examples:\n"
      "  jitc cache stat\n"
      "  jitc cache ls --json\n"
      "  jitc cache clear --dir /tmp/kernels");
  const auto add = [&](const std::string& name, const std::string& description,
                       int (*act)(const std::string&, bool)) {
    auto& command = *cache.add_subcommand(name, description);
    auto directory = std::make_shared<std::string>();
    OptionGroup(command).add("--dir,--cache-dir", *directory, "FOLDER",
                             "The folder; default: $TMAJIT_CACHE_DIR, else ~/.cache/tmajit");
    command.footer(fmt::format("Example:\n  jitc cache {} --dir /tmp/kernels", name));
    add_action(command, session, [=](bool json) { return act(*directory, json); });
  };
  add("stat", "How many kernels there are, their size, and which NVRTC compiled them", stat);
  add("ls",
      "Every kernel with the operation, types and shape that it was first made for, newest first. Times are "
      "UTC",
      list);
  add("clear", "Remove every kernel", clear);
}

}  // namespace jitc
