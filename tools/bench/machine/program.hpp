#pragma once

#include <tmajit/error.hpp>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

namespace CLI {
class App;
}

namespace bench {

/// Measurements of one thing, in whatever unit they were taken.
class Samples {
 public:
  Samples() = default;
  explicit Samples(std::vector<double> values);

  [[nodiscard]] bool empty() const { return sorted_.empty(); }
  [[nodiscard]] double median() const { return quantile(0.5); }
  [[nodiscard]] double min() const { return quantile(0); }
  [[nodiscard]] double max() const { return quantile(1); }
  /// The distance between the quartiles over the median: what half of the measurements stay within.
  [[nodiscard]] double spread() const;
  /// Linear between the two nearest measurements, 0 of none; `q` from 0 to 1.
  [[nodiscard]] double quantile(double q) const;
  [[nodiscard]] const std::vector<double>& sorted() const { return sorted_; }

 private:
  std::vector<double> sorted_;
};

[[nodiscard]] inline double gigabytes_per_second(std::uint64_t bytes, double microseconds) {
  return static_cast<double>(bytes) / microseconds * 1e-3;
}

/// Where results go: rows of a table on standard output as they come, a progress line on standard error
/// where that is a terminal, and one JSON document.
class Report {
 public:
  /// `program` is named in messages.
  explicit Report(std::string program);
  ~Report();
  Report(const Report&) = delete;
  Report& operator=(const Report&) = delete;

  /// The report that --json writes. Keys stay in the order they were added.
  nlohmann::ordered_json json;

  void line(std::string_view text);
  /// Replaces the progress line.
  void progress(std::string_view text);
  /// A result is wrong or could not be had although it should: the run ends with exit code 1.
  void failure(std::string_view what);
  /// `what` ended with an error: a failure, unless there was not enough memory for it.
  void failure(std::string_view what, const tmajit::Error& error);
  [[nodiscard]] bool failed() const { return failed_; }

  /// Writes `json` to `path`, whole or not at all. Throws tmajit::Error{io}.
  void write(const std::string& path) const;

 private:
  void clear_progress() noexcept;
  std::string program_;
  bool terminal_;
  bool progress_shown_ = false;
  bool failed_ = false;
};

nlohmann::ordered_json to_json(const Samples& samples);

/// Options of both programs.
struct ProgramOptions {
  std::string device = "auto";  ///< auto, none, gpu, gpu:N; sim to test the benchmark itself
  unsigned rounds = 15;         ///< measurements of each contestant
  bool quick = false;
  std::uint64_t seed = 1;  ///< seed of the data, and of all random choices
  std::string json;        ///< file to write; empty for none
};

/// Adds those to a command line; `quick` says what --quick leaves out.
void add_options(CLI::App& app, ProgramOptions& options, const char* quick);
/// Parses the command line, then calls `rest`, which may throw CLI::ParseError, too. --quick takes
/// `quick_rounds` unless told otherwise. An exit code where there is nothing to run: 0 after --help, 2 after
/// a message on wrong usage.
std::optional<int> parse(
    CLI::App& app, int argc, char** argv, ProgramOptions& options, unsigned quick_rounds,
    const std::function<void()>& rest = [] {});

/// Calls `measure`, which fills a report and returns whether all is well, and writes the report where --json
/// asks for it, also of a run that ends early. Returns the exit code.
int run_with_report(const char* program, const ProgramOptions& options,
                    const std::function<bool(Report&)>& measure);

/// The exit code of `run`; of an exception, which is printed, 2 for wrong usage and 1 for everything else.
int run_program(const char* name, const std::function<int()>& run) noexcept;

}  // namespace bench
