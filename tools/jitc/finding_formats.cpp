#include "finding_formats.hpp"

#include "check/rules.hpp"
#include "files.hpp"
#include "option_group.hpp"
#include "usage.hpp"

namespace jitc {

std::vector<std::string_view> rule_ids() {
  std::vector<std::string_view> ids;
  for (const auto& rule : tmajit::check::rules) ids.push_back(rule.id);
  return ids;
}

void add_format_option(OptionGroup& group, std::string& format) {
  group
      .add("--format", format, "FORMAT",
           "What is printed: text, json (the same as --json), sarif (SARIF 2.1.0, for code hosts), junit "
           "(XML, for CI services)")
      ->check(one_of({"text", "json", "sarif", "junit"}));
}

void add_project_option(OptionGroup& group, std::string& project) {
  group.add("--project", project, "DIR",
            "Root folder of your files; default: the working directory. A finding in an inlined function is "
            "reported at its innermost line in a file below this folder that is not a library's");
}

bool asks_for_json(bool json, std::string_view format) {
  if (json && format != "text" && format != "json")
    refuse("--json and --format {} exclude each other; give one of them", format);
  return json || format == "json";
}

bool is_for_services(std::string_view format) {
  return format == "sarif" || format == "junit";
}

void print_findings(const FindingsReport& report, std::string_view format) {
  write_stdout(format == "sarif" ? findings_sarif(report) + "\n" : findings_junit(report));
}

}  // namespace jitc
