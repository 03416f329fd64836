#include "options.hpp"

#include <algorithm>

#include <CLI/CLI.hpp>

namespace movement {
namespace {

constexpr const char* about =
    "Measures tmajit's moves (copy, permute, slice, pad, flip, concat, split, broadcast, cast, map) beside\n"
    "cuMemcpyDtoDAsync of as many bytes, in the same rounds, on the same buffers, and checks every result.\n"
    "GB/s count bytes read plus bytes written, each element once. Moves of less than 128 MiB are nodes of a\n"
    "CUDA graph. peers.py, beside this program's source, measures other libraries too.";

constexpr const char* examples =
    "Examples:\n"
    "  tmajit-movement --quick\n"
    "  tmajit-movement --only 'peers: ' --only small --json movement.json\n"
    "  tmajit-movement --only '->(3,2,1,0) u8' --rounds 31\n"
    "  tmajit-movement --targets --jit";

}  // namespace

bool Options::wants(const Case& c) const {
  if (quick && !c.quick) return false;
  const std::string label = c.label();
  return only.empty() || std::any_of(only.begin(), only.end(), [&](const std::string& part) {
           return label.find(part) != std::string::npos;
         });
}

Parsed parse(int argc, char** argv) {
  Parsed result;
  Options& options = result.options;
  CLI::App app(about, "tmajit-movement");
  app.footer(examples);
  app.add_option("--only", options.only, "Cases whose label contains this; may be given again")
      ->type_name("TEXT")
      ->allow_extra_args(false);
  app.add_flag("--list", options.list, "Print the labels of the cases and stop");
  app.add_flag("--quick", options.quick, "Fewer cases and rounds");
  app.add_flag("--jit", options.jit, "Also measure what planning costs");
  app.add_flag("--targets", options.targets, "Exit with 1 if a target is missed");
  app.add_option("--rounds", options.rounds, "Measurements of each side [15; 7 with --quick]")
      ->check(CLI::Range(1, 10000));
  app.add_option("--limit", options.limit_s, "Begin no case after this many seconds")
      ->type_name("SECONDS")
      ->check(CLI::PositiveNumber);
  app.add_option("--device", options.device, "auto, gpu or gpu:N [auto]");
  app.add_option("--seed", options.seed, "Seed of the data and of the random permutations [1]");
  app.add_option("--json", options.json, "Also write everything to this file")->type_name("FILE");
  app.add_flag("--tiny", options.tiny)->group("");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    result.exit_code = app.exit(error) == 0 ? 0 : 2;
    return result;
  }
  if (options.quick && app.count("--rounds") == 0) options.rounds = 7;
  return result;
}

}  // namespace movement
