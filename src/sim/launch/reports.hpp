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

/// Collects reports of all CTAs, one of each rule and place. Thread-safe.
class Reports {
 public:
  /// At most this many differ; the rest is counted with the last.
  static constexpr std::size_t most = 100;
  /// Reports of a launch that goes on after them (SimOptions::keep_going), however many of them are one.
  static constexpr std::uint64_t most_kept_going = 10'000;
  /// Reports are one if they share a rule and an instruction, or a rule and one of these.
  struct Cause {
    std::uint32_t other_line = 0;  ///< of a second instruction that the report is about; 0: there is none
    std::uint32_t statement = 0;   ///< Place::statement; 0: unknown
    std::string name{};            ///< of one rule, and with '*' in front of all; empty: unknown
    // See About.
    std::string symptom{};
    std::uint32_t symptom_line = 0;
    std::optional<Report> swapped{};
    bool leads = false;
  };
  void add(Report report, Cause cause);
  void add(Report report) { add(std::move(report), Cause{}); }
  /// The launch could not go on after the last report of that rule, though the rule is allowed: says so in
  /// it.
  void keep_allowed(std::string_view rule);
  /// Removes the reports of allowed rules. A launch that `stopped` keeps a report that says why.
  void drop_allowed(const std::vector<std::string>& allowed, bool stopped);
  /// Counts one more of a rule and line if it is known already.
  [[nodiscard]] bool again(std::string_view rule, std::uint32_t ptx_line);
  /// In the order in which they came; but a race of two instructions stands behind a report that one of them
  /// meets a load of the other in flight, which says more.
  [[nodiscard]] std::vector<Report> take();

 private:
  struct Entry {
    Report report;
    std::uint32_t other_line;
    Cause cause;
    /// Rules and lines that count as this one.
    std::vector<std::pair<std::string, std::uint32_t>> shown;
    [[nodiscard]] bool is(std::string_view rule, std::uint32_t line) const {
      return std::ranges::any_of(shown,
                                 [&](const auto& each) { return each.second == line && each.first == rule; });
    }
    bool says_why = false;  ///< the launch has ended, though the rule is allowed
    [[nodiscard]] bool is_race() const { return report.rule.starts_with("race."); }
    [[nodiscard]] bool is_in_flight() const { return report.rule.find(".in-flight-") != std::string::npos; }
    [[nodiscard]] bool of_the_two_of(const Entry& other) const {
      return other_line != 0 &&
             std::minmax(report.ptx_line, other_line) == std::minmax(other.report.ptx_line, other.other_line);
    }
  };
  bool count(std::string_view rule, std::uint32_t ptx_line);
  void lead_with_barriers();
  [[nodiscard]] static Report finished(Entry entry);

  std::mutex mutex_;
  std::vector<Entry> entries_;
};

}  // namespace sim
TMAJIT_END
