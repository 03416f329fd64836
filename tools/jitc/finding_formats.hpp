#pragma once

#include "option_group.hpp"
#include "report.hpp"

#include <tmajit/report/findings.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace jitc {

using tmajit::FindingsReport;

/// The ids of all rules.
[[nodiscard]] std::vector<std::string_view> rule_ids();
/// Adds --format, whose values are text, json, sarif and junit.
void add_format_option(OptionGroup& group, std::string& format);
/// Adds --project, the root folder of the user's files.
void add_project_option(OptionGroup& group, std::string& project);
/// Whether --json or --format asks for JSON. Throws Error{invalid_argument} where they contradict each other.
[[nodiscard]] bool asks_for_json(bool json, std::string_view format);
/// Whether `format` is one that print_findings() prints: "sarif" or "junit".
[[nodiscard]] bool is_for_services(std::string_view format);
/// Prints the report to standard output, as "sarif" or "junit".
void print_findings(const FindingsReport& report, std::string_view format);

}  // namespace jitc
