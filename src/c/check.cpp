#include "c/launches.hpp"
#include "c/tensor.hpp"
#include "spec/enum_names.hpp"

#include <tmajit/lint.hpp>
#include <tmajit/report/findings.hpp>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

struct tmajit_findings {
  /// Reports of the simulated device, or findings of lint with a count of 1.
  std::vector<tmajit::Report> reports;
  std::vector<std::string> texts;  ///< text() of each report; empty for findings of lint
  std::string text;
  bool simulated = false;       ///< reports of the simulated device; the next members are empty then
  tmajit::Artifact artifact{};  ///< the PTX that lint checked
  tmajit::LintResult lint{};    ///< kernels, notes and unfinished checks
  std::string name = "simulated device";  ///< the PTX's name
};

TMAJIT_BEGIN
namespace c {
namespace {

LintOptions to_lint_options(const tmajit_lint_options& c_options) {
  LintOptions options{.entry = std::string(text(c_options.entry)),
                      .project = std::string(text(c_options.project)),
                      .read_source = read_source_file};
  if (c_options.name != nullptr) options.name = c_options.name;
  for (const std::string& rule : texts(c_options.allowed, c_options.allowed_count, "options: allowed"))
    options.allowed.push_back({.rule = rule});
  for (const tmajit_lint_map& one : array(c_options.maps, c_options.map_count, "options: maps")) {
    const TensorView view = to_tensor(one.tensor, "options: a map's tensor").view;
    options.maps.push_back(map_facts(&require_non_null(one.parameter, "options: a map's parameter"),
                                     to_map_spec(one.map, view, "options: a map")));
  }
  return options;
}

tmajit_finding described(const Report& report, const char* paragraph) {
  const Rule* const rule = find_rule(report.rule);
  tmajit_finding finding{};
  finding.rule = report.rule.c_str();
  finding.message = report.found.c_str();
  finding.file = (report.source_path.empty() ? report.source_file : report.source_path).c_str();
  finding.line = report.source_line;
  finding.severity = static_cast<std::int32_t>(report.severity);
  finding.ptx_line = report.ptx_line;
  finding.ptx_column = report.ptx_column;
  finding.kernel = report.kernel.c_str();
  finding.instruction = report.instruction.c_str();
  finding.expected = report.expected.c_str();
  finding.remedy = report.remedy.c_str();
  // The rules' texts are string literals, so a NUL follows them.
  finding.meaning = rule == nullptr ? "" : rule->meaning.data();
  finding.source = rule == nullptr ? "" : rule->source.data();
  finding.text = paragraph;
  finding.count = report.count;
  std::ranges::copy(report.cta, finding.cta);
  std::ranges::copy(report.thread, finding.thread);
  return finding;
}

static_assert(static_cast<int>(Severity::advice) == TMAJIT_ADVICE &&
              static_cast<int>(Severity::omission) == TMAJIT_OMISSION &&
              static_cast<int>(Severity::mistake) == TMAJIT_MISTAKE);

enum class FindingsFormat : std::uint8_t { text, json, sarif, junit };
constexpr EnumNames<FindingsFormat, 4> findings_formats{"format of findings",
                                                        {"text", "json", "sarif", "junit"}};

Severity to_severity(std::int32_t severity, std::string_view subject) {
  if (severity < TMAJIT_ADVICE || severity > TMAJIT_MISTAKE) {
    refuse("{} is {}; legal are TMAJIT_ADVICE, TMAJIT_OMISSION and TMAJIT_MISTAKE", subject, severity);
  }
  return static_cast<Severity>(severity);
}

/// Findings and their source locations, in the form that writers of formats take.
class FindingsPage {
 public:
  FindingsPage(const tmajit_findings& findings, const tmajit_findings_options& options)
      : findings_(findings), options_(options), fails_(to_severity(options.fails, "options: fails")) {
    require_zero("options", options.reserved);
    for (const tmajit_kernel* const kernel : array(options.kernels, options.kernel_count, "options: kernels"))
      artifacts_.push_back(artifact_of(require_non_null(kernel, "options: a kernel")));
    std::vector<const Artifact*> artifacts;
    for (const Artifact& artifact : artifacts_) {
      artifacts.push_back(&artifact);
      add_kernel(artifact.entry);
    }
    for (const std::string& kernel : findings.lint.kernels) add_kernel(kernel);
    for (const Report& report : findings.reports) {
      all_.push_back(findings.simulated ? finding_of(report) : static_cast<const Finding&>(report));
      locations_.push_back(source_locations(artifacts, report));
      if (!findings.simulated && locations_.back().empty()) {
        locations_.back() = source_locations(findings.artifact, report.ptx_line);
        mark_own(locations_.back(), report);
      }
    }
  }

  [[nodiscard]] std::string formatted(FindingsFormat format) const {
    FindingsReport report{.tool = options_.tool == nullptr ? "tmajit" : text(options_.tool),
                          .input = options_.input == nullptr ? findings_.name : text(options_.input),
                          .source = text(options_.source),
                          .kernels = kernels_,
                          .findings = all_,
                          .locations = locations_,
                          .notes = findings_.lint.notes,
                          .unfinished = findings_.lint.unfinished,
                          .fails = fails_};
    if (findings_.simulated) report.reports = findings_.reports;
    switch (format) {
      case FindingsFormat::text: break;
      case FindingsFormat::json: return findings_json(report);
      case FindingsFormat::sarif: return findings_sarif(report);
      case FindingsFormat::junit: return findings_junit(report);
    }
    return findings_.text;
  }

 private:
  void add_kernel(const std::string& name) {
    if (std::ranges::find(kernels_, name) == kernels_.end()) kernels_.push_back(name);
  }

  const tmajit_findings& findings_;
  const tmajit_findings_options& options_;
  Severity fails_;
  std::vector<Artifact> artifacts_;  ///< of the kernels that the caller names
  std::vector<std::string> kernels_;
  std::vector<Finding> all_;
  std::vector<std::vector<SourceLocation>> locations_;  ///< of each finding
};

}  // namespace
}  // namespace c
TMAJIT_END

using namespace tmajit;

void tmajit_findings_destroy(tmajit_findings* findings) {
  delete findings;
}

size_t tmajit_findings_count(const tmajit_findings* findings) {
  return findings == nullptr ? 0 : findings->reports.size();
}

tmajit_status tmajit_findings_item(const tmajit_findings* findings, size_t index, tmajit_finding* finding,
                                   tmajit_error** error) {
  return c::guarded(error, [&] {
    const Report& report = c::item(c::require_non_null(findings, "findings").reports, index, "finding");
    const char* const paragraph = findings->texts.empty() ? "" : findings->texts[index].c_str();
    c::fill(finding, "finding", c::described(report, paragraph));
  });
}

const char* tmajit_findings_text(const tmajit_findings* findings) {
  return findings == nullptr ? "" : findings->text.c_str();
}

tmajit_status tmajit_findings_format(const tmajit_findings* findings, const char* format,
                                     const tmajit_findings_options* options, tmajit_text** text,
                                     tmajit_error** error) {
  return c::store_text(text, error, [&] {
    const tmajit_findings& all = c::require_non_null(findings, "findings");
    const tmajit_findings_options c_options = c::read_optional(options, "options");
    const auto wanted = c::findings_formats.parse(&c::require_non_null(format, "format"));
    return c::FindingsPage(all, c_options).formatted(wanted);
  });
}

tmajit_status tmajit_lint(const char* ptx, size_t ptx_bytes, const tmajit_lint_options* options,
                          tmajit_findings** findings, tmajit_error** error) {
  return c::guarded(error, [&] {
    c::clear_result(findings, "findings");
    const auto bytes = c::array(ptx, ptx_bytes, "ptx");
    const LintOptions lint_options = c::to_lint_options(c::read_optional(options, "options"));
    auto made = std::make_unique<tmajit_findings>();
    made->name = lint_options.name;
    made->artifact.ptx.assign(bytes.begin(), bytes.end());
    made->lint = lint_ptx(made->artifact.ptx, lint_options);
    for (Finding& one : made->lint.findings)
      static_cast<Finding&>(made->reports.emplace_back()) = std::move(one);
    made->lint.findings.clear();
    made->text = std::move(made->lint.report);
    *findings = made.release();
  });
}

tmajit_status tmajit_runtime_findings(const tmajit_runtime* runtime, tmajit_findings** findings,
                                      tmajit_error** error) {
  return c::guarded(error, [&] {
    c::clear_result(findings, "findings");
    auto made = std::make_unique<tmajit_findings>();
    made->simulated = true;
    made->reports = c::simulator_of(runtime).reports();
    for (const Report& report : made->reports) {
      made->texts.push_back(report.text());
      made->text += made->texts.back() + "\n";
    }
    *findings = made.release();
  });
}

tmajit_status tmajit_runtime_forget(tmajit_runtime* runtime, tmajit_error** error) {
  return c::guarded(error, [&] { c::simulator_of(runtime).clear_reports(); });
}

uint64_t tmajit_runtime_instructions(const tmajit_runtime* runtime) {
  if (runtime == nullptr || runtime->simulator == nullptr) return 0;
  uint64_t instructions = 0;
  (void)c::guarded(nullptr, [&] { instructions = runtime->simulator->thread_instructions(); });
  return instructions;
}

size_t tmajit_rule_count(void) {
  return check_rules().size();
}

tmajit_status tmajit_rule_item(size_t index, tmajit_rule* rule, tmajit_error** error) {
  return c::guarded(error, [&] {
    const Rule& found = c::item(check_rules(), index, "rule");
    // The rules' texts are string literals, so a NUL follows them.
    c::fill(rule, "rule",
            {.size = 0,
             .id = found.id.data(),
             .meaning = found.meaning.data(),
             .legal = found.legal.data(),
             .remedy = found.remedy.data(),
             .source = found.source.data(),
             .severity = static_cast<int32_t>(found.severity),
             .reserved = 0});
  });
}
