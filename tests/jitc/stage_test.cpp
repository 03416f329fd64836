#include "subprocess.hpp"

#include <tmajit/machine/sass.hpp>

#include <algorithm>

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/generators/catch_generators_range.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

using namespace jitc::test;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::StartsWith;

namespace {

/// Arguments for a kernel of each family that accepts the caller's tile.
const std::vector<std::vector<std::string>> families{
    {"copy", "--shape", "300x256", "--dtype", "bf16", "--box", "64x64", "--swizzle", "128B"},
    {"map", "--expr", "x0 * x1 + t[0]", "--dtype", "f32,f16,f16"},
    {"bulk", "--expr", "x + 1", "--dtype", "i32"},
    {"snapshot", "--shape", "64x64", "--box", "8x32", "--swizzle", "32B", "--dtype", "u8"},
};

std::vector<std::string> command(const std::string& stage, const std::vector<std::string>& kernel,
                                 const std::vector<std::string>& more = {}) {
  return std::vector{stage} + kernel + more;
}

}  // namespace

TEST_CASE("a concat of many parts has a single kernel, which jitc source shows") {
  std::string parts = "1";
  for (int i = 1; i < 300; ++i) parts += ",1";
  const auto shown = jitc_json({"source", "concat", "--axis", "0", "--parts", parts, "--shape", "1x64"});
  CHECK(shown["steps"] == 1);
  CHECK(shown["spec"]["family"] == "ragged");
}

TEST_CASE("source, ptx and cubin print the bytes that -o writes to a file") {
  const auto kernel = GENERATE(from_range(families));
  const auto* const stage = GENERATE("source", "ptx", "cubin");
  const Folder folder;
  const auto printed = jitc::test::jitc(command(stage, kernel));
  INFO(printed.err);
  REQUIRE(printed.status == 0);
  CHECK(printed.err.empty());
  const auto written = jitc::test::jitc(command(stage, kernel, {"-o", folder / "kernel"}));
  REQUIRE(written.status == 0);
  CHECK(written.out.empty());
  CHECK_THAT(written.err,
             StartsWith(stage) && !ContainsSubstring(" 0 bytes,") && !ContainsSubstring("in 0 bytes"));
  CHECK(read_file(folder / "kernel") == printed.out);
  CHECK(folder.names() == std::vector<std::string>{"kernel"});
  if (stage == std::string("ptx")) {
    CHECK_THAT(printed.out, ContainsSubstring(".target sm_90a") &&
                                ContainsSubstring(".entry tmajit_" + kernel[0]) &&
                                ContainsSubstring("cp.async.bulk"));
  }
  if (stage == std::string("cubin"))
    CHECK_THAT(printed.out, StartsWith("\x7f"
                                       "ELF"));
  if (stage == std::string("source")) {
    CHECK_THAT(printed.out, ContainsSubstring("tmajit_" + kernel[0]) && !ContainsSubstring("#include"));
  }
}

TEST_CASE("jitc sass prints the cubin's machine code") {
  if (!tmajit::find_nvdisasm()) SKIP("no nvdisasm: " << tmajit::nvdisasm_remedy());
  const auto result = jitc::test::jitc({"sass", "copy", "--box", "32x64"});
  INFO(result.err);
  CHECK(result.status == 0);
  CHECK_THAT(result.out, ContainsSubstring("UTMALDG.2D") && ContainsSubstring("UTMASTG.2D"));
}

TEST_CASE("jitc sass without nvdisasm is an error with a remedy") {
  const auto result = jitc::test::jitc({"sass", "copy", "--box", "32x64"},
                                       {.environment = {"TMAJIT_NVDISASM=/nonexistent/nvdisasm"}});
  CHECK(result.status == 3);
  CHECK(result.out.empty());
  CHECK_THAT(result.err, StartsWith("jitc: error: ") && ContainsSubstring("TMAJIT_NVDISASM"));
}

TEST_CASE("if nvdisasm fails, its own message is shown") {
  const auto result =
      jitc::test::jitc({"sass", "copy", "--box", "32x64"},
                       {.environment = {"TMAJIT_NVDISASM=" + find_program("false").string()}});
  CHECK(result.status == 3);
  CHECK_THAT(result.err, ContainsSubstring("failed with status 1"));
}

TEST_CASE("the JSON of a stage has the spec, the key, milliseconds, cache level and resources") {
  const Folder cache;
  const std::vector<std::string> arguments{"cubin", "map",   "--expr", "x0+x1",       "--dtype",
                                           "f16",   "--box", "16x64",  "--cache-dir", cache.path().string()};
  const auto first = jitc_json(arguments);
  CHECK(first.at("cache") == "compiled");
  CHECK(first.at("milliseconds").at("compile").get<double>() > 0);
  CHECK(first.at("key").get<std::string>().size() == 64);
  CHECK(first.at("registers").get<int>() > 0);
  CHECK(first.at("spills") == nlohmann::json{{"store_bytes", 0}, {"load_bytes", 0}});
  CHECK(first.at("barriers").get<int>() >= 1);
  CHECK(first.at("threads").get<int>() >= 64);
  const auto& spec = first.at("spec");
  CHECK(spec.at("family") == "map");
  CHECK(spec.at("key").get<std::string>().size() == 16);
  CHECK(spec.at("tile") == std::vector<int>{16, 64});
  CHECK(spec.at("expression") == "x0+x1");
  CHECK(first.at("tensors").size() == 3);
  CHECK(first.at("tensors")[2].at("type") == "f16");
  // Two inputs and one output of 16×64 halves, at least two stages each.
  CHECK(first.at("shared_memory").at("dynamic_bytes").get<int>() >= 3 * 2 * 16 * 64 * 2);
  CHECK(spec.at("launch").at("shared_bytes") == first.at("shared_memory").at("dynamic_bytes"));
  const auto& parameters = spec.at("parameters");
  CHECK(std::count_if(parameters.begin(), parameters.end(),
                      [](const auto& parameter) { return parameter.contains("map_of"); }) == 3);

  const auto second = jitc_json(arguments);
  CHECK(second.at("cache") == "disk");
  CHECK(second.at("key") == first.at("key"));
  CHECK(second.at("milliseconds").at("compile") == 0.0);
  CHECK(second.at("registers") == first.at("registers"));
}

TEST_CASE("jitc source --json has the source text and the key of the compiled kernel") {
  const auto source = jitc_json({"source", "copy", "--dtype", "u16", "--box", "64x64"});
  const auto ptx = jitc_json({"ptx", "copy", "--dtype", "u16", "--box", "64x64"});
  CHECK(source.at("key") == ptx.at("key"));
  CHECK_THAT(source.at("text").get<std::string>(), ContainsSubstring("tmajit_copy"));
  CHECK_THAT(ptx.at("text").get<std::string>(), ContainsSubstring(".entry tmajit_copy"));
}

TEST_CASE("option --no-cache stores nothing in the cache") {
  const Folder cache;
  const auto result = jitc::test::jitc({"cubin", "copy", "--no-cache", "--json"},
                                       {.environment = {"TMAJIT_CACHE_DIR=" + cache.path().string()}});
  REQUIRE(result.status == 0);
  CHECK(nlohmann::json::parse(result.out).at("cache") == "compiled");
  CHECK(cache.names().empty());
}

TEST_CASE("the cubin has line information unless --no-line-info is given") {
  const auto with = jitc_json({"cubin", "copy"});
  const auto without = jitc_json({"cubin", "copy", "--no-line-info"});
  CHECK(with.at("cubin_bytes").get<int>() > without.at("cubin_bytes").get<int>());
  CHECK(with.at("key") != without.at("key"));
}

TEST_CASE("nvcc compiles the output of jitc source unchanged") {
  const auto nvcc = find_program("nvcc");
  if (nvcc.empty()) SKIP("no nvcc on $PATH");
  const auto kernel = GENERATE(from_range(families));
  const Folder folder;
  REQUIRE(jitc::test::jitc(command("source", kernel, {"-o", folder / "kernel.cu"})).status == 0);
  // An installed nvcc may lack the host headers that it always includes. Then this test cannot run.
  write_file(folder / "empty.cu", "");
  const auto compile = [&](const char* name) {
    return jitc::run_process(nvcc, {"-arch=sm_90a", "-cubin", "-o", folder / "out.cubin", folder / name});
  };
  if (const auto probe = compile("empty.cu"); probe.status != 0)
    SKIP("nvcc cannot compile an empty file: " << probe.err);
  const auto result = compile("kernel.cu");
  INFO(result.err);
  CHECK(result.status == 0);
}
