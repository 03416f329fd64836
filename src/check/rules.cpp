#include "check/rules.hpp"

TMAJIT_BEGIN

std::span<const Rule> check_rules() noexcept {
  return check::rules;
}

const Rule* find_rule(std::string_view id) noexcept {
  return check::find(id);
}

const char* name(Severity severity) noexcept {
  switch (severity) {
    case Severity::advice: return "advice";
    case Severity::omission: return "omission";
    case Severity::mistake: break;
  }
  return "mistake";
}

namespace check {

void describe(Finding& finding, RuleId rule, std::string found, std::string expected,
              std::string_view remedy) {
  finding.rule = rule->id;
  finding.severity = rule->severity;
  finding.found = std::move(found);
  finding.expected = expected.empty() ? std::string(rule->legal) : std::move(expected);
  finding.remedy = remedy.empty() ? rule->remedy : remedy;
}

std::string source_place(const Finding& finding) {
  if (finding.source_line == 0) return {};
  const std::string line = std::to_string(finding.source_line);
  return finding.source_file.empty() ? ", source line " + line
                                     : ", source " + finding.source_file + ":" + line;
}

std::string advice(const Finding& finding) {
  return "  legal: " + finding.expected + "\n  remedy: " + finding.remedy;
}

}  // namespace check
TMAJIT_END
