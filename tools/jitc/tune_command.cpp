#include "commands.hpp"
#include "common_permutations.hpp"
#include "files.hpp"
#include "option_group.hpp"
#include "parse.hpp"
#include "problem.hpp"
#include "run.hpp"
#include "select_device.hpp"
#include "spec/suggestion.hpp"
#include "terminal.hpp"
#include "text.hpp"
#include "tune_own.hpp"
#include "usage.hpp"

#include <tmajit/move.hpp>
#include <tmajit/tuning.hpp>

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <system_error>

#include <CLI/CLI.hpp>
#include <spdlog/fmt/fmt.h>
#include <unistd.h>

namespace jitc {
namespace {

using tmajit::TuneReport;

struct TuneCommandOptions {
  ProblemOptions problem;
  CompilerOptions compiler;
  std::vector<std::string> types;
  std::string device = "gpu";
  std::uint32_t repeat = tmajit::TuneOptions{}.repeats;
  bool all = false;
  bool list = false;
  std::string export_to;
  std::string import_from;
  OwnOptions own;  ///< options of a kernel from a file
  std::vector<std::string> values;
  std::string save;

  [[nodiscard]] bool is_own() const { return is_own_kernel(problem.word); }
  [[nodiscard]] TuneOwnOptions of_own() const {
    return {.file = problem.word, .own = own, .values = values, .save = save, .repeat = repeat};
  }
  [[nodiscard]] bool measures() const { return all || !problem.word.empty(); }
};

/// The file in which a runtime with these options stores its choices. Throws Error{invalid_argument} with
/// --no-cache, because then nothing is stored.
std::filesystem::path tuning_file(const CompilerOptions& options) {
  const auto directory = runtime_options(options).cache_directory;
  if (!directory) {
    refuse("--no-cache keeps no choices; they are in the file tuning.json of --cache-dir");
  }
  return *directory / "tuning.json";
}

tmajit::TuningTable stored_choices(const CompilerOptions& options) {
  tmajit::TuningTable table;
  table.load(tuning_file(options));
  return table;
}

/// A choice that plans on this machine use.
struct KnownChoice {
  tmajit::TunedChoice choice;
  bool shipped = false;  ///< part of the library; else from tuning.json
};
/// The choices of tuning.json, and the shipped ones for shape classes that it does not have.
std::vector<KnownChoice> known_choices(const CompilerOptions& options) {
  const auto file_choices = stored_choices(options).all();
  std::vector<KnownChoice> choices;
  choices.reserve(file_choices.size());
  for (const auto& choice : file_choices) choices.push_back({.choice = choice});
  for (const auto& choice : tmajit::TuningTable::shipped().all()) {
    const bool replaced =
        std::any_of(file_choices.begin(), file_choices.end(), [&](const tmajit::TunedChoice& stored) {
          return stored.chip == choice.chip && stored.shape_class == choice.shape_class;
        });
    if (!replaced) choices.push_back({.choice = choice, .shipped = true});
  }
  return choices;
}

Json choices_json(std::span<const KnownChoice> choices) {
  Json list = Json::array();
  for (const auto& [choice, shipped] : choices) {
    list.push_back({{"chip", choice.chip},
                    {"class", choice.shape_class.text()},
                    {"choice", choice.choice.text()},
                    {"microseconds", choice.microseconds},
                    {"shipped", shipped}});
  }
  return list;
}

std::string choice_table(std::span<const KnownChoice> choices) {
  Rows rows{{"CHIP", "CLASS", "CHOICE", "µs", "FROM"}};
  for (const auto& [choice, shipped] : choices) {
    rows.push_back({choice.chip, choice.shape_class.text(), choice.choice.text(),
                    fmt::format("{:.1f}", choice.microseconds), shipped ? "shipped" : "file"});
  }
  return format_table(rows, columns(STDOUT_FILENO));
}

/// Writes the choices of tuning.json, measured here or imported, to `target`. Returns their number. Throws
/// Error{io}.
std::size_t export_choices(const CompilerOptions& options, const std::string& target) {
  const auto table = stored_choices(options);
  write_text(target, table.json());
  return table.all().size();
}

/// Adds the choices of `source` to tuning.json and returns their number. Throws Error{io} or
/// Error{invalid_argument}, and leaves tuning.json unchanged then.
std::size_t import_choices(const CompilerOptions& options, const std::string& source) {
  tmajit::TuningTable imported;
  imported.add_json(InputFile(source).text(), tmajit::input_name(source));
  auto table = stored_choices(options);
  for (const auto& choice : imported.all()) table.add(choice);
  const auto target = tuning_file(options);
  std::error_code error;  // ignored: save() reports a missing folder
  std::filesystem::create_directories(target.parent_path(), error);
  table.save(target);
  return imported.all().size();
}

/// An operation that was measured.
struct Tuned {
  std::string move;
  std::uint64_t bytes = 0;       ///< read and written by the largest step
  tmajit::KernelChoice planned;  ///< choice for the largest step before tuning
  TuneReport report;

  [[nodiscard]] const TuneReport::Candidate& winner() const { return report.candidates.front(); }
  /// Time of the kernel planned before tuning, relative to the winner's; nullopt if it was not a candidate.
  [[nodiscard]] std::optional<double> gain() const {
    for (const auto& candidate : report.candidates) {
      if (candidate.choice == planned) return candidate.microseconds / winner().microseconds;
    }
    return std::nullopt;
  }
};

void check_usage(const TuneCommandOptions& options) {
  if (options.is_own() &&
      (options.all || options.list || !options.export_to.empty() || !options.import_from.empty())) {
    refuse("{} has no choices to keep: --save FILE writes its launch with the fastest constants",
           options.problem.word);
  }
  if (options.all && !options.problem.word.empty()) {
    refuse("--all brings operations of its own; give either it or an OPERATION");
  }
  if (!options.measures() && !options.list && options.export_to.empty() && options.import_from.empty()) {
    refuse("nothing to do: give an OPERATION to measure, --all, --list, --export FILE or --import FILE");
  }
  if (!options.types.empty() && !options.problem.dtypes.empty()) {
    refuse("--types and --dtype: --types tunes for each of several types, --dtype for one");
  }
}

/// Makes a problem; refuses one whose tile the user chose.
Problem make_tunable_problem(const ProblemOptions& options) {
  auto problem = make_problem(options, Purpose::look);
  if (problem.operation_name != tmajit::Tiles::operation) return problem;
  refuse("tune measures the kernels that a planner chooses from, but the tile of this {} is given",
         options.word);
}

/// The operations to tune: each one for each element type.
std::vector<ProblemOptions> requests(const TuneCommandOptions& options) {
  std::vector<std::string> types;
  for (const auto type : parse_types(options.types)) types.emplace_back(tmajit::name(type));
  if (types.empty() && options.all) types = {"f32", "bf16", "u8"};
  std::vector<ProblemOptions> result;
  const auto add = [&](ProblemOptions problem) {
    if (types.empty()) result.push_back(problem);
    for (const auto& type : types) {
      problem.dtypes = {type};
      result.push_back(problem);
    }
  };
  if (!options.all) add(options.problem);
  for (const auto& permutation : common_permutations) {
    if (!options.all) break;
    add({.word = "permute",
         .shape = fmt::to_string(fmt::join(permutation.shape(), "x")),
         .arguments = {{"--axes", fmt::to_string(fmt::join(permutation.axes(), ","))}}});
  }
  return result;
}

Tuned tune_one(tmajit::Runtime& runtime, const Problem& problem, const TuneCommandOptions& options,
               const std::string& position) {
  std::vector<tmajit::Buffer> buffers;
  const auto allocate = [&](const Array& array) {
    buffers.emplace_back(runtime.device(), std::max<std::uint64_t>(array.memory.bytes, 1));
    return buffers.back().address();
  };
  Addresses at;
  for (const auto& input : problem.inputs) at.inputs.push_back(allocate(input));
  for (const auto& output : problem.outputs) at.outputs.push_back(allocate(output));
  const auto plan = [&] {
    const Progress progress("planning and compiling");
    return tmajit::plan(runtime, problem.operation(at), problem.request.family_name());
  }();

  Tuned tuned{.move = describe(problem), .planned = {}, .report = {}};
  for (const auto& step : plan.plans()) {
    if (step.bytes_moved() <= tuned.bytes) continue;
    tuned.bytes = step.bytes_moved();
    tuned.planned = step.choice();
  }
  Progress progress(position);
  const auto note = [&](std::uint32_t done, std::uint32_t candidates, std::string_view choice) {
    progress.note(fmt::format("candidate {} of {}: {}", done + 1, candidates, choice));
  };
  tuned.report = tmajit::tune(
      runtime, plan, {.repeats = options.repeat, .progress = note, .store = !options.compiler.no_cache});
  return tuned;
}

std::string speed(const Tuned& tuned, double microseconds) {
  return microseconds > 0 ? fmt::format("{:.0f}", static_cast<double>(tuned.bytes) / microseconds * 1e-3)
                          : "";
}

/// Choice, predicted and measured time, and speed of a candidate.
std::vector<std::string> cells_of(const Tuned& tuned, const TuneReport::Candidate& candidate) {
  return {candidate.choice.text(), fmt::format("{:.1f}", candidate.predicted_us),
          fmt::format("{:.1f}", candidate.microseconds), speed(tuned, candidate.microseconds)};
}

/// Every candidate of one operation.
std::string candidate_table(const Tuned& tuned) {
  Rows rows{{"CHOICE", "PREDICTED µs", "MEASURED µs", "GB/s"}};
  for (const auto& candidate : tuned.report.candidates) rows.push_back(cells_of(tuned, candidate));
  return format_table(rows, columns(STDOUT_FILENO));
}

/// The winner of each of several operations.
std::string winner_table(std::span<const Tuned> all) {
  Rows rows{{"OPERATION", "CHOICE", "PREDICTED µs", "MEASURED µs", "GB/s", "GAIN"}};
  for (const auto& tuned : all) {
    if (tuned.report.candidates.empty()) continue;
    auto& row = rows.emplace_back(cells_of(tuned, tuned.winner()));
    row.insert(row.begin(), tuned.move);
    row.push_back(tuned.gain() ? fmt::format("{:.3f}", *tuned.gain()) : "");
  }
  return format_table(rows, columns(STDOUT_FILENO));
}

Json tuned_json(const Tuned& tuned) {
  Json candidates = Json::array();
  for (const auto& candidate : tuned.report.candidates) {
    candidates.push_back({{"choice", candidate.choice.text()},
                          {"predicted_us", candidate.predicted_us},
                          {"microseconds", candidate.microseconds}});
  }
  Json left_out = Json::array();
  for (const auto& [choice, why] : tuned.report.left_out) {
    left_out.push_back({{"choice", choice.text()}, {"why", why}});
  }
  return {{"move", tuned.move},
          {"bytes", tuned.bytes},
          {"planned", candidates.empty() ? std::string() : tuned.planned.text()},
          {"shape_class", tuned.report.shape_class.text()},
          {"candidates", candidates},
          {"left_out", left_out}};
}

tmajit::Runtime open_runtime(const TuneCommandOptions& options, bool json) {
  auto chosen = runtime_options(options.compiler);
  const auto gpu = find_named_gpu(options.device, "tuning measures, which the simulated device cannot");
  if (!gpu) {
    refuse("--device {}: tuning needs a GPU; legal are gpu, and gpu:0, gpu:1 …{}", options.device,
           tmajit::suggestion(options.device, std::array{"gpu", "gpu:0"}));
  }
  chosen.device = tmajit::open_gpu(gpu->ordinal);
  tmajit::Runtime runtime(std::move(chosen));
  const auto& info = runtime.device()->info();
  if (!json) say("device", "{}, {} SMs", info.name, info.sm_count);
  return runtime;
}

void tune_operations(const TuneCommandOptions& options, Json& report, bool json) {
  const auto moves = requests(options);
  static_cast<void>(make_tunable_problem(moves.front()));  // reports wrong usage before a GPU is looked for
  auto runtime = open_runtime(options, json);
  std::vector<Tuned> all;
  for (std::size_t i = 0; i < moves.size(); ++i) {
    const auto problem = make_tunable_problem(moves[i]);
    const auto position = moves.size() == 1 ? std::string("tuning")
                                            : fmt::format("tuning, operation {} of {}", i + 1, moves.size());
    all.push_back(tune_one(runtime, problem, options, position));
    const auto& tuned = all.back();
    if (json) continue;
    for (const auto& [choice, why] : tuned.report.left_out) say("left out", "{}: {}", choice.text(), why);
    if (tuned.report.candidates.empty()) {
      say("tuned", "{}: there is nothing to move", tuned.move);
    } else {
      say("tuned", "{}: {}, {} GB/s", tuned.move, tuned.winner().choice.text(),
          speed(tuned, tuned.winner().microseconds));
    }
  }
  if (json) {
    report["device"] = to_json(runtime.device()->info());
    report["tuned"] = Json::array();
    for (const auto& tuned : all) report["tuned"].push_back(tuned_json(tuned));
    return;
  }
  write_stdout(all.size() == 1 ? candidate_table(all.front()) : winner_table(all));
}

void list(const TuneCommandOptions& options, Json& report, bool json) {
  const auto choices = known_choices(options.compiler);
  const auto file = tuning_file(options.compiler).string();
  if (json) {
    report["file"] = file;
    report["choices"] = choices_json(choices);
  } else if (choices.empty()) {
    write_stdout("no choices: none comes with this library, and there is none in {}\n", file);
  } else {
    write_stdout(choice_table(choices));
  }
}

int run_tune(const TuneCommandOptions& options, bool json) {
  check_usage(options);
  Json report = Json::object();
  if (options.is_own()) {
    check_tune_own(options.of_own());
    tune_own_kernel(open_runtime(options, json), options.of_own(), report, json);
    if (json) print_json(report);
    return 0;
  }
  if (!options.import_from.empty()) {
    const auto count = import_choices(options.compiler, options.import_from);
    report["imported"] = count;
    if (!json) say("import", "{} from {}", counted(count, "choice"), tmajit::input_name(options.import_from));
  }
  if (options.measures()) tune_operations(options, report, json);
  if (!options.export_to.empty()) {
    const auto count = export_choices(options.compiler, options.export_to);
    report["exported"] = count;
    if (!json) say("export", "{} to {}", counted(count, "choice"), output_name(options.export_to));
  }
  if (options.list) list(options, report, json);
  if (json) print_json(report);
  return 0;
}

}  // namespace

void add_tune_command(CLI::App& app, Session& session) {
  auto& command = *app.add_subcommand(
      "tune",
      "Measure every kernel that can do an operation on this GPU, and store the fastest for later plans");
  auto options = std::make_shared<TuneCommandOptions>();
  OptionGroup group(command);
  OptionGroup tensors(command, tensors_group);
  add_problem_options(command, options->problem);
  auto* const word = command.get_option("OPERATION");
  word->required(false)
      ->description("A file of CUDA C++, kernel.cu, or an operation: " + word->get_description())
      ->check(offers({"FILE"}));
  tensors
      .add_list("--types", options->types, "TYPE[,TYPE…]", "Element types; the operation is tuned for each")
      ->check(offers(element_types()));
  group.add("--device", options->device, "DEVICE", "gpu: the first Hopper GPU; gpu:N: the driver's GPU N")
      ->check(offers({"gpu"}));
  group.add_number("--repeat", options->repeat, "N", "Timed runs of each candidate", 1, 100'000);
  OptionGroup choices(command, "Choices");
  choices.add_flag("--all", options->all,
                   "Tune frequent permutations, in f32, bf16 and u8 unless --types is given; takes 8 GiB of "
                   "the GPU's memory");
  choices.add_flag("--list", options->list, "Print the choices that plans on this machine use");
  choices.add("--export", options->export_to, "FILE",
              "Write this machine's choices to a file, after all other work");
  choices.add("--import", options->import_from, "FILE",
              "Add the choices of such a file, before all other work");
  add_compiler_options(command, options->compiler);
  add_own_options(command, options->own);
  add_launch_option(command, options->own);
  OptionGroup own(command, own_group);
  own.add_list("--values", options->values, "NAME=VALUE,…",
               "Values of a constant to try, such as stages=2,3,4. Repeat the option for further constants: "
               "every combination is measured");
  own.add("--save", options->save, "FILE",
          "Write the launch with the fastest constants to this file, which may be that of --launch");
  command.footer(
      "Choices are kept by chip and shape class in tuning.json of the cache folder. --list, --export and\n"
      "--import need no GPU.\n\n"
      "Examples:\n"
      "  jitc tune permute --shape 64x128x256x512 --axes 0,3,1,2 --types f32,bf16,u8\n"
      "  jitc tune copy --shape 16384x16384 --slice 100:12100,64:12064\n"
      "  jitc tune --all --export h200.json\n"
      "  jitc tune --import h200.json --list\n"
      "  jitc tune kernel.cu --launch launch.json --values rows=8,16,32 --values stages=2,3,4 --save "
      "best.json");
  add_action(command, session, [options, &command](bool json) {
    check_own_usage(command, options->problem.word);
    return run_tune(*options, json);
  });
}

}  // namespace jitc
