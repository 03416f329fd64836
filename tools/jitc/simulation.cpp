#include "simulation.hpp"

#include "finding_formats.hpp"
#include "option_group.hpp"
#include "run.hpp"
#include "terminal.hpp"
#include "text.hpp"

#include <tmajit/lint.hpp>
#include <tmajit/report/findings.hpp>

#include <algorithm>
#include <chrono>
#include <limits>
#include <utility>

#include <CLI/CLI.hpp>
#include <spdlog/fmt/fmt.h>
#include <unistd.h>

namespace jitc {
namespace {

using tmajit::Report;
using tmajit::SimOptions;

std::string describe_count(std::uint64_t n) {
  if (n < 10'000) return fmt::format("{}", n);
  if (n < 1'000'000) return fmt::format("{:.1f} thousand", static_cast<double>(n) * 1e-3);
  return fmt::format("{:.1f} million", static_cast<double>(n) * 1e-6);
}

/// The result of Simulation::run().
struct Result {
  std::vector<Report> reports;
  std::string printed;  ///< output of printf
  std::uint64_t thread_instructions = 0;
  double host_seconds = 0;
};

/// The options, counts and reports of a run, as JSON.
Json simulation_json(const SimulationOptions& options, const Result& result, const Artifacts& artifacts) {
  Json reports = Json::array();
  for (const auto& report : result.reports) reports.push_back(Json::parse(report_json(report, artifacts)));
  return {{"mode", options.mode},
          {"seed", options.seed},
          {"instruction_limit", options.limit},
          {"thread_instructions", result.thread_instructions},
          {"host_seconds", result.host_seconds},
          {"printed", result.printed},
          {"reports", reports}};
}

/// Prints options, counts and reports as text, each report in full.
void say_result(const SimulationOptions& options, const Result& result, const Artifacts& artifacts) {
  say("sim", "mode {}, seed {}: {} thread-instructions in {:.3f} s on this CPU, {}", options.mode,
      options.seed, describe_count(result.thread_instructions), result.host_seconds,
      result.reports.empty() ? styled("no reports", Style::good, STDERR_FILENO)
                             : counted(result.reports.size(), "report"));
  if (!result.printed.empty())
    say("printed", result.printed.substr(0, result.printed.find_last_not_of('\n') + 1));
  const auto width = std::min(columns(STDERR_FILENO), widest_page);
  for (const auto& report : result.reports) {
    say("report", styled(report.rule, Style::bad, STDERR_FILENO) +
                      (report.count > 1 ? fmt::format(", {} times", report.count) : ""));
    write_stderr(report_text(report, artifacts, width, takes_colour(STDERR_FILENO)));
  }
}

std::vector<std::string> allowed_rules(const SimulationOptions& options) {
  std::vector<std::string> rules;
  for (const std::string& text : options.allow) {
    for (const auto& rule : split(text, ',')) {
      for (const auto& each : tmajit::parse_allowed_rules(rule, "--allow " + text))
        rules.push_back(each.rule);
    }
  }
  return rules;
}

Simulation::Found found_in(const Result& result, const Artifacts& artifacts) {
  Simulation::Found found;
  for (const Report& report : result.reports) {
    found.findings.push_back(finding_of(report));
    found.locations.push_back(source_locations(artifacts, report));
  }
  for (const auto* artifact : artifacts) found.kernels.push_back(artifact->entry);
  return found;
}

}  // namespace

void add_simulation_options(CLI::App& command, SimulationOptions& values) {
  OptionGroup group(command, simulation_group);
  group
      .add("--sim-mode", values.mode, "MODE",
           "When copies take place: late, as late as the PTX ISA allows, which shows most mistakes; "
           "early, at once; random")
      ->check(one_of({"late", "early", "random"}));
  group.add("--sim-seed", values.seed, "N",
            "Seed of every order that is not fixed; the same seed gives the same run");
  group.add_number("--sim-threads", values.threads, "N", "Host threads that run CTAs; default: one a core", 1,
                   1024);
  group.add_number("--sim-limit", values.limit, "N",
                   "End a kernel, as an infinite loop, after N warp-instructions of one CTA", 1,
                   std::numeric_limits<std::uint64_t>::max());
  group.add_number("--sim-heap", values.heap_mib, "MIB",
                   "Size of the heap for malloc in kernels, like cudaLimitMallocHeapSize on a GPU", 1,
                   std::uint64_t{1} << 18);
  group
      .add("--timeout", values.timeout, "SECONDS",
           "End a launch after this wall-clock time; the report says where each warp stands")
      ->check(CLI::PositiveNumber);
  group
      .add_list("--allow", values.allow, "RULE[,RULE…]",
                "Rules that are not reported, separated by commas: mbarrier.init-not-fenced")
      ->check(offers(rule_ids()));
  add_project_option(group, values.project);
  group.add_flag(
      "--keep-going", values.keep_going,
      "Continue after a report if that is possible, and write the outputs, to see whether the numbers are "
      "right; the instruction that broke a rule has no effect. A launch ends after 10,000 reports "
      "(rule report-limit)");
  group.add_flag(
      "--write-anyway", values.write_anyway,
      "Write the outputs even if there are reports; by default a faulty kernel's outputs are not written");
}

Simulation::Simulation(const SimulationOptions& options)
    : options_(options),
      device_(tmajit::make_sim_device({.mode = tmajit::parse<SimOptions::Mode>(options.mode),
                                       .seed = options.seed,
                                       .threads = options.threads,
                                       .instruction_limit = options.limit,
                                       .seconds_limit = options.timeout,
                                       .heap_bytes = options.heap_mib << 20,
                                       .project = options.project,
                                       .allowed = allowed_rules(options),
                                       .keep_going = options.keep_going,
                                       .print = [this](std::string_view text) { printed_ += text; },
                                       .progress =
                                           [this](const tmajit::SimProgress& so_far) {
                                             if (progress_ == nullptr) return;
                                             progress_->note(fmt::format(
                                                 "{} of {} CTAs, {} thread-instructions", so_far.ctas_done,
                                                 so_far.ctas, describe_count(so_far.thread_instructions)));
                                           }})) {}

bool Simulation::run(const Artifacts& artifacts, const std::function<void()>& launch, Json& report,
                     bool json) {
  Result result;
  {
    Progress progress("simulating");
    progress_ = &progress;
    const std::shared_ptr<void> reset_progress(nullptr, [this](void*) { progress_ = nullptr; });
    const auto before = device_->thread_instructions();
    const auto start = std::chrono::steady_clock::now();
    launch();
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
    result = {.reports = device_->reports(),
              .printed = std::exchange(printed_, {}),
              .thread_instructions = device_->thread_instructions() - before,
              .host_seconds = took.count()};
    device_->clear_reports();
  }
  found_ = found_in(result, artifacts);
  report["run"]["simulation"] = simulation_json(options_, result, artifacts);
  if (!json) say_result(options_, result, artifacts);
  if (result.reports.empty()) return true;
  report_failure(
      tmajit::ErrorCode::device_failed,
      fmt::format("{} of the simulated device (mode {}, seed {}); {}",
                  counted(result.reports.size(), "report"), options_.mode, options_.seed,
                  writes_outputs(false) ? "the outputs are written nevertheless" : "no output is written"),
      report);
  return false;
}

}  // namespace jitc
