#include <tmajit/report/findings.hpp>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <nlohmann/json.hpp>

using namespace tmajit;
using Catch::Matchers::ContainsSubstring;

namespace {

Finding race_at(std::uint32_t line) {
  Finding finding;
  finding.rule = "race.shared";
  finding.kernel = "k";
  finding.ptx_line = line;
  finding.source_file = "k.cu";
  finding.source_line = 7;
  finding.found = "a <race> & a \"name\"";
  finding.severity = Severity::omission;
  return finding;
}

}  // namespace

TEST_CASE("a finding's JSON has all its fields, and invalid UTF-8 is replaced") {
  auto finding = race_at(3);
  finding.found = "bad \xff";
  const auto json = nlohmann::json::parse(finding_json(finding));
  CHECK(json.at("severity") == "omission");
  CHECK(json.at("ptx_line") == 3);
  CHECK(json.at("found") == "bad \xef\xbf\xbd");
}

TEST_CASE("in SARIF a finding is at its source line, and the PTX line is a related location") {
  const std::vector findings{race_at(3), race_at(4)};
  const auto log = nlohmann::json::parse(findings_sarif(
      {.tool = "t", .input = "k.ptx", .source = "dir/k.cu", .kernels = {}, .findings = findings}));
  const auto& run = log.at("runs").at(0);
  CHECK(run.at("tool").at("driver").at("name") == "t");
  REQUIRE(run.at("results").size() == 2);
  const auto& result = run.at("results").at(0);
  CHECK(result.at("level") == "warning");
  const auto& location = result.at("locations").at(0).at("physicalLocation");
  CHECK(location.at("artifactLocation").at("uri") == "dir/k.cu");
  CHECK(location.at("region").at("startLine") == 7);
  CHECK(result.at("relatedLocations").size() == 1);
}

TEST_CASE("in JUnit findings of at least a given severity are failures, and kernels without findings pass") {
  const std::vector findings{race_at(3)};
  const std::vector<std::string> kernels{"k", "other"};
  FindingsReport report{
      .tool = "t", .input = "k.ptx", .source = "", .kernels = kernels, .findings = findings};
  report.fails = Severity::omission;
  CHECK_THAT(findings_junit(report), ContainsSubstring("tests=\"2\" failures=\"1\"") &&
                                         ContainsSubstring("a &lt;race&gt; &amp; a &quot;name&quot;"));
  report.fails = Severity::mistake;
  CHECK_THAT(findings_junit(report), ContainsSubstring("failures=\"0\""));
}

TEST_CASE("all findings as JSON have their source locations, and kernels, notes and unfinished checks") {
  const std::vector findings{race_at(3)};
  const std::vector<std::string> kernels{"k", "other"};
  const std::vector<std::vector<SourceLocation>> locations{
      {{.file = "k.cu", .line = 7, .text = "y[0] = 1;", .path = "dir/k.cu", .own = true}}};
  const std::vector<std::string> unfinished{"k: race.shared"};
  FindingsReport report{.tool = "t",
                        .input = "k.ptx",
                        .source = "",
                        .kernels = kernels,
                        .findings = findings,
                        .locations = locations,
                        .notes = findings,
                        .unfinished = unfinished};
  const auto json = nlohmann::json::parse(findings_json(report));
  CHECK(json.at("input") == "k.ptx");
  CHECK(json.at("clean") == false);
  CHECK(json.at("kernels") == kernels);
  CHECK(json.at("findings").at(0).at("rule") == "race.shared");
  CHECK(json.at("findings").at(0).at("source").at(0).at("text") == "y[0] = 1;");
  CHECK_FALSE(json.at("findings").at(0).contains("thread"));
  CHECK(json.at("notes").at(0).at("ptx_line") == 3);
  CHECK(json.at("unfinished") == unfinished);
  report.findings = {};
  CHECK(nlohmann::json::parse(findings_json(report)).at("clean") == true);
}

TEST_CASE("reports of the simulated device have their thread in JSON, and in lint's form as text") {
  Report report;
  static_cast<Finding&>(report) = race_at(3);
  report.cta = {1, 0, 0};
  report.thread = {31, 2, 0};
  CHECK(finding_of(report).found == report.found + " [CTA (1, 0, 0), thread (31, 2, 0)]");
  report.count = 4;
  const std::vector findings{finding_of(report)};
  CHECK(findings.front().found == report.found + " [CTA (1, 0, 0), thread (31, 2, 0), 4 times]");
  const std::vector reports{report};
  const auto json = nlohmann::json::parse(findings_json(
      {.tool = "t", .input = "k", .source = "", .kernels = {}, .findings = findings, .reports = reports}));
  const auto& one = json.at("findings").at(0);
  CHECK(one.at("found") == report.found);
  CHECK(one.at("thread") == std::vector{31, 2, 0});
  CHECK(one.at("cta") == std::vector{1, 0, 0});
  CHECK(one.at("count") == 4);
  CHECK(one.at("source").empty());
}
