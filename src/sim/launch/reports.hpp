#pragma once

#include <tmajit/sim.hpp>

#include <algorithm>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

TMAJIT_BEGIN
namespace sim {

/// Collects the reports of all CTAs. Merges reports of one mistake into one with a count. Thread-safe.
class Reports {
 public:
  /// Limit of different reports. Further ones are counted with the last.
  static constexpr std::size_t max_entries = 100;
  /// Limit of violations in a launch that continues after them (SimOptions::keep_going).
  static constexpr std::uint64_t max_violations = 10'000;
  /// Properties by which reports are merged. Reports of one rule are merged if they have the same PTX line,
  /// statement or name.
  struct Cause {
    std::uint32_t other_line = 0;  ///< PTX line of a second instruction; 0: there is none
    std::uint32_t statement = 0;   ///< CodeLocation::statement; 0: unknown
    std::string name{};  ///< empty: unknown; if it begins with '*', it also merges reports of different rules
    // See About (cta.hpp).
    std::string symptom{};
    std::uint32_t symptom_line = 0;
    std::optional<Report> replacement{};
    bool leads = false;
  };
  void add(Report report, Cause cause);
  void add(Report report) { add(std::move(report), Cause{}); }
  /// Adds to the last report of that rule that the launch could not continue after it, though the rule is
  /// allowed.
  void explain_stop(std::string_view rule);
  /// Removes the reports of allowed rules. If a launch that `stopped` would be left without a report, keeps
  /// one that explains the stop.
  void drop_allowed(const std::vector<std::string>& allowed, bool stopped);
  /// If a report of this rule and line exists, counts one more of it and returns true.
  [[nodiscard]] bool count_repeat(std::string_view rule, std::uint32_t ptx_line);
  /// Returns the reports in the order in which they were added, with one exception. If one instruction
  /// accesses bytes of a load in flight by another, a race of these two instructions comes after the report
  /// of that access.
  [[nodiscard]] std::vector<Report> take();

 private:
  struct Entry {
    Report report;
    std::uint32_t other_line;
    Cause cause;
    /// Rules and PTX lines of the merged reports.
    std::vector<std::pair<std::string, std::uint32_t>> shown;
    [[nodiscard]] bool shows(std::string_view rule, std::uint32_t line) const {
      return std::ranges::any_of(shown,
                                 [&](const auto& each) { return each.second == line && each.first == rule; });
    }
    bool explains_stop = false;  ///< the launch ended here, though the rule is allowed
    [[nodiscard]] bool is_race() const { return report.rule.starts_with("race."); }
    [[nodiscard]] bool is_in_flight() const { return report.rule.find(".in-flight-") != std::string::npos; }
    [[nodiscard]] bool has_same_lines_as(const Entry& other) const {
      return other_line != 0 &&
             std::minmax(report.ptx_line, other_line) == std::minmax(other.report.ptx_line, other.other_line);
    }
  };
  bool count(std::string_view rule, std::uint32_t ptx_line);
  void merge_related();
  /// The entry's report, with the PTX lines of the reports that were merged into it.
  [[nodiscard]] static Report finished(Entry entry);

  std::mutex mutex_;
  std::vector<Entry> entries_;
};

}  // namespace sim
TMAJIT_END
