#include <tmajit/codegen.hpp>
#include <tmajit/compile.hpp>
#include <tmajit/error.hpp>

#include <string>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

using namespace tmajit;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::MessageMatches;

TEST_CASE("a custom source gets the headers it names, each once, before its own first line") {
  const Source source = custom_source(
      "#include \"tmajit/bulk.cuh\"\n#include \"tmajit/mbarrier.cuh\"\n#include \"tmajit/bulk.cuh\"\n"
      "extern \"C\" __global__ void k() {}\n",
      "k", "mine");
  CHECK(source.entry == "k");
  CHECK(source.expression.empty());
  CHECK(source.text.find("---- tmajit/bulk.cuh ----") == source.text.rfind("---- tmajit/bulk.cuh ----"));
  CHECK(source.text.find("---- tmajit/types.cuh ----") < source.text.find("---- tmajit/bulk.cuh ----"));
  CHECK_THAT(source.text, ContainsSubstring("#line 1 \"mine\"\n\n\n\nextern \"C\""));
  CHECK_NOTHROW(compile(source));
}

TEST_CASE("the error for an unknown header lists the known headers") {
  CHECK_THROWS_MATCHES(
      custom_source("#include \"tmajit/nothing.cuh\"\n", "k"), Error,
      MessageMatches(ContainsSubstring("nothing.cuh") && ContainsSubstring("tmajit/mbarrier.cuh")));
}

TEST_CASE("a mistake in a custom source is reported with its line in the caller's text") {
  const Source source = custom_source(
      "#include \"tmajit/mbarrier.cuh\"\n\nextern \"C\" __global__ void k() {\n  undeclared = 1;\n}\n", "k",
      "mine");
  CHECK_THROWS_MATCHES(
      compile(source), CompileError,
      MessageMatches(ContainsSubstring("mine") && ContainsSubstring("4") && ContainsSubstring("undeclared")));
}

TEST_CASE("every device header compiles on its own") {
  for (const auto& [name, text] : device_headers()) {
    INFO(name);
    CHECK(!text.empty());
    CHECK_NOTHROW(
        compile(custom_source("#include \"" + name + "\"\nextern \"C\" __global__ void k() {}\n", "k")));
  }
}

TEST_CASE("the texts of the device headers contain no directives and no repetitions") {
  for (const auto& [name, text] : device_headers()) {
    INFO(name);
    CHECK_THAT(text, ContainsSubstring("#pragma once"));
    CHECK_THAT(text, !ContainsSubstring("//@"));
    CHECK_THAT(text, !ContainsSubstring("$"));
  }
}

TEST_CASE("every wrapper of the device headers names its PTX version and architecture") {
  for (const auto& [name, text] : device_headers()) {
    if (text.find("asm") == std::string::npos) continue;
    INFO(name);
    CHECK_THAT(text, ContainsSubstring("PTX ISA"));
    CHECK_THAT(text, ContainsSubstring("sm_"));
  }
}
