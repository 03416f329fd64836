/// Findings of lint and of the simulated device in every format.
#include "c/call_error.hpp"

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <nlohmann/json.hpp>

namespace findings_format_test {

using Catch::Matchers::ContainsSubstring;
using Json = nlohmann::json;
using tests::CallError;

/// The first kernel waits for an mbarrier that no thread initialises; the second one is correct.
constexpr std::string_view two_kernels = R"(.version 8.0
.target sm_90a
.address_size 64
.visible .entry waits()
{
.reg .pred %p<2>;
.shared .align 8 .b64 bar;
.loc 1 12 3
again: mbarrier.try_wait.parity.shared::cta.b64 %p1, [bar], 0;
@!%p1 bra again;
ret;
}
.visible .entry nothing()
{
ret;
}
.file 1 "kernels/waits.cu"
)";
constexpr std::string_view correct = R"(.version 8.0
.target sm_90a
.address_size 64
.visible .entry nothing()
{
ret;
}
)";

tmajit_findings* lint(std::string_view ptx, const char* name = nullptr) {
  tmajit_lint_options options{};
  options.size = sizeof options;
  options.name = name;
  tmajit_findings* findings = nullptr;
  REQUIRE(tmajit_lint(ptx.data(), ptx.size(), &options, &findings, nullptr) == TMAJIT_OK);
  return findings;
}

std::string formatted(const tmajit_findings* findings, const char* format,
                      const tmajit_findings_options* options = nullptr) {
  tmajit_text* text = nullptr;
  CallError error;
  const tmajit_status status = tmajit_findings_format(findings, format, options, &text, error.out());
  INFO(error.text());
  REQUIRE(status == TMAJIT_OK);
  std::string bytes(tmajit_text_data(text), tmajit_text_size(text));
  tmajit_text_destroy(text);
  return bytes;
}

/// A runtime on the simulated device, a kernel in which thread 31 stores beyond its tensor, and its findings
/// after a launch.
class OutOfBounds {
 public:
  OutOfBounds() {
    tmajit_runtime_options options{};
    options.size = sizeof options;
    options.device = TMAJIT_DEVICE_SIMULATED;
    options.cache_directory = "";
    REQUIRE(tmajit_runtime_make(&options, &runtime, nullptr) == TMAJIT_OK);
    tmajit_kernel_source source{};
    source.size = sizeof source;
    source.text =
        "__device__ void set(int* y, int n) {\n"
        "  *y = n;\n"
        "}\n"
        "__global__ void fill(int* y) {\n"
        "  set(y + threadIdx.x, 7);\n"
        "}\n";
    source.file = "fill.cu";
    REQUIRE(tmajit_kernel_make(runtime, &source, &kernel, nullptr) == TMAJIT_OK);
    REQUIRE(tmajit_buffer_make(runtime, 124, &buffer, nullptr) == TMAJIT_OK);
    tmajit_tensor y{};
    y.size = sizeof y;
    y.address = tmajit_buffer_address(buffer);
    y.dtype = TMAJIT_I32;
    y.rank = 1;
    y.extents[0] = 31;
    tmajit_argument argument{};
    argument.size = sizeof argument;
    argument.kind = TMAJIT_ARGUMENT_ADDRESS;
    tmajit_launch launch{};
    launch.size = sizeof launch;
    launch.block[0] = 32;
    launch.tensors = &y;
    launch.tensor_count = 1;
    launch.arguments = &argument;
    launch.argument_count = 1;
    REQUIRE(tmajit_kernel_launch(kernel, &launch, nullptr, nullptr) == TMAJIT_OK);
    REQUIRE(tmajit_synchronize(runtime, nullptr, nullptr) == TMAJIT_DEVICE_FAILED);
    REQUIRE(tmajit_runtime_findings(runtime, &findings, nullptr) == TMAJIT_OK);
  }
  ~OutOfBounds() {
    tmajit_findings_destroy(findings);
    tmajit_buffer_destroy(buffer);
    tmajit_kernel_destroy(kernel);
    tmajit_runtime_destroy(runtime);
  }
  OutOfBounds(const OutOfBounds&) = delete;
  OutOfBounds& operator=(const OutOfBounds&) = delete;

  tmajit_runtime* runtime = nullptr;
  tmajit_kernel* kernel = nullptr;
  tmajit_buffer* buffer = nullptr;
  tmajit_findings* findings = nullptr;
};

}  // namespace findings_format_test

using namespace findings_format_test;

TEST_CASE("findings of lint are written in every format") {
  tmajit_findings* const findings = lint(two_kernels, "two.ptx");
  REQUIRE(tmajit_findings_count(findings) == 1);
  CHECK(formatted(findings, "text") == tmajit_findings_text(findings));

  const Json json = Json::parse(formatted(findings, "json"));
  CHECK(json.at("input") == "two.ptx");
  CHECK(json.at("clean") == false);
  CHECK(json.at("kernels") == std::vector<std::string>{"waits", "nothing"});
  const Json& finding = json.at("findings").at(0);
  CHECK(finding.at("rule") == "mbarrier.uninitialised");
  CHECK(finding.at("kernel") == "waits");
  CHECK(finding.at("source").at(0).at("file") == "waits.cu");
  CHECK(finding.at("source").at(0).at("line") == 12);
  CHECK_FALSE(finding.contains("thread"));

  const Json sarif = Json::parse(formatted(findings, "sarif"));
  CHECK(sarif.at("version") == "2.1.0");
  const Json& run = sarif.at("runs").at(0);
  CHECK(run.at("tool").at("driver").at("name") == "tmajit");
  CHECK(run.at("results").at(0).at("ruleId") == "mbarrier.uninitialised");

  CHECK_THAT(formatted(findings, "junit"), ContainsSubstring("tests=\"2\" failures=\"1\"") &&
                                               ContainsSubstring("<testsuite name=\"tmajit\"") &&
                                               ContainsSubstring("name=\"nothing\""));
  tmajit_findings_destroy(findings);
}

TEST_CASE("the tool, the input, the source and the severity of failures are the caller's") {
  tmajit_findings* const findings = lint(two_kernels);
  CHECK(Json::parse(formatted(findings, "json")).at("input") == "ptx");
  tmajit_findings_options options{};
  options.size = sizeof options;
  options.tool = "nightly";
  options.input = "build/waits.ptx";
  options.source = "src/kernels/waits.cu";
  CHECK(Json::parse(formatted(findings, "json", &options)).at("input") == "build/waits.ptx");
  const Json run = Json::parse(formatted(findings, "sarif", &options)).at("runs").at(0);
  CHECK(run.at("tool").at("driver").at("name") == "nightly");
  const Json& at = run.at("results").at(0).at("locations").at(0).at("physicalLocation");
  CHECK(at.at("artifactLocation").at("uri") == "src/kernels/waits.cu");
  CHECK(at.at("region").at("startLine") == 12);
  for (const std::int32_t fails : {TMAJIT_ADVICE, TMAJIT_OMISSION, TMAJIT_MISTAKE}) {
    options.fails = fails;
    CHECK_THAT(formatted(findings, "junit", &options), ContainsSubstring("failures=\"1\""));
  }
  tmajit_findings_destroy(findings);
}

TEST_CASE("kernels without findings are clean in every format") {
  tmajit_findings* const findings = lint(correct, "correct.ptx");
  CHECK(formatted(findings, "text").empty());
  const Json json = Json::parse(formatted(findings, "json"));
  CHECK(json.at("clean") == true);
  CHECK(json.at("kernels") == std::vector<std::string>{"nothing"});
  CHECK(Json::parse(formatted(findings, "sarif")).at("runs").at(0).at("results").empty());
  CHECK_THAT(formatted(findings, "junit"), ContainsSubstring("tests=\"1\" failures=\"0\""));
  tmajit_findings_destroy(findings);
}

TEST_CASE("reports of the simulated device are written in every format, with their threads") {
  const OutOfBounds run;
  CHECK(formatted(run.findings, "text") == tmajit_findings_text(run.findings));
  Json json = Json::parse(formatted(run.findings, "json"));
  CHECK(json.at("input") == "simulated device");
  const Json& finding = json.at("findings").at(0);
  CHECK(finding.at("rule") == "global.out-of-bounds");
  CHECK(finding.at("thread") == std::vector{31, 0, 0});
  CHECK(finding.at("cta") == std::vector{0, 0, 0});
  CHECK(finding.at("count") == 1);
  CHECK(finding.at("source").empty());
  CHECK(json.at("kernels").empty());
  CHECK_THAT(formatted(run.findings, "sarif"), ContainsSubstring("CTA (0, 0, 0), thread (31, 0, 0)"));
  CHECK_THAT(formatted(run.findings, "junit"), ContainsSubstring("tests=\"1\" failures=\"1\""));

  // With the kernel, a finding has the lines of source into which its instruction was inlined.
  const std::array<const tmajit_kernel*, 1> kernels{run.kernel};
  tmajit_findings_options options{};
  options.size = sizeof options;
  options.kernels = kernels.data();
  options.kernel_count = kernels.size();
  json = Json::parse(formatted(run.findings, "json", &options));
  CHECK(json.at("kernels") == std::vector<std::string>{tmajit_kernel_entry(run.kernel)});
  const Json& source = json.at("findings").at(0).at("source");
  REQUIRE(source.size() == 2);
  CHECK(source.at(0).at("text") == "*y = n;");
  CHECK(source.at(1).at("text") == "set(y + threadIdx.x, 7);");
  CHECK_THAT(formatted(run.findings, "sarif", &options), ContainsSubstring("inlined from here"));

  // Without findings the kernel is a passed test.
  REQUIRE(tmajit_runtime_forget(run.runtime, nullptr) == TMAJIT_OK);
  tmajit_findings* none = nullptr;
  REQUIRE(tmajit_runtime_findings(run.runtime, &none, nullptr) == TMAJIT_OK);
  CHECK_THAT(formatted(none, "junit", &options), ContainsSubstring("tests=\"1\" failures=\"0\""));
  CHECK_THAT(formatted(none, "junit"), ContainsSubstring("tests=\"0\" failures=\"0\""));
  tmajit_findings_destroy(none);
}

TEST_CASE("an unknown format and illegal options give an error") {
  tmajit_findings* const findings = lint(correct);
  tmajit_findings_options options{};
  options.size = sizeof options;
  CallError error;
  tmajit_text* text = nullptr;
  const auto expect = [&](const char* format, const char* words) {
    CHECK(tmajit_findings_format(findings, format, &options, &text, error.out()) == TMAJIT_INVALID_ARGUMENT);
    CHECK_THAT(error.text(), ContainsSubstring(words));
    CHECK(text == nullptr);
  };
  expect("sarifx", "legal: text, json, sarif, junit; did you mean sarif?");
  expect(nullptr, "format is null");
  options.fails = 3;
  expect("json", "options: fails is 3");
  options.fails = -1;
  expect("json", "options: fails is -1");
  options.fails = TMAJIT_MISTAKE;
  options.reserved = 1;
  expect("json", "reserved");
  options.reserved = 0;
  options.kernel_count = 1;
  expect("json", "options: kernels is null");
  const std::array<const tmajit_kernel*, 1> null_kernel{nullptr};
  options.kernels = null_kernel.data();
  expect("json", "options: a kernel is null");
  options.size = 8;
  expect("json", "sizeof(tmajit_findings_options)");
  tmajit_findings_destroy(findings);
}
