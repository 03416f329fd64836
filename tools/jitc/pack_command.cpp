#include "commands.hpp"
#include "files.hpp"
#include "kernel_cells.hpp"
#include "option_group.hpp"
#include "options.hpp"
#include "recorded_kernels.hpp"
#include "report.hpp"
#include "terminal.hpp"
#include "text.hpp"

#include <tmajit/codegen.hpp>
#include <tmajit/pack.hpp>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <spdlog/fmt/fmt.h>
#include <unistd.h>

namespace jitc {
namespace {

using tmajit::CacheKey;
using tmajit::Pack;

struct BuildOptions {
  std::string file;
  std::string manifest;
  std::string directory;
  std::uint32_t jobs = 0;
  bool keep_ptx = false;
};

Json summary_json(const std::string& file, const tmajit::PackSummary& summary) {
  return {{"file", file},
          {"kernels", summary.kernels},
          {"bytes", summary.bytes},
          {"decompressed_bytes", summary.whole_bytes}};
}

/// A pack of a manifest's kernels or, without one, of all kernels of the cache folder.
int build_pack(const BuildOptions& options, bool json) {
  const tmajit::DiskCache cache(cache_folder(options.directory));
  std::vector<CacheKey> keys;
  std::vector<tmajit::CompilerIdentity> compilers;
  bool refused = false;
  if (options.manifest.empty()) {
    for (const auto& entry : cache.entries()) keys.push_back(entry.key);
    compilers = cache.known_compilers();
  } else {
    const tmajit::Manifest manifest = read_manifest_file(options.manifest);
    const tmajit::MadeKernels made = make_recorded_kernels(manifest.kernels, cache, options.jobs);
    refused = !made.failures.empty();
    keys = made.keys;
    compilers = {tmajit::compiler()};
  }
  const tmajit::PackSummary summary = write_pack_file(options.file, keys, cache, compilers, options.keep_ptx);
  if (json) {
    print_json(summary_json(options.file, summary));
  } else {
    write_stdout("{}: {}, {}; {} when decompressed\n", options.file, counted(summary.kernels, "kernel"),
                 describe_bytes(summary.bytes), describe_bytes(summary.whole_bytes));
  }
  return refused ? exit_code::problems_found : exit_code::done;
}

std::string code_of(const tmajit::Artifact& artifact) {
  if (artifact.cubin.empty()) return "PTX";
  return artifact.ptx.empty() ? "cubin" : "cubin, PTX";
}

Json pack_json(const Pack& pack) {
  Json compilers = Json::array();
  for (const auto& compiler : pack.compilers()) {
    compilers.push_back({{"major", compiler.major}, {"minor", compiler.minor}, {"build", compiler.build}});
  }
  return {{"file", pack.file().string()},  {"bytes", pack.bytes()},
          {"kernels", pack.kernels()},     {"compilers", compilers},
          {"generator", pack.generator()}, {"of_this_version", pack.generator() == tmajit::generator_id()}};
}

std::string describe_pack(const Pack& pack) {
  auto text = fmt::format("{}: {}, {}\n", pack.file().string(), counted(pack.kernels(), "kernel"),
                          describe_bytes(pack.bytes()));
  for (const auto& compiler : pack.compilers()) {
    text +=
        fmt::format("compiled by NVRTC {}.{}, build {}\n", compiler.major, compiler.minor, compiler.build);
  }
  if (pack.generator() != tmajit::generator_id())
    text += "made by another version of tmajit: this one finds none of its generated kernels\n";
  if (const std::string why = pack.why_refused(); !why.empty())
    text += fmt::format("runtimes do not use it: {}\n", why);
  return text;
}

int list_packs(const std::vector<std::string>& files, bool json) {
  Json packs = Json::array();
  for (const std::string& file : files) {
    const Pack pack(file);
    Json kernels = Json::array();
    Rows rows{kernel_headings()};
    rows[0].insert(rows[0].end(), {"CODE", "SIZE"});
    for (const CacheKey& key : pack.keys()) {
      const tmajit::Artifact artifact = pack.fetch(key).value();
      const auto& [operation, types, shape] = artifact.made_for;
      kernels.push_back({{"key", key.hex()},
                         {"entry", artifact.entry},
                         {"operation", operation},
                         {"types", types},
                         {"shape", shape},
                         {"code", code_of(artifact)},
                         {"bytes", pack.bytes_of(key)}});
      rows.push_back(kernel_cells(key, artifact.entry, artifact.made_for));
      rows.back().push_back(code_of(artifact));
      rows.back().push_back(describe_bytes(pack.bytes_of(key)));
    }
    packs.push_back(pack_json(pack));
    packs.back()["entries"] = std::move(kernels);
    if (json) continue;
    write_stdout(describe_pack(pack));
    if (pack.kernels() > 0) write_stdout(format_table(rows, columns(STDOUT_FILENO)));
  }
  if (json) print_json({{"packs", packs}});
  return exit_code::done;
}

/// The first fault of a pack; empty if every kernel in it can be used.
std::string fault_of(const std::string& file) {
  try {
    const Pack pack(file);
    pack.verify();
    return pack.why_refused().empty() ? std::string()
                                      : fmt::format("runtimes do not use {}: {}", file, pack.why_refused());
  } catch (const tmajit::Error& error) {
    if (error.code() != tmajit::ErrorCode::invalid_argument) throw;
    return error.what();
  }
}

int verify_packs(const std::vector<std::string>& files, bool json) {
  Json packs = Json::array();
  bool found = false;
  for (const std::string& file : files) {
    const std::string fault = fault_of(file);
    found = found || !fault.empty();
    packs.push_back({{"file", file}, {"fault", fault}});
    if (!json) write_stdout("{}\n", fault.empty() ? file + ": every kernel is intact" : fault);
  }
  if (json) print_json({{"packs", packs}});
  return found ? exit_code::problems_found : exit_code::done;
}

struct Difference {
  std::vector<CacheKey> added;    ///< only in the second pack
  std::vector<CacheKey> removed;  ///< only in the first
  std::vector<CacheKey> changed;  ///< in both, with other code
  std::size_t same = 0;
};

Difference difference_of(const Pack& a, const Pack& b) {
  Difference result;
  for (const CacheKey& key : a.keys()) {
    const std::optional<tmajit::Artifact> other = b.fetch(key);
    if (!other) {
      result.removed.push_back(key);
      continue;
    }
    const tmajit::Artifact own = a.fetch(key).value();
    if (own.cubin == other->cubin && own.ptx == other->ptx)
      ++result.same;
    else
      result.changed.push_back(key);
  }
  for (const CacheKey& key : b.keys())
    if (!a.has(key)) result.added.push_back(key);
  return result;
}

int compare_packs(const std::vector<std::string>& files, bool json) {
  const Pack a(files[0]);
  const Pack b(files[1]);
  const auto [added, removed, changed, same] = difference_of(a, b);
  const auto hex = [](const std::vector<CacheKey>& keys) {
    Json list = Json::array();
    for (const CacheKey& key : keys) list.push_back(key.hex());
    return list;
  };
  if (json) {
    print_json({{"added", hex(added)}, {"removed", hex(removed)}, {"changed", hex(changed)}, {"same", same}});
  } else {
    Rows rows{kernel_headings()};
    rows[0].insert(rows[0].begin(), "");
    const auto add = [&](const char* mark, const std::vector<CacheKey>& keys, const Pack& of) {
      for (const CacheKey& key : keys) {
        const tmajit::Artifact artifact = of.fetch(key).value();
        rows.push_back(kernel_cells(key, artifact.entry, artifact.made_for));
        rows.back().insert(rows.back().begin(), mark);
      }
    };
    add("-", removed, a);
    add("+", added, b);
    add("!", changed, b);
    if (rows.size() > 1) write_stdout(format_table(rows, columns(STDOUT_FILENO)));
    write_stdout("{} the same, {} only in {}, {} only in {}, {} with other code\n", same, removed.size(),
                 files[0], added.size(), files[1], changed.size());
  }
  return added.empty() && removed.empty() && changed.empty() ? exit_code::done : exit_code::problems_found;
}

void add_build(CLI::App& pack, Session& session) {
  auto& command = *pack.add_subcommand(
      "build", "Write a pack of the kernels of a manifest, or of all kernels in the cache folder");
  auto options = std::make_shared<BuildOptions>();
  OptionGroup group(command);
  group.add("FILE", options->file, "FILE", "The pack to write, such as mine.pack")->required();
  group.add("--manifest", options->manifest, "FILE",
            "Its kernels, which jitc warm --record wrote; those that the cache folder lacks are compiled");
  group.add("--dir,--cache-dir", options->directory, "FOLDER",
            "The cache folder; default: $TMAJIT_CACHE_DIR, else ~/.cache/tmajit");
  group.add("--jobs", options->jobs, "N", "Kernels to compile at once; default: one for each core");
  group.add_flag("--ptx", options->keep_ptx, keep_ptx_help);
  command.footer(
      "Examples:\n"
      "  jitc pack build mine.pack --manifest misses.jsonl\n"
      "  jitc pack build all.pack --dir /tmp/kernels");
  add_action(command, session, [options](bool json) { return build_pack(*options, json); });
}

void add_reader(CLI::App& pack, Session& session, const char* name, const std::string& description,
                const char* example, std::size_t files, int (*act)(const std::vector<std::string>&, bool)) {
  auto& command = *pack.add_subcommand(name, description);
  auto names = std::make_shared<std::vector<std::string>>();
  auto* const option = OptionGroup(command).add("FILE", *names, "FILE", "The pack")->required();
  if (files > 0) option->expected(static_cast<int>(files));
  command.footer(fmt::format("Example:\n  jitc pack {} {}", name, example));
  add_action(command, session, [=](bool json) { return act(*names, json); });
}

}  // namespace

void add_pack_command(CLI::App& app, Session& session) {
  auto& pack = *app.add_subcommand(
      "pack", "Write, list, verify and compare packs: files of kernels that need no compiler");
  pack.require_subcommand(0, 1);
  add_action(pack, session, nullptr);
  pack.footer(
      "Examples:\n"
      "  jitc pack build mine.pack --manifest misses.jsonl\n"
      "  jitc pack ls mine.pack\n"
      "  jitc pack verify *.pack");
  add_build(pack, session);
  add_reader(pack, session, "ls", "Every kernel of a pack, by key", "mine.pack", 0, list_packs);
  add_reader(pack, session, "verify", "Read every kernel; exit code 1 if one is damaged", "mine.pack", 0,
             verify_packs);
  add_reader(pack, session, "diff", "The kernels that only one of two packs has; exit code 1 if they differ",
             "old.pack new.pack", 2, compare_packs);
}

}  // namespace jitc
