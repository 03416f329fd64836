#include "commands.hpp"
#include "files.hpp"
#include "option_group.hpp"
#include "options.hpp"
#include "recorded_kernels.hpp"
#include "report.hpp"
#include "terminal.hpp"
#include "text.hpp"
#include "usage.hpp"

#include <tmajit/error.hpp>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <spawn.h>
#include <spdlog/fmt/fmt.h>
#include <sys/wait.h>
#include <unistd.h>

namespace jitc {
namespace {

struct WarmOptions {
  std::string record;
  std::string replay;
  std::string directory;
  std::string pack;
  std::uint32_t jobs = 0;
  bool keep_ptx = false;
  std::vector<std::string> command;
};

void check_warm_usage(const WarmOptions& options) {
  if (options.record.empty() == options.replay.empty())
    refuse("give either --record FILE and a command to run, or --replay FILE");
  if (!options.record.empty() && options.command.empty())
    refuse("--record needs a command to run: jitc warm --record misses.jsonl -- ./application");
  if (!options.replay.empty() && !options.command.empty())
    refuse("--replay runs no command; {} is not an option", options.command.front());
  if (!options.record.empty() && (!options.pack.empty() || !options.directory.empty() || options.jobs != 0))
    refuse("--pack, --dir and --jobs belong to --replay");
  if (options.keep_ptx && options.pack.empty()) refuse("--ptx belongs to --pack FILE");
}

/// Runs a command to its end and returns its exit code, as a shell does. Throws Error{io} if it cannot be
/// run.
int run_to_end(const std::vector<std::string>& command) {
  std::vector<char*> words;
  for (const std::string& word : command) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  pid_t child = 0;
  if (const int error = ::posix_spawnp(&child, words[0], nullptr, nullptr, words.data(), environ))
    throw tmajit::Error(tmajit::ErrorCode::io,
                        fmt::format("{} cannot be run: {}", command.front(), std::strerror(error)));
  // The terminal sends Ctrl-C to both processes: the command decides what it means.
  ::signal(SIGINT, SIG_IGN);
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  constexpr int killed = 128;
  return WIFEXITED(status) ? WEXITSTATUS(status) : killed + WTERMSIG(status);
}

int record_run(const WarmOptions& options, bool json) {
  const std::string file = std::filesystem::absolute(options.record).string();
  ::setenv("TMAJIT_RECORD", file.c_str(), 1);
  const int code = run_to_end(options.command);
  std::error_code missing;
  const bool exists = std::filesystem::exists(file, missing);
  const tmajit::Manifest manifest = exists ? read_manifest_file(file) : tmajit::Manifest();
  if (json) {
    print_json({{"manifest", file}, {"kernels", manifest.kernels.size()}, {"exit_code", code}});
  } else {
    say("recorded", "{} now holds {}", options.record, counted(manifest.kernels.size(), "kernel"));
  }
  return code;
}

int replay_manifest(const WarmOptions& options, bool json) {
  const tmajit::Manifest manifest = read_manifest_file(options.replay);
  const tmajit::DiskCache cache(cache_folder(options.directory));
  const tmajit::MadeKernels made = make_recorded_kernels(manifest.kernels, cache, options.jobs);
  Json report{{"directory", cache.directory().string()},
              {"kernels", made.keys.size()},
              {"compiled", made.compiled},
              {"refused", made.failures.size()},
              {"of_other_versions", manifest.of_other_versions},
              {"damaged", manifest.damaged}};
  std::string text = fmt::format("{}: {} compiled, {} there before\n", cache.directory().string(),
                                 counted(made.compiled, "kernel"), made.keys.size() - made.compiled);
  if (!options.pack.empty()) {
    const tmajit::PackSummary summary =
        write_pack_file(options.pack, made.keys, cache, {&tmajit::compiler(), 1}, options.keep_ptx);
    report["pack"] = {{"file", options.pack}, {"kernels", summary.kernels}, {"bytes", summary.bytes}};
    text += fmt::format("{}: {}, {}\n", options.pack, counted(summary.kernels, "kernel"),
                        describe_bytes(summary.bytes));
  }
  if (json)
    print_json(report);
  else
    write_stdout(text);
  return made.failures.empty() ? exit_code::done : exit_code::problems_found;
}

int run_warm(const WarmOptions& options, bool json) {
  check_warm_usage(options);
  return options.replay.empty() ? record_run(options, json) : replay_manifest(options, json);
}

}  // namespace

void add_warm_command(CLI::App& app, Session& session) {
  auto& command = *app.add_subcommand(
      "warm", "Record the kernels that a program compiles, and compile them before its next run");
  auto options = std::make_shared<WarmOptions>();
  OptionGroup group(command);
  group.add("--record", options->record, "FILE",
            "Run COMMAND, and append a line to this manifest for each kernel that it compiles");
  group.add("COMMAND", options->command, "COMMAND", "The program and its arguments, after --");
  group.add("--replay", options->replay, "FILE",
            "Compile the kernels of this manifest that the cache folder lacks");
  group.add("--dir,--cache-dir", options->directory, "FOLDER",
            "The cache folder; default: $TMAJIT_CACHE_DIR, else ~/.cache/tmajit");
  group.add("--pack", options->pack, "FILE", "Also write a pack of these kernels");
  group.add_flag("--ptx", options->keep_ptx, keep_ptx_help);
  group.add("--jobs", options->jobs, "N", "Kernels to compile at once; default: one for each core");
  command.footer(
      "Exit code with --record: that of COMMAND.\n\n"
      "Examples:\n"
      "  jitc warm --record misses.jsonl -- python3 train.py --steps 10\n"
      "  jitc warm --replay misses.jsonl\n"
      "  jitc warm --replay misses.jsonl --pack mine.pack");
  add_action(command, session, [options](bool json) { return run_warm(*options, json); });
}

}  // namespace jitc
