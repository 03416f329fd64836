#include "commands.hpp"
#include "files.hpp"
#include "kernel_cells.hpp"
#include "option_group.hpp"
#include "options.hpp"
#include "report.hpp"
#include "spec/byte_count.hpp"
#include "terminal.hpp"
#include "text.hpp"
#include "usage.hpp"

#include <tmajit/cache.hpp>

#include <algorithm>
#include <chrono>
#include <ctime>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include <CLI/CLI.hpp>
#include <spdlog/fmt/chrono.h>
#include <spdlog/fmt/fmt.h>
#include <unistd.h>

namespace jitc {
namespace {

using Entry = tmajit::DiskCache::Entry;

std::time_t used_time(const Entry& entry) {
  return std::chrono::system_clock::to_time_t(entry.used);
}

struct Share {
  std::size_t entries = 0;
  std::uint64_t bytes = 0;

  void add(const Entry& entry) {
    ++entries;
    bytes += entry.bytes;
  }
};
Json share_json(const Share& share) {
  return {{"entries", share.entries}, {"bytes", share.bytes}};
}
std::string describe_share(const Share& share) {
  return fmt::format("{}, {}", counted(share.entries, "kernel"), describe_bytes(share.bytes));
}

/// The value of a field of an entry's key; empty if it has no such field.
std::string field_of(const Entry& entry, std::string_view name) {
  const auto field = std::ranges::find(entry.key_fields, name, &tmajit::KeyField::name);
  return field == entry.key_fields.end() ? std::string() : field->value;
}

int show_statistics(const std::string& directory, bool json) {
  const tmajit::DiskCache cache(cache_folder(directory));
  const std::uint64_t bound = tmajit::default_max_cache_bytes();
  Share all;
  std::map<std::string, Share> families;
  std::map<std::string, Share> builds;
  for (const Entry& entry : cache.entries()) {
    all.add(entry);
    families[entry.made_for.operation.empty() ? "own" : kernel_name(entry.entry, entry.made_for)].add(entry);
    builds[field_of(entry, "NVRTC build")].add(entry);
  }
  const auto compilers = cache.known_compilers();
  if (json) {
    Json known = Json::array();
    for (const auto& compiler : compilers) {
      Json described = to_json(compiler);
      described.update(share_json(builds[compiler.build]));
      known.push_back(std::move(described));
    }
    Json by_family = Json::object();
    for (const auto& [family, share] : families) by_family[family] = share_json(share);
    Json report{{"directory", cache.directory().string()}};
    report.update(share_json(all));
    report.update({{"max_bytes", bound}, {"families", by_family}, {"compilers", known}});
    print_json(report);
    return 0;
  }
  auto text = fmt::format("{}: {}{}\n", cache.directory().string(), describe_share(all),
                          bound == 0 ? "" : fmt::format(" of at most {}", describe_bytes(bound)));
  Rows rows{{"FAMILY", "KERNELS", "SIZE"}};
  for (const auto& [family, share] : families)
    rows.push_back({family, fmt::to_string(share.entries), describe_bytes(share.bytes)});
  if (!families.empty()) text += format_table(rows, columns(STDOUT_FILENO));
  Rows by_compiler{{"NVRTC", "BUILD", "KERNELS", "SIZE"}};
  for (const auto& compiler : compilers) {
    const Share& share = builds[compiler.build];
    by_compiler.push_back({fmt::format("{}.{}", compiler.major, compiler.minor), compiler.build,
                           fmt::to_string(share.entries), describe_bytes(share.bytes)});
  }
  if (!compilers.empty()) text += format_table(by_compiler, columns(STDOUT_FILENO));
  write_stdout(text);
  return 0;
}

int list_entries(const std::string& directory, bool json) {
  const tmajit::DiskCache cache(cache_folder(directory));
  auto entries = cache.entries();
  std::sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) { return a.used > b.used; });
  if (json) {
    Json listed = Json::array();
    for (const auto& entry : entries) {
      listed.push_back({{"key", entry.key.hex()},
                        {"entry", entry.entry},
                        {"operation", entry.made_for.operation},
                        {"types", entry.made_for.types},
                        {"shape", entry.made_for.shape},
                        {"bytes", entry.bytes},
                        {"used", fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(used_time(entry)))}});
    }
    print_json({{"directory", cache.directory().string()}, {"entries", listed}});
    return 0;
  }
  Rows rows{kernel_headings()};
  rows[0].insert(rows[0].end(), {"SIZE", "USED"});
  for (const auto& entry : entries) {
    rows.push_back(kernel_cells(entry.key, entry.entry, entry.made_for));
    rows.back().push_back(describe_bytes(entry.bytes));
    rows.back().push_back(fmt::format("{:%Y-%m-%d %H:%M}", fmt::gmtime(used_time(entry))));
  }
  if (!entries.empty()) write_stdout(format_table(rows, columns(STDOUT_FILENO)));
  return 0;
}

int clear_cache(const std::string& directory, bool json) {
  const tmajit::DiskCache cache(cache_folder(directory));
  const auto removed = cache.clear();
  if (json) {
    print_json({{"directory", cache.directory().string()}, {"removed", removed}});
  } else {
    write_stdout("{}: {} removed\n", cache.directory().string(), counted(removed, "kernel"));
  }
  return 0;
}

int verify_cache(const std::string& directory, bool remove, bool json) {
  const tmajit::DiskCache cache(cache_folder(directory));
  const auto verified = [&] {
    Progress progress("verifying");
    return cache.verify(remove, [&](std::size_t done, std::size_t total) {
      progress.note(fmt::format("{} of {}", done, counted(total, "kernel")));
    });
  }();
  if (json) {
    Json broken = Json::array();
    for (const auto& entry : verified.broken)
      broken.push_back({{"file", entry.file.string()}, {"fault", entry.fault}, {"removed", entry.removed}});
    print_json({{"directory", cache.directory().string()},
                {"entries", verified.entries},
                {"other_versions", verified.other_versions},
                {"broken", broken}});
  } else {
    std::string text;
    for (const auto& entry : verified.broken)
      text += fmt::format("{}: {}{}\n", entry.file.string(), entry.fault, entry.removed ? "; removed" : "");
    text += fmt::format("{}: {}, {} broken\n", cache.directory().string(),
                        counted(verified.entries, "kernel"), verified.broken.size());
    if (verified.other_versions > 0) {
      text += fmt::format("{} of another version of tmajit, not verified\n",
                          counted(verified.other_versions, "kernel"));
    }
    write_stdout(text);
  }
  return verified.broken.empty() ? exit_code::done : exit_code::problems_found;
}

/// Parses "30d".
std::chrono::seconds parse_age(const std::string& text) {
  constexpr std::uint64_t longest = 100'000'000;  // years in minutes: no overflow in any unit
  const std::string_view digits(text.data(), text.empty() ? 0 : text.size() - 1);
  const auto number = parse_number<std::uint64_t>(digits);
  const std::uint64_t seconds = text.ends_with('s')   ? 1
                                : text.ends_with('m') ? 60
                                : text.ends_with('h') ? 3600
                                : text.ends_with('d') ? 86400
                                                      : 0;
  if (!number || *number > longest || seconds == 0) {
    refuse("--older-than {}: legal are at most {} seconds, minutes, hours or days: 90s, 15m, 12h, 30d", text,
           longest);
  }
  return std::chrono::seconds(*number * seconds);
}

struct TrimOptions {
  std::string directory;
  std::string to;
  std::string older_than;
};

int trim_cache(const TrimOptions& options, bool json) {
  constexpr std::uint64_t everything = std::numeric_limits<std::uint64_t>::max();
  std::optional<std::chrono::seconds> unused_for;
  if (!options.older_than.empty()) unused_for = parse_age(options.older_than);
  std::uint64_t bound = everything;
  if (!options.to.empty()) {
    const auto bytes = tmajit::parse_byte_count(options.to);
    if (!bytes) refuse("--to {}: legal is {}", options.to, tmajit::byte_count_forms);
    bound = *bytes;
  } else if (!unused_for) {
    bound = tmajit::default_max_cache_bytes();
    if (bound == 0) refuse("$TMAJIT_CACHE_BYTES is 0, which means no bound: give --to or --older-than");
  }
  const tmajit::DiskCache cache(cache_folder(options.directory));
  const auto trimmed = [&] {
    const Progress progress("trimming");
    return cache.trim(bound, unused_for);
  }();
  const Share removed{.entries = trimmed.removed, .bytes = trimmed.removed_bytes};
  const Share remaining{.entries = trimmed.remaining, .bytes = trimmed.remaining_bytes};
  if (json) {
    print_json({{"directory", cache.directory().string()},
                {"removed", share_json(removed)},
                {"remaining", share_json(remaining)}});
  } else {
    write_stdout("{}: removed {}; remaining: {}\n", cache.directory().string(), describe_share(removed),
                 describe_share(remaining));
  }
  return 0;
}

/// Adds --dir, which all these commands have.
void add_directory_option(CLI::App& command, std::string& directory) {
  OptionGroup(command).add("--dir,--cache-dir", directory, "FOLDER",
                           "The folder; default: $TMAJIT_CACHE_DIR, else ~/.cache/tmajit");
}

void add_verify_command(CLI::App& cache, Session& session) {
  struct VerifyOptions {
    std::string directory;
    bool remove = false;
  };
  auto& command = *cache.add_subcommand(
      "verify", "Read every kernel, and check its length, checksum and key. Exit code 1 if any is broken");
  auto options = std::make_shared<VerifyOptions>();
  add_directory_option(command, options->directory);
  OptionGroup(command).add_flag("--remove", options->remove, "Remove the broken ones");
  command.footer("Example:\n  jitc cache verify --dir /tmp/kernels --remove");
  add_action(command, session,
             [=](bool json) { return verify_cache(options->directory, options->remove, json); });
}

void add_trim_command(CLI::App& cache, Session& session) {
  auto& command = *cache.add_subcommand(
      "trim", "Remove the least recently used kernels. Times of use are known to ten minutes");
  auto options = std::make_shared<TrimOptions>();
  add_directory_option(command, options->directory);
  OptionGroup group(command);
  group.add("--to", options->to, "SIZE",
            "Bytes that remain at most: 500MiB, 4GiB. Default: $TMAJIT_CACHE_BYTES, else 4GiB; with "
            "--older-than, no bound");
  group.add("--older-than", options->older_than, "AGE",
            "Remove all kernels that were not used for so long: 12h, 30d");
  command.footer(
      "Examples:\n"
      "  jitc cache trim --to 1GiB\n"
      "  jitc cache trim --older-than 30d --json");
  add_action(command, session, [=](bool json) { return trim_cache(*options, json); });
}

}  // namespace

void add_cache_command(CLI::App& app, Session& session) {
  auto& cache = *app.add_subcommand("cache", "Show, check, trim or empty the cache of compiled kernels");
  cache.require_subcommand(0, 1);
  add_action(cache, session, nullptr);
  cache.footer(
      "Examples:\n"
      "  jitc cache stat\n"
      "  jitc cache ls --json\n"
      "  jitc cache verify --remove\n"
      "  jitc cache trim --to 1GiB --older-than 30d\n"
      "  jitc cache clear --dir /tmp/kernels");
  const auto add = [&](const std::string& name, const std::string& description,
                       int (*act)(const std::string&, bool)) {
    auto& command = *cache.add_subcommand(name, description);
    auto directory = std::make_shared<std::string>();
    add_directory_option(command, *directory);
    command.footer(fmt::format("Example:\n  jitc cache {} --dir /tmp/kernels", name));
    add_action(command, session, [=](bool json) { return act(*directory, json); });
  };
  add("stat",
      "How many kernels there are, and their size: of all, of each family, and of each NVRTC that compiled "
      "them",
      show_statistics);
  add("ls",
      "Every kernel with the operation, types and shape that it was first made for, the most recently used "
      "first. Times are UTC",
      list_entries);
  add_verify_command(cache, session);
  add_trim_command(cache, session);
  add("clear", "Remove every kernel", clear_cache);
}

}  // namespace jitc
