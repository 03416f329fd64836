#pragma once

/// Findings as JSON, and in the formats that code hosts and CI services read: SARIF 2.1.0 (OASIS) and JUnit
/// XML.
#include <tmajit/finding.hpp>
#include <tmajit/report/source_location.hpp>
#include <tmajit/sim.hpp>

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

TMAJIT_BEGIN

/// The kernels that a tool checked, and its findings. It refers to texts and lists of the caller.
struct FindingsReport {
  std::string_view tool;                 ///< name of the tool: "jitc lint"
  std::string_view input;                ///< file or name of the PTX
  std::string_view source;               ///< file of the PTX's source, or empty
  std::span<const std::string> kernels;  ///< kernels that were checked
  std::span<const Finding> findings;
  /// For each finding its source locations, the innermost function first; or empty.
  std::span<const std::vector<SourceLocation>> locations = {};
  /// For each finding the report of the simulated device from which finding_of() made it; or empty.
  std::span<const Report> reports = {};
  std::span<const Finding> notes = {};           ///< instructions that were not understood
  std::span<const std::string> unfinished = {};  ///< checks that stopped at a limit (LintResult::unfinished)
  Severity fails = Severity::advice;             ///< the least severity that is a failed test in JUnit XML
};

/// A finding as one JSON object on one line: its fields, its rule's meaning and where the rule is written.
/// Text that is no UTF-8 is replaced.
[[nodiscard]] TMAJIT_API std::string finding_json(const Finding& finding);
/// A source location as one JSON object on one line.
[[nodiscard]] TMAJIT_API std::string location_json(const SourceLocation& location);
/// A report of the simulated device as JSON: its finding, source, CTA, thread and count.
[[nodiscard]] TMAJIT_API std::string report_json(const Report& report,
                                                 const std::vector<const Artifact*>& artifacts);
/// The same for people, with a heading on the left for each part: the location, the thread, the finding, the
/// legal behaviour and the fix. At most `width` columns wide; with ANSI colours if `colour`.
[[nodiscard]] TMAJIT_API std::string report_text(const Report& report,
                                                 const std::vector<const Artifact*>& artifacts,
                                                 std::size_t width, bool colour);
/// A report of the simulated device as lint's findings are: `found` also names the CTA, the thread and the
/// count, "… [CTA (0, 0, 0), thread (31, 0, 0), 4 times]".
[[nodiscard]] TMAJIT_API Finding finding_of(const Report& report);
/// All of the report as one JSON object on one line: input, clean (there are no findings), kernels, findings
/// with their source locations, notes, unfinished. Findings of the simulated device also have their CTA,
/// thread and count.
[[nodiscard]] TMAJIT_API std::string findings_json(const FindingsReport& report);
/// A SARIF log of one run. A finding's location is its source line if that is known, with its PTX line as a
/// related location.
[[nodiscard]] TMAJIT_API std::string findings_sarif(const FindingsReport& report);
/// A JUnit suite: one test for each finding, and one for each kernel without findings.
[[nodiscard]] TMAJIT_API std::string findings_junit(const FindingsReport& report);

TMAJIT_END
