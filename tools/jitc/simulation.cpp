#include "simulation.hpp"

#include "source_place.hpp"
#include "terminal.hpp"
#include "text.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

#include <CLI/CLI.hpp>
#include <spdlog/fmt/fmt.h>
#include <unistd.h>

namespace jitc {
namespace {

using tmajit::Artifact;
using tmajit::Report;
using tmajit::SimOptions;

SimOptions::Mode parse_mode(const std::string& text) {
  if (text == "early") return SimOptions::Mode::early;
  return text == "random" ? SimOptions::Mode::random : SimOptions::Mode::late;
}

std::string describe_count(std::uint64_t n) {
  if (n < 10'000) return fmt::format("{}", n);
  if (n < 1'000'000) return fmt::format("{:.1f} thousand", static_cast<double>(n) * 1e-3);
  return fmt::format("{:.1f} million", static_cast<double>(n) * 1e-6);
}

std::string triple(const std::array<std::uint32_t, 3>& index) {
  return fmt::format("({}, {}, {})", index[0], index[1], index[2]);
}

/// A heading and a text of one or several lines below each other, none wider than the terminal.
void say_part(std::string_view heading, std::string_view text) {
  constexpr std::size_t margin = 11;
  constexpr std::size_t widest = 118;  // longer lines are hard to read
  const std::size_t width = std::max<std::size_t>(std::min(columns(STDERR_FILENO), widest), margin + 40);
  auto label = styled(fmt::format("  {:<9}", heading), Style::dim, STDERR_FILENO);
  while (!text.empty()) {
    const auto end = std::min(text.find('\n'), text.size());
    auto line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    const auto indent = std::min(line.find_first_not_of(' '), line.size());
    line.remove_prefix(indent);
    for (const auto& part : wrap(line, width - margin - indent)) {
      fmt::print(stderr, "{}{:{}}{}\n", label, "", indent, part);
      label = fmt::format("{:{}}", "", margin);
    }
  }
}

/// Line `number` of a text, from 1.
std::string_view line_of(std::string_view text, std::uint32_t number) {
  for (; number > 1 && !text.empty(); --number)
    text.remove_prefix(std::min(text.find('\n'), text.size() - 1) + 1);
  return text.substr(0, text.find('\n'));
}

/// Where the report's instruction comes from. Several kernels of a run can have one name: then it is the one
/// whose line reads so.
std::vector<SourcePlace> places_of(const Artifacts& artifacts, const Report& report) {
  const Artifact* found = nullptr;
  for (const auto* artifact : artifacts) {
    if (artifact->entry != report.kernel) continue;
    if (found == nullptr) found = artifact;
    if (line_of(artifact->ptx, report.ptx_line).find(report.instruction) != std::string_view::npos) {
      found = artifact;
      break;
    }
  }
  return found == nullptr ? std::vector<SourcePlace>() : source_places(*found, report.ptx_line);
}

void say_report(const Report& report, const Artifacts& artifacts) {
  const auto times = report.count > 1 ? fmt::format(", {} times", report.count) : std::string();
  say("report", styled(report.rule, Style::bad, STDERR_FILENO) + times);
  std::string where = "kernel " + report.kernel;
  if (report.ptx_line != 0) where += fmt::format(", PTX line {}: {}", report.ptx_line, report.instruction);
  say_part("where", where);
  for (const auto& place : places_of(artifacts, report)) say_part("source", describe(place));
  say_part("who", fmt::format("CTA {}, thread {}", triple(report.cta), triple(report.thread)));
  say_part("found", report.found);
  say_part("legal", report.expected);
  say_part("remedy", report.remedy);
}

Json to_json(const Report& report, const Artifacts& artifacts) {
  Json places = Json::array();
  for (const auto& place : places_of(artifacts, report)) {
    places.push_back({{"file", place.file}, {"line", place.line}, {"text", place.text}});
  }
  return {{"rule", report.rule},
          {"kernel", report.kernel},
          {"ptx_line", report.ptx_line},
          {"source", places},
          {"instruction", report.instruction},
          {"cta", report.cta},
          {"thread", report.thread},
          {"found", report.found},
          {"expected", report.expected},
          {"remedy", report.remedy},
          {"count", report.count}};
}

}  // namespace

void add_simulation_options(CLI::App& command, SimulationOptions& values) {
  command
      .add_option("--sim-mode", values.mode,
                  "When copies take place: late, as late as the PTX ISA allows, which shows most mistakes; "
                  "early, at once; random")
      ->check(CLI::IsMember({"late", "early", "random"}))
      ->type_name("MODE")
      ->group(simulation_group)
      ->capture_default_str();
  command
      .add_option("--sim-seed", values.seed,
                  "Of every order that is not fixed; the same seed does the same again")
      ->type_name("N")
      ->group(simulation_group)
      ->capture_default_str();
  command.add_option("--sim-threads", values.threads, "Host threads that run CTAs; default: one a core")
      ->check(CLI::Range(1, 1024))
      ->type_name("N")
      ->group(simulation_group);
  command
      .add_option("--sim-limit", values.limit,
                  "Warp-instructions of a CTA, after which the kernel counts as one that never ends")
      ->check(CLI::PositiveNumber)
      ->type_name("N")
      ->group(simulation_group)
      ->capture_default_str();
}

Simulation::Simulation(const SimulationOptions& options)
    : options_(options),
      device_(tmajit::make_sim_device({.mode = parse_mode(options.mode),
                                       .seed = options.seed,
                                       .threads = options.threads,
                                       .instruction_limit = options.limit,
                                       .print = [this](std::string_view text) { printed_ += text; },
                                       .progress =
                                           [this](const tmajit::SimProgress& so_far) {
                                             progress_->note(fmt::format(
                                                 "{} of {} CTAs, {} thread-instructions", so_far.ctas_done,
                                                 so_far.ctas, describe_count(so_far.thread_instructions)));
                                           }})) {}

SimulationResult Simulation::run(const std::function<void()>& launch) {
  Progress progress("simulating");
  progress_ = &progress;
  const std::shared_ptr<void> forget(nullptr, [this](void*) { progress_ = nullptr; });
  const auto before = device_->thread_instructions();
  const auto start = std::chrono::steady_clock::now();
  launch();
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  SimulationResult result{.reports = device_->reports(),
                          .printed = std::exchange(printed_, {}),
                          .thread_instructions = device_->thread_instructions() - before,
                          .host_seconds = took.count()};
  device_->clear_reports();
  return result;
}

Json to_json(const SimulationOptions& options, const SimulationResult& result, const Artifacts& artifacts) {
  Json reports = Json::array();
  for (const auto& report : result.reports) reports.push_back(to_json(report, artifacts));
  return {{"mode", options.mode},
          {"seed", options.seed},
          {"instruction_limit", options.limit},
          {"thread_instructions", result.thread_instructions},
          {"host_seconds", result.host_seconds},
          {"printed", result.printed},
          {"reports", reports}};
}

void say_simulation(const SimulationOptions& options, const SimulationResult& result,
                    const Artifacts& artifacts) {
  say("sim", fmt::format("mode {}, seed {}: {} thread-instructions in {:.3f} s on this CPU, {}", options.mode,
                         options.seed, describe_count(result.thread_instructions), result.host_seconds,
                         result.reports.empty()       ? styled("no reports", Style::good, STDERR_FILENO)
                         : result.reports.size() == 1 ? std::string("1 report")
                                                      : fmt::format("{} reports", result.reports.size())));
  if (!result.printed.empty())
    say("printed", result.printed.substr(0, result.printed.find_last_not_of('\n') + 1));
  for (const auto& report : result.reports) say_report(report, artifacts);
}

std::string verdict(const SimulationOptions& options, const SimulationResult& result) {
  return fmt::format(
      "{} of the simulated device (mode {}, seed {}); no output is written",
      result.reports.size() == 1 ? std::string("1 report") : fmt::format("{} reports", result.reports.size()),
      options.mode, options.seed);
}

}  // namespace jitc
