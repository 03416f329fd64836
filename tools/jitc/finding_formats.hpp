#pragma once

/// Findings in the formats that code hosts and CI services read: SARIF 2.1.0 (OASIS) and JUnit XML.
#include "report.hpp"

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
  std::span<const std::string> unfinished;            ///< checks that gave up
  tmajit::Severity fails = tmajit::Severity::advice;  ///< the least that is a failed test of JUnit's
};

/// A log of one run. A finding stands at its source's line if that is known, and its PTX is related.
[[nodiscard]] Json to_sarif(const FindingsReport& report);
/// A suite of tests: one for each finding, and one for each kernel without any.
[[nodiscard]] std::string to_junit(const FindingsReport& report);

}  // namespace jitc
