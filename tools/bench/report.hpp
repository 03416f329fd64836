#pragma once

#include "samples.hpp"

#include <tmajit/kernel_spec.hpp>

#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

namespace bench {

/// Where results go: rows of a table on standard output as they come, a progress line on standard error
/// where that is a terminal, and one JSON document.
class Report {
 public:
  /// `program` is named in messages.
  explicit Report(std::string program);
  ~Report();
  Report(const Report&) = delete;
  Report& operator=(const Report&) = delete;

  /// What --json writes. Keys stay in the order they were added.
  nlohmann::ordered_json json;

  void line(std::string_view text);
  /// Replaces the progress line.
  void progress(std::string_view text);
  /// A result is wrong or could not be had although it should: the run ends with exit code 1.
  void failure(std::string_view what);
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

/// Throws tmajit::Error{io} if a file could not be put at `path`: better known before a run than after it.
void require_writable(const std::string& path);

nlohmann::ordered_json to_json(const Samples& samples);
/// Every field that makes a kernel what it is.
nlohmann::ordered_json to_json(const tmajit::KernelSpec& spec);
/// "tile 64×64, 4 stages, 2 out, 8 warps, 2 CTAs/SM".
std::string describe(const tmajit::KernelSpec& spec);

}  // namespace bench
