#include "check/kernel_name.hpp"
#include "report/json.hpp"
#include "report/text.hpp"

#include <tmajit/report/findings.hpp>

#include <algorithm>
#include <set>

#include <spdlog/fmt/fmt.h>

TMAJIT_BEGIN
namespace {

const char* level(Severity severity) {
  switch (severity) {
    case Severity::advice: return "note";
    case Severity::omission: return "warning";
    case Severity::mistake: break;
  }
  return "error";
}

Json location(std::string_view file, std::uint64_t line, std::uint32_t column) {
  Json physical{{"artifactLocation", {{"uri", file}}}};
  if (line != 0) physical["region"] = {{"startLine", line}};
  if (column != 0) physical["region"]["startColumn"] = column;
  return {{"physicalLocation", std::move(physical)}};
}

/// The file of a finding's line: the path that the user gave, if it ends in that name; else the path from the
/// project's root, or the name in the PTX.
std::string_view source_of(const FindingsReport& report, const Finding& finding) {
  if (!report.source.empty() && report.source.ends_with(finding.source_file)) return report.source;
  return finding.source_path.empty() ? finding.source_file : finding.source_path;
}

std::string message(const Finding& finding) {
  return fmt::format("{}. Legal: {}. Remedy: {}.", finding.found, finding.expected, finding.remedy);
}

Json rule_of(std::string_view id) {
  Json rule{{"id", id}};
  const Rule* const known = find_rule(id);
  if (known == nullptr) return rule;
  rule["shortDescription"] = {{"text", known->meaning}};
  rule["help"] = {
      {"text", fmt::format("Legal: {}. Remedy: {}. ({})", known->legal, known->remedy, known->source)}};
  rule["defaultConfiguration"] = {{"level", level(known->severity)}};
  return rule;
}

/// Escapes the text of an XML element or attribute. Characters that XML 1.0 does not have, and those beyond
/// ASCII, become question marks.
std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '&': out += "&amp;"; break;
      case '<': out += "&lt;"; break;
      case '>': out += "&gt;"; break;
      case '"': out += "&quot;"; break;
      case '\n': out += "&#10;"; break;
      default: {
        const auto code = static_cast<unsigned char>(c);
        out += (code < 32 && c != '\t') || code > 126 ? '?' : c;
      }
    }
  }
  return out;
}

/// The frames of a finding except the one at which it is reported, innermost first.
std::vector<SourceLocation> other_frames(const FindingsReport& report, std::size_t finding) {
  if (finding >= report.locations.size()) return {};
  std::vector<SourceLocation> frames = report.locations[finding];
  if (std::ranges::none_of(frames, &SourceLocation::own)) mark_own(frames, report.findings[finding]);
  const auto own = std::ranges::find(frames, true, &SourceLocation::own);
  if (own != frames.end()) {
    frames.erase(own);
  } else if (!frames.empty()) {
    // Without a frame of the user's own, a finding is reported at the outermost frame.
    frames.pop_back();
  }
  return frames;
}

Json json_of(const Finding& finding) {
  const Rule* const rule = find_rule(finding.rule);
  return {{"rule", finding.rule},
          {"severity", name(finding.severity)},
          {"kernel", finding.kernel},
          {"ptx_line", finding.ptx_line},
          {"ptx_column", finding.ptx_column},
          {"instruction", finding.instruction},
          {"source_file", finding.source_file},
          {"source_path", finding.source_path},
          {"source_line", finding.source_line},
          {"also_lines", finding.also_lines},
          {"found", finding.found},
          {"expected", finding.expected},
          {"remedy", finding.remedy},
          {"meaning", rule != nullptr ? rule->meaning : ""},
          {"rule_source", rule != nullptr ? rule->source : ""}};
}

Json json_of(const SourceLocation& location) {
  return {{"file", location.file},
          {"line", location.line},
          {"text", location.text},
          {"path", location.path},
          {"own", location.own}};
}

Json json_of(std::span<const SourceLocation> locations) {
  Json json = Json::array();
  for (const SourceLocation& each : locations) json.push_back(json_of(each));
  return json;
}

Json json_of(const Report& report, std::span<const SourceLocation> locations) {
  Json json = json_of(static_cast<const Finding&>(report));
  json["source"] = json_of(locations);
  json["cta"] = report.cta;
  json["thread"] = report.thread;
  json["count"] = report.count;
  return json;
}

/// "CTA (0, 0, 0), thread (32, 0, 0)"
std::string describe_thread(const Report& report) {
  return fmt::format("CTA ({}), thread ({})", fmt::join(report.cta, ", "), fmt::join(report.thread, ", "));
}

}  // namespace

std::string location_json(const SourceLocation& location) {
  return json_text(json_of(location));
}

std::string finding_json(const Finding& finding) {
  return json_text(json_of(finding));
}

std::string report_json(const Report& report, const std::vector<const Artifact*>& artifacts) {
  return json_text(json_of(report, source_locations(artifacts, report)));
}

std::string report_text(const Report& report, const std::vector<const Artifact*>& artifacts,
                        std::size_t width, bool colour) {
  std::string page;
  const auto add = [&](std::string_view heading, std::string_view text) {
    if (!text.empty()) page += labelled(heading, text, 11, width, colour);
  };
  add("where",
      "kernel " + check::shown_name(report.kernel) +
          (report.ptx_line == 0 ? ""
                                : fmt::format(", PTX line {}: {}", report.ptx_line, report.instruction)));
  std::string_view heading = "source";
  for (const SourceLocation& each : own_first(source_locations(artifacts, report))) {
    add(heading, describe(each));
    heading = "inlined";
  }
  add("thread", describe_thread(report));
  add("found", report.found);
  add("legal", report.expected);
  add("remedy", report.remedy);
  return page;
}

Finding finding_of(const Report& report) {
  Finding finding = report;
  finding.found += fmt::format(" [{}{}]", describe_thread(report),
                               report.count > 1 ? fmt::format(", {} times", report.count) : "");
  return finding;
}

std::string findings_json(const FindingsReport& report) {
  Json findings = Json::array();
  for (std::size_t i = 0; i < report.findings.size(); ++i) {
    const std::span<const SourceLocation> locations =
        i < report.locations.size() ? report.locations[i] : std::span<const SourceLocation>();
    if (i < report.reports.size()) {
      findings.push_back(json_of(report.reports[i], locations));
    } else {
      findings.push_back(json_of(report.findings[i]));
      findings.back()["source"] = json_of(locations);
    }
  }
  Json notes = Json::array();
  for (const Finding& note : report.notes) notes.push_back(json_of(note));
  return json_text({{"input", report.input},
                    {"clean", report.findings.empty()},
                    {"kernels", report.kernels},
                    {"findings", findings},
                    {"notes", notes},
                    {"unfinished", report.unfinished}});
}

std::string findings_sarif(const FindingsReport& report) {
  Json results = Json::array();
  Json rules = Json::array();
  std::set<std::string_view> named;
  const auto add = [&](const Finding& finding, const char* level_of_result,
                       const std::vector<SourceLocation>& frames) {
    if (named.insert(finding.rule).second) rules.push_back(rule_of(finding.rule));
    Json result{
        {"ruleId", finding.rule}, {"level", level_of_result}, {"message", {{"text", message(finding)}}}};
    Json in_ptx = location(report.input, finding.ptx_line, finding.ptx_column);
    if (!finding.kernel.empty())
      in_ptx["logicalLocations"] = Json::array({{{"name", finding.kernel}, {"kind", "function"}}});
    if (finding.source_line != 0 && !finding.source_file.empty()) {
      result["locations"] = Json::array({location(source_of(report, finding), finding.source_line, 0)});
      in_ptx["id"] = 1;
      Json related = Json::array({std::move(in_ptx)});
      for (const SourceLocation& frame : frames) {
        related.push_back(location(frame.path.empty() ? frame.file : frame.path, frame.line, 0));
        related.back()["id"] = related.size();
        related.back()["message"] = {{"text", "inlined from here"}};
      }
      result["relatedLocations"] = std::move(related);
    } else {
      result["locations"] = Json::array({std::move(in_ptx)});
    }
    results.push_back(std::move(result));
  };
  for (std::size_t i = 0; i < report.findings.size(); ++i)
    add(report.findings[i], level(report.findings[i].severity), other_frames(report, i));
  for (const Finding& note : report.notes) add(note, "note", {});
  Json notes = Json::array();
  for (const std::string& check : report.unfinished)
    notes.push_back({{"level", "note"}, {"message", {{"text", "unfinished: " + check}}}});
  const Json log{
      {"$schema", "https://json.schemastore.org/sarif-2.1.0.json"},
      {"version", "2.1.0"},
      {"runs", Json::array({{{"tool", {{"driver", {{"name", report.tool}, {"rules", rules}}}}},
                             {"invocations", Json::array({{{"executionSuccessful", true},
                                                           {"toolExecutionNotifications", notes}}})},
                             {"results", results}}})}};
  return json_text(log, 2);
}

std::string findings_junit(const FindingsReport& report) {
  std::string cases;
  std::size_t count = 0;
  std::size_t failures = 0;
  const auto add = [&](std::string_view name, const std::string& inside) {
    ++count;
    cases += fmt::format("    <testcase classname=\"{}\" name=\"{}\">{}</testcase>\n", escaped(report.input),
                         escaped(name), inside);
  };
  for (const std::string& kernel : report.kernels) {
    if (std::ranges::none_of(report.findings, [&](const Finding& each) { return each.kernel == kernel; }))
      add(kernel, {});
  }
  for (std::size_t i = 0; i < report.findings.size(); ++i) {
    const Finding& finding = report.findings[i];
    const bool fails = finding.severity >= report.fails;
    failures += fails ? 1 : 0;
    std::string where = fmt::format("{}:{}", report.input, finding.ptx_line);
    if (finding.source_line != 0)
      where += fmt::format(", {}:{}", source_of(report, finding), finding.source_line);
    for (const SourceLocation& frame : other_frames(report, i))
      where += fmt::format(", inlined from {}:{}", frame.file, frame.line);
    const std::string text = escaped(fmt::format("{}: {}", where, message(finding)));
    add(fmt::format("{}{}{} at line {}", finding.kernel, finding.kernel.empty() ? "" : ": ", finding.rule,
                    finding.ptx_line),
        fails ? fmt::format("<failure type=\"{}\" message=\"{}\">{}</failure>", finding.rule,
                            escaped(finding.found), text)
              : fmt::format("<system-out>{}</system-out>", text));
  }
  for (const Finding& note : report.notes) {
    add(fmt::format("{}: {} at line {}", note.kernel, note.rule, note.ptx_line),
        fmt::format("<skipped message=\"{}\"/>", escaped(note.found)));
  }
  for (const std::string& check : report.unfinished)
    add(check, "<skipped message=\"too many paths to follow them all\"/>");
  return fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n  <testsuite name=\"{}\" tests=\"{}\" "
      "failures=\"{}\" errors=\"0\" skipped=\"{}\">\n{}  </testsuite>\n</testsuites>\n",
      escaped(report.tool), count, failures, report.unfinished.size() + report.notes.size(), cases);
}

TMAJIT_END
