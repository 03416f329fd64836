#include "commands.hpp"
#include "common_permutations.hpp"
#include "explanation.hpp"
#include "files.hpp"
#include "memory_image.hpp"
#include "move_planning.hpp"
#include "move_problem.hpp"
#include "parse.hpp"
#include "run.hpp"
#include "select_device.hpp"
#include "table.hpp"
#include "terminal.hpp"
#include "tuning_file.hpp"

#include <tmajit/error.hpp>

#include <algorithm>
#include <functional>
#include <memory>
#include <optional>

#include <CLI/CLI.hpp>
#include <spdlog/fmt/fmt.h>
#include <unistd.h>

namespace jitc {
namespace {

using tmajit::Error;
using tmajit::ErrorCode;
using tmajit::TuneReport;

struct TuneCommandOptions {
  KernelOptions tensors;
  MoveOptions move;
  CompilerOptions compiler;
  std::vector<std::string> types;
  std::string device = "gpu";
  std::uint32_t repeat = tmajit::TuneOptions{}.repeats;
  bool all = false;
  bool list = false;
  std::string export_to;
  std::string import_from;

  [[nodiscard]] bool measures() const { return all || !tensors.family.empty(); }
};

/// A move that was measured.
struct Tuned {
  std::string move;
  std::uint64_t bytes = 0;  ///< read and written by the largest step
  std::string planned;      ///< the choice of that step before
  TuneReport report;

  [[nodiscard]] const TuneReport::Candidate& winner() const { return report.candidates.front(); }
  /// How many times as long the plan's kernel took before; nothing if it was not among the candidates.
  [[nodiscard]] std::optional<double> gain() const {
    for (const auto& candidate : report.candidates) {
      if (candidate.choice == planned) return candidate.microseconds / winner().microseconds;
    }
    return std::nullopt;
  }
};

void check_usage(const TuneCommandOptions& options, bool json) {
  const auto refuse = [](const char* message) { throw Error(ErrorCode::invalid_argument, message); };
  if (options.all && !options.tensors.family.empty()) {
    refuse("--all brings moves of its own; give either it or a MOVE");
  }
  if (!options.measures() && !options.list && options.export_to.empty() && options.import_from.empty()) {
    refuse("nothing to do: give a MOVE to measure, --all, --list, --export FILE or --import FILE");
  }
  if (!options.types.empty() && !options.tensors.dtypes.empty()) {
    refuse("--types and --dtype: --types tunes for each of several types, --dtype for one");
  }
  if (json && options.export_to == "-") refuse("--json and --export -: both would go to standard output");
}

/// Every move that is asked for, made when its turn comes: their memory is large.
std::vector<std::function<MoveProblem()>> requests(const TuneCommandOptions& options) {
  std::vector<std::string> types;
  for (const auto type : parse_types(options.types)) types.emplace_back(tmajit::name(type));
  if (types.empty() && options.all) types = {"f32", "bf16", "u8"};
  std::vector<std::function<MoveProblem()>> result;
  const auto add = [&](const KernelOptions& tensors, const MoveOptions& move) {
    for (const auto& type : types) {
      auto typed = tensors;
      typed.dtypes = {type};
      result.emplace_back([typed, move] { return make_move(typed, move); });
    }
    if (types.empty()) result.emplace_back([tensors, move] { return make_move(tensors, move); });
  };
  if (!options.all) {
    add(options.tensors, options.move);
    return result;
  }
  for (const auto& permutation : common_permutations) {
    KernelOptions tensors;
    tensors.family = std::string("permute");
    tensors.shape = fmt::to_string(fmt::join(permutation.shape(), "x"));
    MoveOptions move;
    move.axes = fmt::to_string(fmt::join(permutation.axes(), ","));
    add(tensors, move);
  }
  return result;
}

Tuned tune_one(tmajit::Runtime& runtime, const MoveProblem& problem, const TuneCommandOptions& options,
               const std::string& position) {
  std::vector<tmajit::Buffer> buffers;
  std::vector<std::uint64_t> addresses;
  const auto allocate = [&](const MoveArray& array) {
    buffers.emplace_back(runtime.device(), std::max<std::uint64_t>(array.memory.bytes, 1));
    addresses.push_back(buffers.back().address());
  };
  for (const auto& input : problem.inputs) allocate(input);
  for (const auto& output : problem.outputs) allocate(output);
  const auto inputs = problem.inputs.size();
  const auto plan = make_plan(
      runtime, problem.moves(std::span(addresses).first(inputs), std::span(addresses).subspan(inputs)));

  Tuned tuned{.move = describe(problem), .planned = {}, .report = {}};
  for (const auto& step : plan.explain().steps) {
    const auto bytes = step.bytes_read + step.bytes_written;
    if (bytes <= tuned.bytes) continue;
    tuned.bytes = bytes;
    tuned.planned = step.choice;
  }
  Progress progress(position);
  const auto note = [&](std::uint32_t done, std::uint32_t candidates, std::string_view choice) {
    progress.note(fmt::format("candidate {} of {}: {}", done + 1, candidates, choice));
  };
  tuned.report =
      runtime.tune(plan, {.repeats = options.repeat, .progress = note, .store = !options.compiler.no_cache});
  return tuned;
}

std::string speed(const Tuned& tuned, double microseconds) {
  return microseconds > 0 ? fmt::format("{:.0f}", static_cast<double>(tuned.bytes) / microseconds * 1e-3)
                          : "";
}

/// Every candidate of one move.
std::string candidate_table(const Tuned& tuned) {
  std::vector<std::vector<std::string>> rows{{"CHOICE", "PREDICTED µs", "MEASURED µs", "GB/s"}};
  for (const auto& candidate : tuned.report.candidates) {
    rows.push_back({candidate.choice, fmt::format("{:.1f}", candidate.predicted_us),
                    fmt::format("{:.1f}", candidate.microseconds), speed(tuned, candidate.microseconds)});
  }
  return format_table(rows, columns(STDOUT_FILENO));
}

/// The winner of each of several moves.
std::string winner_table(std::span<const Tuned> all) {
  std::vector<std::vector<std::string>> rows{
      {"MOVE", "CHOICE", "PREDICTED µs", "MEASURED µs", "GB/s", "GAIN"}};
  for (const auto& tuned : all) {
    if (tuned.report.candidates.empty()) continue;
    const auto& winner = tuned.winner();
    rows.push_back({tuned.move, winner.choice, fmt::format("{:.1f}", winner.predicted_us),
                    fmt::format("{:.1f}", winner.microseconds), speed(tuned, winner.microseconds),
                    tuned.gain() ? fmt::format("{:.3f}", *tuned.gain()) : ""});
  }
  return format_table(rows, columns(STDOUT_FILENO));
}

Json to_json(const Tuned& tuned) {
  Json candidates = Json::array();
  for (const auto& candidate : tuned.report.candidates) {
    candidates.push_back({{"choice", candidate.choice},
                          {"predicted_us", candidate.predicted_us},
                          {"microseconds", candidate.microseconds}});
  }
  return {{"move", tuned.move},
          {"bytes", tuned.bytes},
          {"planned", tuned.planned},
          {"shape_class", tuned.report.shape_class},
          {"candidates", candidates}};
}

void measure(const TuneCommandOptions& options, Json& report, bool json) {
  const auto moves = requests(options);
  if (!options.all)
    static_cast<void>(moves.front()());  // wrong usage is found out before a GPU is looked for
  auto chosen = runtime_options(options.compiler);
  chosen.device = open_named_gpu(options.device, "tuning measures, which the simulated device cannot");
  if (!chosen.device) {
    throw Error(
        ErrorCode::invalid_argument,
        fmt::format("--device {}: tuning needs a GPU; legal are gpu, and gpu:0, gpu:1 …", options.device));
  }
  tmajit::Runtime runtime(std::move(chosen));
  const auto& info = runtime.device()->info();
  if (!json) say("device", fmt::format("{}, {} SMs", info.name, info.sm_count));
  std::vector<Tuned> all;
  for (std::size_t i = 0; i < moves.size(); ++i) {
    const auto problem = moves[i]();
    const auto position =
        moves.size() == 1 ? std::string("tuning") : fmt::format("tuning, move {} of {}", i + 1, moves.size());
    all.push_back(tune_one(runtime, problem, options, position));
    const auto& tuned = all.back();
    if (json) continue;
    if (tuned.report.candidates.empty()) {
      say("tuned", fmt::format("{}: there is nothing to move", tuned.move));
    } else {
      say("tuned", fmt::format("{}: {}, {} GB/s", tuned.move, tuned.winner().choice,
                               speed(tuned, tuned.winner().microseconds)));
    }
  }
  if (json) {
    report["device"] = jitc::to_json(info);
    report["tuned"] = Json::array();
    for (const auto& tuned : all) report["tuned"].push_back(to_json(tuned));
    return;
  }
  write_stdout(all.size() == 1 ? candidate_table(all.front()) : winner_table(all));
}

void list(const TuneCommandOptions& options, Json& report, bool json) {
  const auto choices = known_choices(options.compiler);
  const auto file = tuning_file(options.compiler).string();
  if (json) {
    report["file"] = file;
    report["choices"] = to_json(choices);
  } else if (choices.empty()) {
    write_stdout(fmt::format("no choices: none comes with this library, and there is none in {}\n", file));
  } else {
    write_stdout(choice_table(choices));
  }
}

std::string describe_choices(std::size_t count) {
  return fmt::format("{} choice{}", count, count == 1 ? "" : "s");
}

int tune(const TuneCommandOptions& options, bool json) {
  check_usage(options, json);
  Json report = Json::object();
  if (!options.import_from.empty()) {
    const auto count = import_choices(options.compiler, options.import_from);
    report["imported"] = count;
    if (!json) say("import", fmt::format("{} from {}", describe_choices(count), options.import_from));
  }
  if (options.measures()) measure(options, report, json);
  if (!options.export_to.empty()) {
    const auto count = export_choices(options.compiler, options.export_to);
    report["exported"] = count;
    if (!json) say("export", fmt::format("{} to {}", describe_choices(count), options.export_to));
  }
  if (options.list) list(options, report, json);
  if (json) print_json(report);
  return 0;
}

}  // namespace

void add_tune_command(CLI::App& app, Session& session) {
  auto& command = *app.add_subcommand(
      "tune",
      "Measure every kernel that could do a move on this GPU, and keep the fastest for plans to come");
  auto options = std::make_shared<TuneCommandOptions>();
  add_move_command_options(command, options->tensors, options->move);
  command.get_option("MOVE")->required(false);
  command.add_option("--types", options->types, "Element types; the move is tuned for each")
      ->type_name("TYPE[,TYPE…]")
      ->group(tensors_group)
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  command.add_option("--device", options->device, "gpu: the first Hopper GPU; gpu:N: the driver's GPU N")
      ->type_name("DEVICE")
      ->capture_default_str();
  command.add_option("--repeat", options->repeat, "Timed runs of each candidate")
      ->check(CLI::Range(1, 100'000))
      ->type_name("N")
      ->capture_default_str();
  constexpr auto choices = "Choices";
  command
      .add_flag(
          "--all", options->all,
          "Tune permutations that programs do often, in f32, bf16 and u8 if --types does not say otherwise; "
          "takes 8 GiB of the GPU's memory")
      ->group(choices);
  command.add_flag("--list", options->list, "Print the choices that plans on this machine go by")
      ->group(choices);
  command
      .add_option("--export", options->export_to,
                  "Write this machine's choices to a file, after what else is done")
      ->type_name("FILE")
      ->group(choices);
  command
      .add_option("--import", options->import_from,
                  "Add the choices of such a file, before what else is done")
      ->type_name("FILE")
      ->group(choices);
  add_compiler_options(command, options->compiler);
  add_common_options(command, session);
  command.footer(
      "Choices are kept by chip, shape class and version in tuning.json of the cache folder; --export - "
      "writes them\n"
      "to standard output. --list, --export and --import need no GPU.\n\n"
      "Examples:\n"
      "  jitc tune permute --shape 64x128x256x512 --axes 0,3,1,2 --types f32,bf16,u8\n"
      "  jitc tune copy --shape 16384x16384 --slice 100:12100,64:12064\n"
      "  jitc tune --all --export h200.json\n"
      "  jitc tune --import h200.json --list");
  command.callback(
      [options, &session] { session.action = [options, &session] { return tune(*options, session.json); }; });
}

}  // namespace jitc
