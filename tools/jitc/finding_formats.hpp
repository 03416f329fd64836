#pragma once

/// Findings in the formats that code hosts and CI services read: SARIF 2.1.0 (OASIS) and JUnit XML.
#include "option_group.hpp"
#include "report.hpp"
#include "source_place.hpp"

#include <tmajit/finding.hpp>

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace jitc {

/// What was looked at, and what was found.
struct FindingsReport {
  std::string_view tool;                 ///< "jitc lint"
  std::string_view input;                ///< file or name of the PTX
  std::string_view source;               ///< file of its source, if the program knows; else empty
  std::span<const std::string> kernels;  ///< that were looked at
  std::span<const tmajit::Finding> findings;
  /// Of each finding where it comes from, the innermost function first; or empty.
  std::span<const std::vector<SourcePlace>> places = {};
  std::span<const tmajit::Finding> notes = {};        ///< what was not understood
  std::span<const std::string> unfinished = {};       ///< checks that gave up
  tmajit::Severity fails = tmajit::Severity::advice;  ///< the least that is a failed test of JUnit's
};

/// Adds --format, whose words are text, json, sarif and junit.
void add_format_option(OptionGroup& group, std::string& format);
/// Whether --json or --format asks for JSON. Throws Error{invalid_argument} where they contradict each other.
[[nodiscard]] bool asks_for_json(bool json, std::string_view format);
/// Whether the format is one of those below.
[[nodiscard]] bool is_for_services(std::string_view format);
/// Prints the report to standard output, as "sarif" or "junit".
void print_findings(const FindingsReport& report, std::string_view format);

/// A log of one run. A finding stands at its source's line if that is known, and its PTX is related.
[[nodiscard]] Json to_sarif(const FindingsReport& report);
/// A suite of tests: one for each finding, and one for each kernel without any.
[[nodiscard]] std::string to_junit(const FindingsReport& report);

}  // namespace jitc
