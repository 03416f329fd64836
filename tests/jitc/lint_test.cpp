#include "subprocess.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/generators/catch_generators_range.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

using namespace jitc::test;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::StartsWith;

namespace {

/// A kernel with one tensor load, which expects 8192 bytes. The box of its tensor map decides whether that is
/// right.
const std::string kernel = R"(.version 9.0
.target sm_90a
.address_size 64
.visible .entry k(.param .align 64 .b8 source[128])
{
	.reg .pred %p<2>;
	.reg .b64 %rd<2>;
	.shared .align 1024 .b8 tile[8192];
	.shared .align 8 .b64 full;
	mov.u64 %rd0, source;
	mbarrier.init.shared::cta.b64 [full], 1;
	fence.mbarrier_init.release.cluster;
	mbarrier.arrive.expect_tx.shared::cta.b64 _, [full], 8192;
	cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [tile], [%rd0, {0, 0}], [full];
WAIT:
	mbarrier.try_wait.parity.shared::cta.b64 %p0, [full], 0;
	@!%p0 bra WAIT;
	ret;
}
)";

}  // namespace

TEST_CASE("kernels of operations have no findings: exit code 0") {
  const auto arguments = GENERATE(from_range(std::vector<std::vector<std::string>>{
      {"lint", "copy", "--box", "64x64", "--dtype", "bf16", "--swizzle", "128B"},
      {"lint", "map", "--expr", "x0 * x1 + t[0]", "--dtype", "f32,f16,f16"},
      {"lint", "bulk", "--expr", "x + 1", "--dtype", "i32"},
      {"lint", "snapshot", "--shape", "64x64", "--box", "8x32", "--dtype", "u8"},
      {"lint", "rows", "--shape", "512x512"},
      {"lint", "transpose", "--axes", "1,0", "--shape", "512x512"}}));
  const auto result = jitc::test::jitc(arguments);
  INFO(result.out << result.err);
  CHECK(result.status == 0);
  const auto entry = "tmajit_" + arguments[1];
  CHECK(result.out == "clean: " + entry + ".ptx, kernel " + entry + "\n");
  const auto json = jitc_json(arguments);
  CHECK(json.at("clean") == true);
  CHECK(json.at("findings").empty());
  CHECK(json.at("unfinished").empty());
  CHECK(json.at("kernels") == std::vector{entry});
}

TEST_CASE("findings depend on the facts that options give about tensor maps: exit code 1") {
  const Folder folder;
  const std::string file = folder / "k.ptx";
  write_file(file, kernel);
  CHECK(jitc::test::jitc({"lint", file}).status == 0);
  CHECK(jitc::test::jitc({"lint", file, "--map", "0=bf16:64x64:128B"}).status == 0);
  CHECK(jitc::test::jitc({"lint", file, "--map", "source=bf16:64x64:128B"}).status == 0);
  CHECK(jitc::test::jitc({"lint", file, "--box-bytes", "0=8192"}).status == 0);
  for (const std::vector<std::string>& wrong :
       {std::vector<std::string>{"--map", "0=bf16:32x64:128B"}, {"--box-bytes", "source=4096"}}) {
    std::vector<std::string> arguments{"lint", file};
    arguments.insert(arguments.end(), wrong.begin(), wrong.end());
    const auto result = jitc::test::jitc(arguments);
    CHECK(result.status == 1);
    CHECK_THAT(result.out,
               StartsWith(file + ":13:2: error: mbarrier.expected-bytes: 8192 bytes are expected") &&
                   ContainsSubstring("\n        ^\n  legal: ") && ContainsSubstring("\n  remedy: "));
    CHECK_THAT(result.err, ContainsSubstring("findings: 1 in "));
    const auto json = jitc_json(arguments, 1);
    CHECK(json.at("clean") == false);
    const auto& finding = json.at("findings").at(0);
    CHECK(finding.at("rule") == "mbarrier.expected-bytes");
    CHECK(finding.at("kernel") == "k");
    CHECK(finding.at("ptx_line") == 13);
    CHECK(finding.at("ptx_column") == 2);
    CHECK_THAT(finding.at("instruction").get<std::string>(), StartsWith("mbarrier.arrive.expect_tx"));
  }
  const auto ranks = jitc::test::jitc({"lint", file, "--map", "0=bf16:4x16x64:128B"});
  CHECK(ranks.status == 1);
  CHECK_THAT(ranks.out, ContainsSubstring("tensormap.rank"));
}

TEST_CASE("facts about a parameter that is not a tensor map are an error") {
  const Folder folder;
  const std::string file = folder / "k.ptx";
  write_file(file, kernel);
  CHECK(jitc::test::jitc({"lint", file, "--box-bytes", "source=8192"}).status == 0);
  const auto refused = [&](std::vector<std::string> facts, const std::string& words) {
    facts.insert(facts.begin(), {"lint", file});
    const auto outcome = jitc::test::jitc(facts);
    INFO(facts[3] << outcome.err);
    CHECK(outcome.status == 2);
    CHECK(outcome.out.empty());
    CHECK_THAT(outcome.err, ContainsSubstring(words));
  };
  refused({"--box-bytes", "n=64"}, "; kernel k has 0 source");
  refused({"--map", "0+64=bf16:64x64"}, "takes that parameter as a tensor map");
  // Wrong facts are an error even if the kernel has a finding.
  const std::string wrong = "--box-bytes=source=4096";
  for (const std::string& more : {std::string("--fail-on=advice"), wrong}) {
    refused({"--map", "7=bf16:64x64", more},
            "no kernel of " + file + " has such a parameter; kernel k has 0 source");
    refused({"--box-bytes", "sourc=64", more}, "did you mean source?");
  }
  refused({"--map", "0=bf16:64x64", wrong}, "of 0 and of source: both name the same tensor map of kernel k");
}

TEST_CASE("options, files and comments can allow rules") {
  const Folder folder;
  const std::string file = folder / "k.ptx";
  write_file(file, kernel);
  const std::vector<std::string> wrong{"lint", file, "--box-bytes", "source=4096"};
  const auto with = [&](std::vector<std::string> more) {
    more.insert(more.begin(), wrong.begin(), wrong.end());
    return jitc::test::jitc(more);
  };
  write_file(folder / "allow.txt", "mbarrier.expected-bytes k # the rest comes from another CTA\n");
  for (const std::vector<std::string>& allowing :
       {std::vector<std::string>{"--allow", "syntax,mbarrier.expected-bytes"},
        {"--allow-file", folder / "allow.txt"}}) {
    const auto result = with(allowing);
    INFO(result.err);
    CHECK(result.status == 0);
    CHECK(result.out == "clean: " + file + ", kernel k\n");
    CHECK_THAT(result.err, ContainsSubstring("allowed: 1"));
  }
  CHECK(with({"--fail-on", "mistake"}).status == 1);
  write_file(folder / "wrong.txt", "\nmbarrier.expect\n");
  for (const std::vector<std::string>& usage : {std::vector<std::string>{"--allow", "mbarier.count"},
                                                {"--allow-file", folder / "wrong.txt"},
                                                {"--fail-on", "everything"}}) {
    const auto result = with(usage);
    INFO(result.err);
    CHECK(result.status == 2);
    CHECK_THAT(result.err, StartsWith("jitc: error: "));
  }
}

TEST_CASE("a file of allowed rules that cannot be read is named") {
  const Folder folder;
  write_file(folder / "k.ptx", kernel);
  const auto result = jitc::test::jitc({"lint", folder / "k.ptx", "--allow-file", folder / "none.txt"});
  CHECK(result.status == 3);
  CHECK_THAT(result.err, ContainsSubstring("cannot read"));
}

TEST_CASE("findings are printed as SARIF") {
  const auto sarif = [](const std::vector<std::string>& arguments, int status) {
    const auto result = jitc::test::jitc(arguments);
    INFO(result.err);
    REQUIRE(result.status == status);
    return nlohmann::json::parse(result.out);
  };
  const Folder folder;
  const std::string file = folder / "k.ptx";
  write_file(file, kernel);
  CHECK(jitc_json({"lint", file, "--format", "json"}).at("clean") == true);
  const auto clean = sarif({"lint", file, "--format", "sarif"}, 0);
  CHECK(clean.at("version") == "2.1.0");
  CHECK(clean.at("runs").at(0).at("results").empty());
  std::string with_source = kernel;
  with_source.insert(with_source.find("\tmbarrier.arrive"), "\t.loc 1 42 3\n");
  with_source.insert(with_source.find(".visible"), ".file 1 \"/a/b/kernel.cu\"\n");
  for (const bool has_source : {false, true}) {
    write_file(file, has_source ? with_source : kernel);
    // Fields that SARIF's schema requires, and fields that code hosts read.
    const auto log = sarif({"lint", file, "--box-bytes", "0=4096", "--format", "sarif"}, 1);
    CHECK(log.at("$schema").get<std::string>().ends_with("sarif-2.1.0.json"));
    REQUIRE(log.at("runs").size() == 1);
    const auto& run = log.at("runs").at(0);
    const auto& driver = run.at("tool").at("driver");
    CHECK(driver.at("name") == "jitc lint");
    REQUIRE(driver.at("rules").size() == 1);
    CHECK(driver.at("rules").at(0).at("id") == "mbarrier.expected-bytes");
    CHECK(driver.at("rules").at(0).at("defaultConfiguration").at("level") == "error");
    CHECK(run.at("invocations").at(0).at("executionSuccessful") == true);
    REQUIRE(run.at("results").size() == 1);
    const auto& result = run.at("results").at(0);
    CHECK(result.at("ruleId") == "mbarrier.expected-bytes");
    CHECK(result.at("level") == "error");
    CHECK_THAT(result.at("message").at("text").get<std::string>(), StartsWith("8192 bytes are expected"));
    REQUIRE(result.at("locations").size() == 1);
    const auto& physical = result.at("locations").at(0).at("physicalLocation");
    CHECK(physical.at("artifactLocation").at("uri") == (has_source ? "/a/b/kernel.cu" : file));
    CHECK(physical.at("region").at("startLine") == (has_source ? 42 : 13));
    CHECK(result.contains("relatedLocations") == has_source);
  }
  CHECK(jitc::test::jitc({"lint", file, "--format", "sarif", "--json"}).status == 2);
  CHECK(jitc::test::jitc({"lint", file, "--format", "xml"}).status == 2);
}

TEST_CASE("findings are printed as JUnit's XML") {
  const Folder folder;
  const std::string file = folder / "k.ptx";
  write_file(file, kernel);
  const auto clean = jitc::test::jitc({"lint", file, "--format", "junit"});
  CHECK(clean.status == 0);
  CHECK(clean.out ==
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n  <testsuite name=\"jitc lint\" "
        "tests=\"1\" failures=\"0\" errors=\"0\" skipped=\"0\">\n    <testcase classname=\"" +
            file + "\" name=\"k\"></testcase>\n  </testsuite>\n</testsuites>\n");
  const auto wrong = jitc::test::jitc({"lint", file, "--box-bytes", "0=4096", "--format", "junit"});
  CHECK(wrong.status == 1);
  CHECK_THAT(wrong.out,
             ContainsSubstring("tests=\"1\" failures=\"1\"") &&
                 ContainsSubstring("name=\"k: mbarrier.expected-bytes at line 13\"><failure type="
                                   "\"mbarrier.expected-bytes\" message=\"8192 bytes are expected") &&
                 ContainsSubstring("</failure></testcase>"));
}

TEST_CASE("found: a module without a kernel has no findings, but is an error with --require-kernel") {
  const Folder folder;
  const std::string file = folder / "none.ptx";
  write_file(file, ".version 9.0\n.target sm_90a\n.address_size 64\n.visible .func f() { ret; }\n");
  CHECK(jitc::test::jitc({"lint", file}).status == 0);
  const auto refused = jitc::test::jitc({"lint", file, "--require-kernel"});
  CHECK(refused.status == 2);
  CHECK_THAT(refused.err, ContainsSubstring("none.ptx has no kernel"));
  write_file(file, kernel);
  CHECK(jitc::test::jitc({"lint", file, "--require-kernel"}).status == 0);
  // This text does not parse, so it has findings but no kernel.
  write_file(file, ".version 9.0\n.target sm_90a\n.address_size 64\n.visible .entry k() { ret }\n");
  const auto unread = jitc::test::jitc({"lint", file, "--require-kernel"});
  CHECK(unread.status == 1);
  CHECK_THAT(unread.out, ContainsSubstring("syntax"));
}

TEST_CASE("found: lint of a file with host code explains how to compile its kernels to PTX") {
  const Folder folder;
  const std::string file = folder / "program.cu";
  write_file(file, "__global__ void k(int* p) { *p = 1; }\nint main() { k<<<1, 1>>>(nullptr); }\n");
  const auto refused = jitc::test::jitc({"lint", file});
  CHECK(refused.status == 3);
  CHECK_THAT(refused.err, ContainsSubstring("nvcc -ptx -arch=sm_90a"));
  write_file(file, "#include <torch/extension.h>\n__global__ void k(int* p) { *p = 1; }\n");
  CHECK_THAT(jitc::test::jitc({"lint", file}).err, ContainsSubstring("nvcc -ptx -arch=sm_90a"));
  write_file(file, "#include \"mine.cuh\"\n__global__ void k(int* p) { *p = 1; }\n");
  CHECK_THAT(jitc::test::jitc({"lint", file}).err, !ContainsSubstring("nvcc"));
  write_file(file, "__global__ void k(int* p) { *p = q; }\n");
  CHECK_THAT(jitc::test::jitc({"lint", file}).err, !ContainsSubstring("nvcc"));
}

TEST_CASE("a text that is not PTX has findings") {
  const Folder folder;
  write_file(folder / "a.ptx", "int main() {}\n");
  const auto result = jitc::test::jitc({"lint", folder / "a.ptx"});
  CHECK(result.status == 1);
  CHECK_THAT(result.out, ContainsSubstring("a.ptx:1:1: error: syntax: "));
}

TEST_CASE("a file that lint cannot read gives exit code 3") {
  const Folder folder;
  const auto result = jitc::test::jitc({"lint", folder / "none.ptx"});
  CHECK(result.status == 3);
  CHECK_THAT(result.err, StartsWith("jitc: error: cannot read"));
}

TEST_CASE("wrong usage of jitc lint gives exit code 2") {
  const Folder folder;
  write_file(folder / "k.ptx", kernel);
  const std::string file = folder / "k.ptx";
  for (const std::vector<std::string>& arguments : {std::vector<std::string>{"lint"},
                                                    {"lint", "cpoy"},
                                                    {"lint", file, "--map", "0"},
                                                    {"lint", file, "--map", "0=bf16"},
                                                    {"lint", file, "--map", "0=bf17:8x8"},
                                                    {"lint", file, "--map", "0=f32:8x8:7B"},
                                                    {"lint", file, "--map", "0=f32:1x1x1x1x1x8"},
                                                    {"lint", file, "--box-bytes", "=5"},
                                                    {"lint", file, "--box-bytes", "0=5x"},
                                                    {"lint", file, "--box-bytes", "0=0"},
                                                    {"lint", "copy", "--box-bytes", "0=4096"},
                                                    {"lint", "copy", "--box", "8x8", "--axes", "1,0"},
                                                    {"lint", "copy", "--box", "3x3"}}) {
    const auto result = jitc::test::jitc(arguments);
    INFO(result.err);
    CHECK(result.status == 2);
    CHECK(result.out.empty());
    CHECK_THAT(result.err, StartsWith("jitc: error: "));
  }
}
