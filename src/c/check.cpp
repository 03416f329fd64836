#include "c/launches.hpp"
#include "c/tensor.hpp"

#include <tmajit/lint.hpp>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

struct tmajit_findings {
  /// Reports of the simulated device, or findings of lint with a count of 1.
  std::vector<tmajit::Report> reports;
  std::vector<std::string> texts;  ///< text() of each report; empty for findings of lint
  std::string text;
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

tmajit_status tmajit_lint(const char* ptx, size_t ptx_bytes, const tmajit_lint_options* options,
                          tmajit_findings** findings, tmajit_error** error) {
  return c::guarded(error, [&] {
    c::clear_result(findings, "findings");
    const auto bytes = c::array(ptx, ptx_bytes, "ptx");
    LintResult result =
        lint_ptx({bytes.data(), bytes.size()}, c::to_lint_options(c::read_optional(options, "options")));
    auto made = std::make_unique<tmajit_findings>();
    for (Finding& one : result.findings) static_cast<Finding&>(made->reports.emplace_back()) = std::move(one);
    made->text = std::move(result.report);
    *findings = made.release();
  });
}

tmajit_status tmajit_runtime_findings(const tmajit_runtime* runtime, tmajit_findings** findings,
                                      tmajit_error** error) {
  return c::guarded(error, [&] {
    c::clear_result(findings, "findings");
    auto made = std::make_unique<tmajit_findings>();
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
