#include "subprocess.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

using namespace jitc::test;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::StartsWith;

TEST_CASE("the help of every command has a description and examples") {
  const auto command = GENERATE(values<std::vector<std::string>>({{},
                                                                  {"source"},
                                                                  {"ptx"},
                                                                  {"sass"},
                                                                  {"cubin"},
                                                                  {"run"},
                                                                  {"explain"},
                                                                  {"tune"},
                                                                  {"validate"},
                                                                  {"lint"},
                                                                  {"layout"},
                                                                  {"cache"},
                                                                  {"cache", "stat"},
                                                                  {"cache", "ls"},
                                                                  {"cache", "verify"},
                                                                  {"cache", "trim"},
                                                                  {"cache", "clear"},
                                                                  {"key"},
                                                                  {"completions"},
                                                                  {"man"},
                                                                  {"doctor"}}));
  auto arguments = command;
  arguments.emplace_back("--help");
  const auto result = jitc::test::jitc(arguments);
  CHECK(result.status == 0);
  CHECK(result.err.empty());
  CHECK_THAT(result.out,
             ContainsSubstring("Usage: ") && ContainsSubstring("Example") && ContainsSubstring("  jitc "));
  CHECK_THAT(result.out, !ContainsSubstring("\x1b"));
}

TEST_CASE("the help of a kernel's command names every option") {
  const auto help = jitc::test::jitc({"run", "--help"}).out;
  for (const auto* option : {"--dtype",
                             "--out-dtype",
                             "--shape",
                             "--strides",
                             "--out-strides",
                             "--box",
                             "--element-strides",
                             "--swizzle",
                             "--interleave",
                             "--l2",
                             "--oob",
                             "--stages",
                             "--output-stages",
                             "--warps",
                             "--expr",
                             "--in ",
                             "--out ",
                             "--device",
                             "--arch",
                             "--line-info",
                             "--no-line-info",
                             "--json",
                             "--cache-dir",
                             "--no-cache",
                             "--repeat",
                             "--inputs",
                             "--log-level",
                             "--axes",
                             "--slice",
                             "--flip",
                             "--broadcast",
                             "--pad ",
                             "--pad-value",
                             "--axis ",
                             "--parts",
                             "--offset",
                             "--out-offset",
                             "--check",
                             "--seed",
                             "--ctas-per-sm"}) {
    INFO(option);
    CHECK_THAT(help, ContainsSubstring(option));
  }
}

TEST_CASE("jitc --version prints the versions") {
  const auto result = jitc::test::jitc({"--version"});
  CHECK(result.status == 0);
  CHECK_THAT(result.out, StartsWith("jitc "));
}

TEST_CASE("wrong usage is one error on standard error and exit code 2") {
  struct Wrong {
    std::vector<std::string> arguments;
    const char* says;
  };
  const auto wrong = GENERATE(values<Wrong>({
      {{}, "source, ptx"},
      {{"frobnicate"}, "frobnicate"},
      {{"source"}, "OPERATION"},
      {{"source", "reduze"}, "copy, permute"},
      {{"source", "copy", "--frob"}, "--frob"},
      {{"source", "copy", "--dtype", "f31"}, "f31"},
      {{"source", "copy", "--dtype", "f32,f32,f32"}, "--dtype names 3 types"},
      {{"source", "copy", "--box", "1e3"}, "--box 1e3"},
      {{"source", "copy", "--plan"}, "--plan"},
      {{"source", "copy", "--box", "64x"}, "--box 64x"},
      {{"source", "copy", "--box", "99999999999x1"}, "box[0] is 99999999999"},
      {{"source", "copy", "--shape", "1x1x1x1x1x1x1x1x1"}, "9 numbers"},
      {{"source", "copy", "--shape", "64x64", "--box", "64"}, "box"},
      {{"source", "copy", "--shape", "64x64", "--strides", "64"}, "--strides 64 has 1 number,"},
      {{"source", "copy", "--swizzle", "96B"}, "128B"},
      {{"source", "copy", "--interleave", "64B"}, "64B"},
      {{"source", "bulk", "--l2", "1"}, "256B"},
      {{"source", "copy", "--oob", "one"}, "nan"},
      {{"source", "copy", "--stages", "many"}, "many"},
      {{"source", "copy", "--stages", "-1"}, "-1"},
      {{"source", "copy", "--arch", "sm_100"}, "sm_90a"},
      {{"source", "copy", "--expr", "x"}, "takes no --expr"},
      {{"source", "map"}, "needs --expr"},
      {{"source", "map", "--expr", "x0+x3", "--inputs", "2"}, "reads x3"},
      {{"source", "map", "--expr", "x", "--inputs", "9"}, "at most 8 inputs"},
      {{"source", "bulk", "--expr", "x", "--inputs", "2"}, "takes one input"},
      {{"source", "copy", "--cache-dir", "/tmp", "--no-cache"}, "--no-cache"},
      {{"source", "copy", "--log-level", "loud"}, "loud"},
      {{"run", "copy"}, "--in"},
      {{"run", "copy", "--in", "a.npy", "--repeat", "0"}, "--repeat"},
      {{"cache"}, "stat, ls, verify, trim, clear"},
      {{"cache", "frobnicate"}, "frobnicate"},
      {{"doctor", "now"}, "now"},
  }));
  const auto result = jitc::test::jitc(wrong.arguments);
  INFO(result.err);
  CHECK(result.status == 2);
  CHECK(result.out.empty());
  CHECK_THAT(result.err, StartsWith("jitc: error: ") && ContainsSubstring(wrong.says));
  CHECK_THAT(result.err, !ContainsSubstring("\x1b"));

  if (wrong.arguments.empty()) return;  // jitc itself has no --json
  const auto json = jitc_json(wrong.arguments, 2);
  CHECK(json.at("error").at("code") == "invalid_argument");
  CHECK_THAT(json.at("error").at("message").get<std::string>(), ContainsSubstring(wrong.says));
}

TEST_CASE("an illegal tile is refused with every rule that it breaks") {
  const std::vector<std::string> arguments{"ptx", "copy",    "--shape", "10x10",    "--box",
                                           "3x3", "--dtype", "i32",     "--stages", "200"};
  const auto result = jitc::test::jitc(arguments);
  CHECK(result.status == 2);
  CHECK(result.out.empty());
  CHECK_THAT(result.err, StartsWith("jitc: error: ") && ContainsSubstring("box.inner-bytes") &&
                             ContainsSubstring("strides.multiple") && ContainsSubstring("stages.range"));
  const auto error = jitc_json(arguments, 2).at("error");
  CHECK(error.at("code") == "illegal_spec");
  REQUIRE(error.at("violations").size() == 5);
  for (const auto& violation : error.at("violations")) {
    for (const auto* field : {"rule", "subject", "found", "need", "legal", "source"}) {
      CHECK_FALSE(violation.at(field).get<std::string>().empty());
    }
  }
}

TEST_CASE("an expression that does not compile is shown with a caret under the error: exit code 3") {
  const auto result = jitc::test::jitc({"ptx", "map", "--expr", "x * 2 + wrong"});
  INFO(result.err);
  CHECK(result.status == 3);
  CHECK(result.out.empty());
  CHECK_THAT(result.err, ContainsSubstring("\"wrong\" is undefined"));
  // The caret is in the line after the quoted expression, under the beginning of the wrong word.
  const auto quoted = result.err.find("x * 2 + wrong");
  REQUIRE(quoted != std::string::npos);
  const auto line = result.err.rfind('\n', quoted) + 1;
  const auto next = result.err.find('\n', quoted) + 1;
  CHECK(result.err.find('^', next) - next == quoted - line + std::string("x * 2 + ").size());
  CHECK(jitc_json({"ptx", "map", "--expr", "x * 2 + wrong"}, 3).at("error").at("code") == "compile_failed");
}

TEST_CASE("the library's log is printed to standard error, only with --log-level") {
  const auto quiet = jitc::test::jitc({"cubin", "copy", "--box", "32x64", "--no-cache", "-o", "/dev/null"});
  CHECK(quiet.status == 0);
  const auto loud = jitc::test::jitc(
      {"cubin", "copy", "--box", "32x64", "--no-cache", "-o", "/dev/null", "--log-level", "trace"});
  CHECK(loud.status == 0);
  CHECK(loud.out.empty());
  CHECK(loud.err.size() > quiet.err.size());
}

TEST_CASE("a terminal gets no binary data, and colours unless $NO_COLOR is set") {
  const auto script = find_program("script");
  if (script.empty()) SKIP("no script(1) to make a terminal with");
  const auto at_terminal = [&](const std::string& command) {
    return jitc::run_process(script, {"-qec", command, "/dev/null"});
  };
  const std::string program = JITC_PROGRAM;
  const auto cubin = at_terminal(program + " cubin copy --box 32x64 --no-cache");
  CHECK(cubin.status == 2);
  CHECK_THAT(cubin.out,
             ContainsSubstring("terminal") && ContainsSubstring("-o") && ContainsSubstring("\x1b[31m"));
  CHECK_THAT(cubin.out, !ContainsSubstring("ELF"));
  const auto plain = at_terminal("NO_COLOR=1 " + program + " cubin copy --box 32x64 --no-cache");
  CHECK(plain.status == 2);
  CHECK_THAT(plain.out, !ContainsSubstring("\x1b[31m"));
}
