#include "check/rules.hpp"

#include "spec/enum_names.hpp"
#include "spec/suggestion.hpp"

#include <vector>

#include <spdlog/fmt/fmt.h>

TMAJIT_BEGIN
namespace {

constexpr EnumNames<Severity, 3> severities{"severity", {"advice", "omission", "mistake"}};

}  // namespace

std::span<const Rule> check_rules() noexcept {
  return check::rules;
}

const Rule* find_rule(std::string_view id) noexcept {
  return check::find(id);
}

std::string_view name(Severity severity) noexcept {
  return severities.of(severity);
}
template <>
Severity parse<Severity>(std::string_view text) {
  return severities.parse(text);
}

namespace check {

namespace {

/// The function of tmajit's device headers that implements a rule's remedy.
struct Helper {
  RuleId rule;
  std::string_view function;
};

constexpr Helper helpers[] = {
    {"load.missing-proxy-fence", "ptx::fence_proxy_async_shared()"},
    {"mbarrier.init-not-fenced", "ptx::fence_mbarrier_init()"},
    {"mbarrier.unchecked-wait", "ptx::mbarrier::wait()"},
    {"store.late-proxy-fence", "ptx::fence_proxy_async_shared()"},
    {"store.missing-proxy-fence", "ptx::fence_proxy_async_shared()"},
    {"wgmma.copy-not-fenced", "ptx::fence_proxy_async_shared()"},
    {"wgmma.missing-proxy-fence", "ptx::fence_proxy_async_shared()"},
};

}  // namespace

bool uses_device_headers(std::string_view ptx) {
  // Namespace tmajit in a mangled name, or a device header in a .file line.
  return ptx.find("6tmajit") != std::string_view::npos || ptx.find("tmajit/") != std::string_view::npos;
}

void name_helper(Finding& finding) {
  for (const Helper& helper : helpers) {
    if (helper.rule->id == finding.rule && finding.remedy == helper.rule->remedy)
      finding.remedy += fmt::format(": {}", helper.function);
  }
}

void describe(Finding& finding, RuleId rule, std::string found, std::string expected,
              std::string_view remedy) {
  finding.rule = rule->id;
  finding.severity = rule->severity;
  finding.found = std::move(found);
  finding.expected = expected.empty() ? std::string(rule->legal) : std::move(expected);
  finding.remedy = remedy.empty() ? rule->remedy : remedy;
}

std::string why_unknown(std::string_view id) {
  if (find(id) != nullptr) return {};
  std::vector<std::string_view> ids;
  for (const Rule& each : rules) ids.push_back(each.id);
  return fmt::format("no rule is called {}{}", id, suggestion(id, ids));
}

std::string source_location(const Finding& finding) {
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
