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

/// Samples of one quantity, in the unit of the caller.
class Samples {
 public:
  Samples() = default;
  explicit Samples(std::vector<double> values);

  [[nodiscard]] bool empty() const { return sorted_.empty(); }
  [[nodiscard]] double median() const { return quantile(0.5); }
  [[nodiscard]] double min() const { return quantile(0); }
  [[nodiscard]] double max() const { return quantile(1); }
  /// The distance between the quartiles divided by the median.
  [[nodiscard]] double spread() const;
  /// The quantile `q`, from 0 to 1, interpolated between the two nearest samples; 0 without samples.
  [[nodiscard]] double quantile(double q) const;
  [[nodiscard]] const std::vector<double>& sorted() const { return sorted_; }

 private:
  std::vector<double> sorted_;
};

[[nodiscard]] inline double gigabytes_per_second(std::uint64_t bytes, double microseconds) {
  return static_cast<double>(bytes) / microseconds * 1e-3;
}

/// The output of a run: rows of a table on standard output, a progress line on standard error if that is a
/// terminal, and one JSON document.
class Report {
 public:
  /// `program` is the name in messages.
  explicit Report(std::string program);
  ~Report();
  Report(const Report&) = delete;
  Report& operator=(const Report&) = delete;

  /// The report that --json writes. Keys stay in the order they were added.
  nlohmann::ordered_json json;

  void line(std::string_view text);
  /// The heads of the columns of quantiles(), after `text`.
  void quantile_heads(std::string_view text);
  /// A row with the 5 %, median, 95 % and greatest of `values`, and the same in `written`: null without
  /// values.
  void quantiles(std::string_view what, nlohmann::ordered_json& written, const std::vector<double>& values);
  /// Replaces the progress line.
  void progress(std::string_view text);
  /// Reports a wrong result, or a measurement that should work but failed: the exit code becomes 1.
  void failure(std::string_view what);
  /// Reports that `what` ended with an error. This is a failure, unless there was too little memory.
  void failure(std::string_view what, const tmajit::Error& error);
  [[nodiscard]] bool failed() const { return failed_; }

  /// Replaces the file `path` atomically by `json`. Throws tmajit::Error{io}.
  void write(const std::string& path) const;

 private:
  void clear_progress() noexcept;
  std::string program_;
  bool terminal_;
  bool progress_shown_ = false;
  bool failed_ = false;
};

nlohmann::ordered_json to_json(const Samples& samples);

/// Options of both tmajit-bench and tmajit-movement.
struct ProgramOptions {
  std::string device = "auto";  ///< auto, none, gpu, gpu:N; sim to test the benchmark itself
  unsigned rounds = 15;         ///< measurements of each contestant
  bool quick = false;
  std::uint64_t seed = 1;  ///< seed of the data, and of all random choices
  std::string json;        ///< file to write; empty for none
};

/// Adds these options to a command line; `quick` is the help text of --quick.
void add_options(CLI::App& app, ProgramOptions& options, const char* quick);
/// Parses the command line, then calls `rest`, which may also throw CLI::ParseError. With --quick and without
/// --rounds, `options.rounds` becomes `quick_rounds`. Returns an exit code if the program shall end: 0 after
/// --help, 2 after a message on wrong usage.
std::optional<int> parse(
    CLI::App& app, int argc, char** argv, ProgramOptions& options, unsigned quick_rounds,
    const std::function<void()>& rest = [] {});

/// Calls `measure`, which fills a report and returns whether it succeeded. Then writes the report to the file
/// of --json, even if `measure` throws. Returns the exit code.
int run_with_report(const char* program, const ProgramOptions& options,
                    const std::function<bool(Report&)>& measure);

/// Returns the exit code of `run`. If `run` throws, prints the exception and returns 2 for wrong usage, else
/// 1.
int run_program(const char* name, const std::function<int()>& run) noexcept;

}  // namespace bench
