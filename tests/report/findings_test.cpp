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
