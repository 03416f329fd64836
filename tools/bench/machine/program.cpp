#include "program.hpp"

#include "launch/files.hpp"
#include "spec/refuse.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <exception>
#include <utility>

#include <CLI/CLI.hpp>
#include <spdlog/fmt/fmt.h>
#include <unistd.h>

namespace bench {

Samples::Samples(std::vector<double> values) : sorted_(std::move(values)) {
  std::sort(sorted_.begin(), sorted_.end());
}

double Samples::spread() const {
  const double middle = median();
  return middle > 0 ? (quantile(0.75) - quantile(0.25)) / middle : 0;
}

double Samples::quantile(double q) const {
  if (sorted_.empty()) return 0;
  const double position = q * static_cast<double>(sorted_.size() - 1);
  const auto below = static_cast<std::size_t>(std::floor(position));
  const std::size_t above = std::min(below + 1, sorted_.size() - 1);
  const double fraction = position - static_cast<double>(below);
  return sorted_[below] + fraction * (sorted_[above] - sorted_[below]);
}

Report::Report(std::string program) : program_(std::move(program)), terminal_(isatty(STDERR_FILENO) == 1) {}

Report::~Report() {
  clear_progress();
}

void Report::line(std::string_view text) {
  clear_progress();
  fmt::print("{}\n", text);
  std::fflush(stdout);
}

void Report::quantile_heads(std::string_view text) {
  line(fmt::format("{:<54}{:>10}{:>10}{:>10}{:>10}", text, "5 %", "median", "95 %", "most"));
}

void Report::quantiles(std::string_view what, nlohmann::ordered_json& written,
                       const std::vector<double>& values) {
  if (values.empty()) {
    line(fmt::format("{:<54}none", what));
    written = nullptr;
    return;
  }
  const Samples samples(values);
  line(fmt::format("{:<54}{:>10.3f}{:>10.3f}{:>10.3f}{:>10.3f}", what, samples.quantile(0.05),
                   samples.median(), samples.quantile(0.95), samples.max()));
  written = {{"p05", samples.quantile(0.05)},
             {"median", samples.median()},
             {"p95", samples.quantile(0.95)},
             {"max", samples.max()}};
}

void Report::progress(std::string_view text) {
  if (!terminal_) return;
  fmt::print(stderr, "\r\x1b[K{}", text);
  std::fflush(stderr);
  progress_shown_ = true;
}

void Report::failure(std::string_view what) {
  clear_progress();
  fmt::print(stderr, "{}: {}\n", program_, what);
  json["failures"].push_back(what);
  failed_ = true;
}

void Report::failure(std::string_view what, const tmajit::Error& error) {
  if (error.code() == tmajit::ErrorCode::out_of_memory) {
    line(fmt::format("{}: not run: {}", what, error.what()));
  } else {
    failure(fmt::format("{}: {}", what, error.what()));
  }
}

void Report::clear_progress() noexcept {
  if (!progress_shown_) return;
  std::fputs("\r\x1b[K", stderr);  // not fmt's print, which may throw: this runs in the destructor
  std::fflush(stderr);
  progress_shown_ = false;
}

void Report::write(const std::string& path) const {
  tmajit::naming("--json", [&] {
    tmajit::OutputFile file(path);
    file.write(json.dump(2) + "\n");
    file.commit();
  });
}

nlohmann::ordered_json to_json(const Samples& samples) {
  return {{"median", samples.median()},
          {"min", samples.min()},
          {"max", samples.max()},
          {"spread", samples.spread()},
          {"samples", samples.sorted()}};
}

void add_options(CLI::App& app, ProgramOptions& options, const char* quick) {
  app.add_option("--device", options.device,
                 "auto, none, gpu or gpu:N; sim tests the benchmark itself [auto]");
  app.add_option("--rounds", options.rounds, "Measurements of each contestant [15; fewer with --quick]")
      ->check(CLI::Range(1, 10000));
  app.add_flag("--quick", options.quick, quick);
  app.add_option("--seed", options.seed, "Seed of the data and of all random choices [1]");
  app.add_option("--json", options.json, "Also write all results to this file")->type_name("FILE");
}

std::optional<int> parse(CLI::App& app, int argc, char** argv, ProgramOptions& options, unsigned quick_rounds,
                         const std::function<void()>& rest) {
  try {
    app.parse(argc, argv);
    rest();
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  }
  if (options.quick && app.count("--rounds") == 0) options.rounds = quick_rounds;
  return std::nullopt;
}

int run_with_report(const char* program, const ProgramOptions& options,
                    const std::function<bool(Report&)>& measure) {
  Report report(program);
  if (!options.json.empty())
    report.write(options.json);  // fails before the measurements if the path cannot be written
  std::exception_ptr failure;
  bool succeeded = false;
  try {
    succeeded = measure(report);
  } catch (const std::exception& error) {
    report.json["failures"].push_back(error.what());
    failure = std::current_exception();
  }
  // Also keep the results from before a failure.
  if (!options.json.empty()) report.write(options.json);
  if (failure) std::rethrow_exception(failure);
  return succeeded && !report.failed() ? 0 : 1;
}

int run_program(const char* name, const std::function<int()>& run) noexcept {
  try {
    return run();
  } catch (const tmajit::Error& error) {
    std::fprintf(stderr, "%s: %s\n", name, error.what());
    const bool usage = error.code() == tmajit::ErrorCode::invalid_argument ||
                       error.code() == tmajit::ErrorCode::illegal_spec;
    return usage ? 2 : 1;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s: %s\n", name, error.what());
    return 1;
  }
}

}  // namespace bench
