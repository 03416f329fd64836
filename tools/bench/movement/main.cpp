// tmajit-movement: measures the library's moves and the driver's copy in the same run on the same buffers.
#include "case_list.hpp"
#include "distribution.hpp"
#include "machine.hpp"
#include "model.hpp"
#include "regret.hpp"
#include "ship.hpp"
#include "targets.hpp"
#include "workload.hpp"

#include <tmajit/error.hpp>
#include <tmajit/kernel_plan.hpp>
#include <tmajit/version.hpp>

#include <algorithm>
#include <chrono>
#include <iterator>
#include <sstream>

#include <CLI/CLI.hpp>
#include <spdlog/fmt/fmt.h>
#include <spdlog/fmt/ranges.h>

namespace {

using bench::Case;
using bench::gigabytes_per_second;
using bench::Report;
using movement::Target;
using Clock = std::chrono::steady_clock;

constexpr const char* about =
    "Compares tmajit's moves (copy, permute, slice, pad, flip, concat, split, broadcast, cast, map,\n"
    "stencil), and kernels with a tile of the caller's choice, with cuMemcpyDtoDAsync of as many bytes,\n"
    "in the same rounds, on the same buffers, and checks every result. GB/s count bytes read plus bytes\n"
    "written, each element once. Moves of less than 128 MiB are nodes of a CUDA graph. peers.py in\n"
    "tools/bench/movement also measures other libraries.";

constexpr const char* examples =
    "Examples:\n"
    "  tmajit-movement --quick\n"
    "  tmajit-movement --only 'peers: ' --only small --json movement.json\n"
    "  tmajit-movement --only '->(3,2,1,0) u8' --rounds 31\n"
    "  tmajit-movement --targets --jit\n"
    "  tmajit-movement --casts --json casts.json\n"
    "  tmajit-movement --model --random 40 --json model.json\n"
    "  tmajit-movement --model --tuned --random 25 --seed 104 --json choices.json\n"
    "  tmajit-movement --ship h100.json --near --random 100 --seed 5 --limit 300";

/// --model --quick leaves out candidates whose predicted time is more than this many times the least.
constexpr double max_predicted = 4;
/// Improve::candidates of --tuned; docs/explain.md gives the reason.
constexpr std::uint32_t improve_candidates = 8;

/// The command line.
struct Options : bench::ProgramOptions {
  std::vector<std::string> only;  ///< parts of labels; empty for all cases
  bool list = false;
  std::size_t random = 0;                 ///< random permutations of each type instead of the list
  bool random_views = false;              ///< `random` pads, slices, flips … instead of permutations
  bool random_f64 = false;                ///< also random permutations of f64
  std::vector<std::string> permutations;  ///< instead of the list: "u8 100x1048576 1,0"
  std::string ship;                       ///< the file of choices to write
  bool near = false;                      ///< with `ship`: also near shapes
  bool reductions = false;                ///< reductions instead of the list, or random ones
  bool scans = false;                     ///< cumulative sums instead of the list, or random ones
  bool stencils = false;                  ///< stencils instead of the list, or random ones in 3D
  bool casts = false;                     ///< casts between all element types instead of the list
  bool model = false;                     ///< measures every candidate, and predicts its time
  std::string family = {};                ///< only candidates of this family; empty: all
  bool tuned = false;                     ///< also measures the final choices of tune() and improve
  bool jit = false;                       ///< also measures the cost of planning
  bool targets = false;                   ///< exit code 1 if a target is missed
  bool tiny = false;                      ///< few elements, to test the benchmark itself
  double limit_s = 0;                     ///< no case begins after this time; 0: no limit
};

/// Returns the legal values of --family.
std::vector<std::string> family_names() {
  std::vector<std::string> names;
  names.reserve(tmajit::families().size());
  for (const tmajit::FamilyInfo& family : tmajit::families()) names.emplace_back(family.name);
  return names;
}

/// Fills `options`. Returns an exit code if the program shall end.
std::optional<int> parse(int argc, char** argv, Options& options) {
  CLI::App app(about, "tmajit-movement");
  app.footer(examples);
  app.add_option("--only", options.only, "Cases whose label contains this; can be repeated")
      ->type_name("TEXT")
      ->allow_extra_args(false);
  app.add_flag("--list", options.list, "Print the labels of the cases and stop");
  add_options(app, options,
              "Fewer cases, and 7 rounds; with --model without candidates of 4 times the least predicted "
              "time");
  CLI::Option* random =
      app.add_option("--random", options.random,
                     "Instead of the list, N random permutations of each of f32, bf16 and u8, by --seed")
          ->type_name("N")
          ->check(CLI::PositiveNumber);
  app.add_flag("--random-views", options.random_views,
               "With --random: N pads, slices, flips, broadcasts, casts and maps each instead")
      ->needs(random);
  app.add_flag("--f64", options.random_f64, "With --random: permutations of f64, too")->needs(random);
  app.add_option("--permute", options.permutations,
                 "Instead of the list, this permutation; can be repeated: \"u8 100x1048576 1,0\"")
      ->type_name("'TYPE SHAPE AXES'")
      ->allow_extra_args(false);
  CLI::Option* reductions = app.add_flag(
      "--reductions", options.reductions,
      "Instead of the list, reductions; with --random N, sums of random shapes over random axes");
  CLI::Option* scans =
      app.add_flag(
             "--scans", options.scans,
             "Instead of the list, cumulative sums; with --random N, of random shapes along random axes")
          ->excludes(reductions);
  CLI::Option* stencils = app.add_flag("--stencils", options.stencils,
                                       "Instead of the list, its stencils; with --random N, stencils of "
                                       "random 3D shapes")
                              ->excludes(reductions, scans);
  CLI::Option* casts = app.add_flag("--casts", options.casts,
                                    "Instead of the list, casts of 256 MiB between any two element types")
                           ->excludes(random, reductions, scans, stencils);
  CLI::Option* model = app.add_flag(
      "--model", options.model,
      "Measure every kernel that can do a case, and predict its time; with --device none only predict. "
      "For fit.py");
  app.add_option("--family", options.family, "With --model: only candidates of this kernel family")
      ->needs(model)
      ->check(CLI::IsMember(family_names()));
  app.add_flag("--tuned", options.tuned,
               "With --model: also measure the choices of tune() and RuntimeOptions::improve together with "
               "the candidates, and the variation of a kernel's time. Uses a separate cache, without your "
               "tuned choices")
      ->needs(model);
  CLI::Option* ship =
      app.add_option(
             "--ship", options.ship,
             "Measure every kernel that can do a case, twice, and write the choices that are 3 % faster "
             "than the cost model's to FILE, for ship.py and jitc tune --import")
          ->type_name("FILE")
          ->excludes(model);
  app.add_flag("--near", options.near,
               "With --ship: also measure how far the choices of permutations carry to near shapes")
      ->needs(ship);
  app.add_flag("--jit", options.jit, "Also measure the cost of planning");
  app.add_flag("--targets", options.targets,
               "Exit with 1 if a target is missed; only peers.py has targets of random cases")
      ->excludes(random, casts, reductions, scans, stencils);
  app.add_option("--limit", options.limit_s, "Begin no case after this many seconds")
      ->type_name("SECONDS")
      ->check(CLI::PositiveNumber);
  app.add_flag("--tiny", options.tiny)->group("");
  constexpr unsigned few_rounds = 7;
  const std::optional<int> exit_code = bench::parse(app, argc, argv, options, few_rounds, [&] {
    if (options.tuned && options.device == "none") {
      throw CLI::ValidationError("--tuned", "needs a device to measure on, not --device none");
    }
  });
  if ((options.random > 0 || options.casts) && app.count("--rounds") == 0) options.rounds = few_rounds;
  return exit_code;
}

/// Parses "u8 100x1048576 1,0".
Case permutation_of(const std::string& text) {
  std::istringstream words(text);
  std::string type;
  std::string shape;
  std::string axes;
  words >> type >> shape >> axes;
  const tmajit::Dims from = tmajit::parse_extents(shape, "--permute");
  const tmajit::Dims order = tmajit::parse_numbers(axes, "--permute");
  return bench::make_case(
      "permutation", fmt::format("({})->({})", fmt::join(from, ","), fmt::join(order, ",")), "permute",
      {{tmajit::parse<tmajit::ElementType>(type), {from.begin(), from.end()}}}, {{"axes", order}});
}

std::vector<Case> chosen(const Options& options) {
  if (!options.permutations.empty()) {
    std::vector<Case> cases;
    for (const std::string& text : options.permutations) cases.push_back(permutation_of(text));
    return cases;
  }
  const std::string_view only_operation = options.reductions ? "reduce"
                                          : options.scans    ? "scan"
                                          : options.stencils ? "stencil"
                                          : options.casts    ? "cast"
                                                             : "";
  std::vector<Case> cases = bench::list_cases({.seed = options.seed,
                                               .tiny = options.tiny,
                                               .random = options.random,
                                               .random_f64 = options.random_f64,
                                               .random_views = options.random_views,
                                               .operation = only_operation});
  std::erase_if(cases, [&](const Case& bench_case) {
    const auto in_label = [label = bench_case.label()](const std::string& part) {
      return label.find(part) != std::string::npos;
    };
    const bool is_long = options.random == 0 && !bench_case.quick;
    return (options.quick && !options.model && is_long) ||
           !(options.only.empty() || std::ranges::any_of(options.only, in_label));
  });
  return cases;
}

void describe_setting(const Options& options, const tmajit::DeviceInfo& info, Report& report) {
  std::string nvrtc = bench::nvrtc_version();
  if (nvrtc.empty()) nvrtc = "none";
  report.json["rounds"] = options.rounds;
  report.json["seed"] = options.seed;
  report.json["random"] = options.random;
  report.json["views"] = options.random_views;
  report.json["reductions"] = options.reductions;
  report.json["scans"] = options.scans;
  report.json["stencils"] = options.stencils;
  report.json["casts"] = options.casts;
  report.json["device"] = bench::to_json(info);
  report.json["versions"] = {{"tmajit", TMAJIT_VERSION_STRING}, {"NVRTC", nvrtc}};
  report.json["peers"] = nlohmann::ordered_json::array();
  report.json["results"] = nlohmann::ordered_json::array();
  report.line(fmt::format("tmajit {}, NVRTC {}, {} with {} SMs, seed {}", TMAJIT_VERSION_STRING, nvrtc,
                          info.name, info.sm_count, options.seed));
}

/// The kernels of a plan's steps, equal neighbours once: "rows 1x4096, 256 threads; general".
std::string kernels_of(const nlohmann::ordered_json& plan) {
  std::vector<std::string> names;
  for (const auto& step : plan["steps"]) names.push_back(step["choice"]);
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return fmt::format("{}", fmt::join(names, "; "));
}

/// Measures the chosen cases beside the driver's copy, and reports them.
class Measurement {
 public:
  Measurement(const Options& options, const std::shared_ptr<tmajit::Device>& device, Report& report)
      : options_(options), report_(report), machine_(device) {}

  /// Measures all cases. Returns whether every target was met.
  bool run() {
    const auto start = Clock::now();
    const std::vector<Case> cases = chosen(options_);
    if (options_.jit) measure_planning();
    report_.line(
        fmt::format("\nGB/s read plus written, medians; the driver's copy moves as many bytes\n"
                    "{:<54}{:>8} {:>6} {:>8} {:>7} {:>10} {:>9}  {}",
                    "case", "tmajit", "spread", "driver", "ratio", "tmajit us", "driver us", "kernels"));
    std::size_t left_out = 0;
    for (std::size_t i = 0; i < cases.size(); ++i) {
      const Case& bench_case = cases[i];
      const std::chrono::duration<double> spent = Clock::now() - start;
      if (options_.limit_s > 0 && spent.count() > options_.limit_s) {
        left_out = cases.size() - i;
        break;
      }
      report_.progress(fmt::format("[{}/{}] {}", i + 1, cases.size(), bench_case.label()));
      nlohmann::ordered_json entry = to_json(bench_case);
      bool lost = false;
      try {
        measure_case(bench_case, entry);
      } catch (const tmajit::Error& error) {
        entry["errors"]["tmajit"] = error.what();
        report_.failure(bench_case.label(), error);
        lost = machine_.lost_by(error);
      }
      report_.json["results"].push_back(std::move(entry));
      save();
      if (lost) break;
    }
    if (left_out > 0) {
      report_.json["left_out"] = left_out;
      report_.json["why_left_out"] = fmt::format("--limit {:g} s was over", options_.limit_s);
      report_.line(fmt::format("{} cases left out: --limit {:g} s was over", left_out, options_.limit_s));
    }
    if (reports_distribution()) report_distribution();
    const bool lists_one_operation = options_.reductions || options_.scans || options_.stencils;
    return options_.random > 0 || lists_one_operation || report_targets();
  }

 private:
  /// Whether the run has many cases of one kind, for which the distribution of the ratios is reported.
  [[nodiscard]] bool reports_distribution() const { return options_.random > 0 || options_.casts; }

  void add(const Target& target) {
    targets_.push_back(target);
    report_.json["targets"].push_back(to_json(target));
  }

  /// Checks and measures a case. Throws the errors of the library.
  void measure_case(const Case& bench_case, nlohmann::ordered_json& entry) {
    const bench::Traffic moved = traffic(bench_case);
    const bench::ContestPlan timing =
        machine_.contest.plan(moved.sector_bytes, options_.rounds, bench::Memory::one_set);
    const bench::Workload workload(machine_, bench_case, timing.sets, options_.seed);
    const std::vector<bench::PreparedCase> prepared = workload.prepare(bench_case);
    entry["notes"]["tmajit"] = prepared.front().describe();
    workload.require_right(bench_case, prepared.front());
    const auto [our_times, driver_times] = workload.time_with_driver(prepared, timing);
    entry["graph"] = timing.graph;
    entry["launches"] = timing.launches;
    entry["microseconds"] = {{"tmajit", bench::to_json(our_times)}, {"driver", bench::to_json(driver_times)}};

    const double ours = our_times.median();
    const double driver = driver_times.median();
    report_.line(fmt::format("{:<54}{:>8.0f} {:>5.1f}% {:>8.0f} {:>7.3f} {:>10.2f} {:>9.2f}  {}",
                             bench_case.label(), gigabytes_per_second(moved.bytes(), ours),
                             100 * our_times.spread(), gigabytes_per_second(moved.sector_bytes, driver),
                             driver / ours, ours, driver, kernels_of(entry["notes"]["tmajit"])));
    if (moved.sector_bytes != moved.bytes()) {
      report_.line(fmt::format("{:<54}{:>8.0f}", "  counted in 32-byte sectors",
                               gigabytes_per_second(moved.sector_bytes, ours)));
    }
    if (const std::optional<Target> target = movement::target_of(bench_case, ours, driver)) add(*target);
    if (reports_distribution())
      distribution_.add(bench_case, driver / ours, kernels_of(entry["notes"]["tmajit"]));
  }

  void measure_planning() {
    report_.progress("planning");
    const nlohmann::ordered_json jit = movement::measure_jit(machine_.device, std::min(options_.rounds, 7U));
    report_.json["jit"] = jit;
    report_.line(
        fmt::format("\nPlanning; the first plan of the process took {:.1f} ms\n{:<54}{:>9} {:>9} {:>12}",
                    jit["first_ms"].get<double>(), "", "cold, ms", "hot, us", "choosing, us"));
    for (const auto& plan : jit["plans"]) {
      report_.line(fmt::format("{:<54}{:>9.1f} {:>9.2f} {:>12.2f}", plan["label"].get<std::string>(),
                               plan["cold_ms"].get<double>(), plan["hot_us"].get<double>(),
                               plan["choosing_us"].get<double>()));
    }
    for (const Target& target : movement::targets_of_jit(jit)) add(target);
  }

  void report_distribution() {
    report_.line("");
    for (const std::string& line : distribution_.lines()) report_.line(line);
    report_.json["distribution"] = {{"driver", distribution_.json()}, {"worst", distribution_.worst()}};
    save();
  }

  bool report_targets() {
    std::size_t missed = 0;
    for (const Target& target : targets_) missed += target.met() ? 0 : 1;
    report_.line(fmt::format("\n{} of {} targets met", targets_.size() - missed, targets_.size()));
    for (const Target& target : targets_) {
      if (target.met()) continue;
      report_.line(fmt::format("  missed: {}: {:.3f}, should be {} {:g}", target.what, target.got,
                               target.at_least ? "at least" : "at most", target.need));
    }
    return missed == 0;
  }

  void save() const {
    if (!options_.json.empty()) report_.write(options_.json);
  }

  const Options& options_;
  Report& report_;
  bench::Machine machine_;
  std::vector<Target> targets_;
  movement::Distribution distribution_;
};

/// --model: measures or predicts every candidate of every case.
void measure_candidates(const Options& options, const std::shared_ptr<tmajit::Device>& device,
                        Report& report) {
  std::optional<bench::Machine> machine;
  if (device && !options.tuned) machine.emplace(device);
  // A separate cache hides choices that were tuned earlier: with them plans would not be the cost model's
  // choices, and improve would skip their shape classes.
  if (device && options.tuned) machine.emplace(device, tmajit::DiskCache::default_directory() / "choices");
  tmajit::Improve improve{.candidates = improve_candidates};
  if (options.tiny) improve.min_predicted_us = 0;
  movement::measure_model(machine ? &*machine : nullptr, chosen(options),
                          {.rounds = options.rounds,
                           .seed = options.seed,
                           .limit_s = options.limit_s,
                           .max_predicted = options.quick ? max_predicted : 0,
                           .family = options.family,
                           .tuned = options.tuned,
                           .improve = improve},
                          report, [&] {
                            if (!options.json.empty()) report.write(options.json);
                          });
  movement::report_model(report);
}

bool measure(const Options& options, Report& report) {
  std::string why;
  const std::shared_ptr<tmajit::Device> device = bench::open_device(options.device, &why);
  if (!device && options.model && options.device == "none") {
    measure_candidates(options, nullptr, report);
    return true;
  }
  if (!device) {
    report.line(fmt::format("Not run: {}", why));
    report.json["not_run"] = why;
    return true;
  }
  describe_setting(options, device->info(), report);
  if (options.model) {
    measure_candidates(options, device, report);
    return true;
  }
  if (!options.ship.empty()) {
    bench::Machine machine(device);
    movement::ship_choices(
        machine, chosen(options),
        {.file = options.ship, .seed = options.seed, .limit_s = options.limit_s, .near = options.near},
        report);
    if (!options.json.empty()) report.write(options.json);
    return true;
  }
  return Measurement(options, device, report).run() || !options.targets;
}

}  // namespace

int main(int argc, char** argv) {
  return bench::run_program("tmajit-movement", [&] {
    Options options;
    if (const std::optional<int> exit_code = parse(argc, argv, options)) return *exit_code;
    if (!options.list) {
      return bench::run_with_report("tmajit-movement", options,
                                    [&](Report& report) { return measure(options, report); });
    }
    for (const Case& bench_case : chosen(options)) fmt::print("{}\n", bench_case.label());
    return 0;
  });
}
