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

TEST_CASE("a finding as JSON keeps its fields, and text that is no UTF-8 is replaced") {
  auto finding = race_at(3);
  finding.found = "bad \xff";
  const auto json = nlohmann::json::parse(finding_json(finding));
  CHECK(json.at("severity") == "omission");
  CHECK(json.at("ptx_line") == 3);
  CHECK(json.at("found") == "bad \xef\xbf\xbd");
}

TEST_CASE("SARIF places a finding at its source's line and keeps the PTX as related") {
  const std::vector findings{race_at(3), race_at(4)};
  const auto log = nlohmann::json::parse(findings_sarif(
      {.tool = "t", .input = "k.ptx", .source = "dir/k.cu", .kernels = {}, .findings = findings}));
  const auto& run = log.at("runs").at(0);
  CHECK(run.at("tool").at("driver").at("name") == "t");
  REQUIRE(run.at("results").size() == 2);
  const auto& result = run.at("results").at(0);
  CHECK(result.at("level") == "warning");
  const auto& place = result.at("locations").at(0).at("physicalLocation");
  CHECK(place.at("artifactLocation").at("uri") == "dir/k.cu");
  CHECK(place.at("region").at("startLine") == 7);
  CHECK(result.at("relatedLocations").size() == 1);
}

TEST_CASE("JUnit counts findings from a severity on as failures, and kernels without findings as passed") {
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
