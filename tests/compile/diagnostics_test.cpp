#include "compile/diagnostics.hpp"

#include "compile/sources.hpp"

#include <tmajit/compile.hpp>
#include <tmajit/error.hpp>

#include <random>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

using namespace tmajit;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::StartsWith;
using tests::kernel_source;
using tests::message_of;

namespace {

constexpr std::string_view odd_log =
    "kernel(3): warning #39-D: division by zero\n"
    "  o[1 / 0] = 1;\n"
    "      ^\n"
    "\n"
    "my (odd) label(12): error #20-D: identifier \"y): error: z\" is undefined\n"
    "            argument types are: (float)\n"
    "  \to[0] = y;\n"
    "  \t       ^\n"
    "          detected during instantiation of \"T f(T) [with T=float]\" at line 16 of kernel\n"
    "\n"
    "kernel(4): catastrophic error: cannot open source file \"nothere.h\"\n"
    "\n"
    "ptxas error   : Entry function 'k' uses too much shared data (0x10000 bytes, 0xc000 max)\n"
    "ptxas application ptx input, line 4; error   : Unknown modifier '.instr'\n"
    "ptxas fatal   : Ptx assembly aborted due to errors\n";

constexpr std::string_view ptx =
    ".entry k(\n"
    "{\n"
    "  .loc\t2 41 7, function_name x, inlined_at 1 2 3\n"
    "\tbogus.instr %f1;\n"
    "  .file 1 \"/somewhere/a\"\n"
    "  .file\t2 \"/somewhere/kernel\"\n";

}  // namespace

TEST_CASE("errors of every kind are parsed, warnings are ignored") {
  const auto errors = parse_log(odd_log, ptx);
  REQUIRE(errors.size() == 4);

  CHECK(errors[0].file == "my (odd) label");
  CHECK(errors[0].line == 12);
  CHECK(errors[0].message == "identifier \"y): error: z\" is undefined; argument types are: (float)");
  CHECK(errors[0].excerpt == "\to[0] = y;");
  CHECK(errors[0].offset == 8);

  CHECK(errors[1].file == "kernel");
  CHECK(errors[1].line == 4);
  CHECK_FALSE(errors[1].excerpt);

  CHECK(errors[2].file.empty());
  CHECK_THAT(errors[2].message, StartsWith("Entry function 'k' uses too much shared data"));

  CHECK(errors[3].stage == Diagnostic::Stage::assembler);
  CHECK(errors[3].file == "kernel");
  CHECK(errors[3].line == 41);
  CHECK(errors[3].message == "Unknown modifier '.instr'");
  CHECK(errors[3].excerpt == "bogus.instr %f1;");
}

TEST_CASE("a ptxas error without source line shows the PTX line") {
  const auto errors = parse_log("ptxas application ptx input, line 2; error   : Bad\n", ".entry k()\nbad;\n");
  REQUIRE(errors.size() == 1);
  CHECK(errors[0].file == "ptx");
  CHECK(errors[0].line == 2);
  CHECK(errors[0].excerpt == "bad;");
}

TEST_CASE("a repeated error is reported once") {
  const std::string once = "expression(1): error: bad\n  x + y\n      ^\n\n";
  CHECK(parse_log(once + once, "").size() == 1);
}

TEST_CASE("a log without recognised errors is shown unchanged") {
  CHECK(explain("something else\n", "", "k", "") ==
        "kernel \"k\" does not compile; NVRTC says:\nsomething else");
}

TEST_CASE("an error of ptxas is attributed to the kernel, not to the expression") {
  const auto text =
      explain("ptxas error   : Entry function 'k' uses too much shared data\n", "", "k", "x + 1");
  CHECK_THAT(text, StartsWith("kernel \"k\" does not compile") && !ContainsSubstring("x + 1"));
}

TEST_CASE("an error in a user's kernel shows the user's file, line and text") {
  CHECK(message_of<CompileError>([] {
          (void)compile(
              kernel_source("extern \"C\" __global__ void k(float* o) {\n  o[0] = gg(1);\n}\n", "mine.cu"));
        }) ==
        "kernel \"k\" does not compile\nmine.cu:2: error: identifier \"gg\" is undefined\n"
        "    o[0] = gg(1);\n           ^");
}

TEST_CASE("an error in inline PTX names the source line of the asm statement") {
  const auto message = message_of<CompileError>([] {
    (void)compile(
        kernel_source("extern \"C\" __global__ void k(float* o) {\n"
                      "  o[1] = 2;\n"
                      "  asm volatile(\"bogus.instr %0;\" ::\"f\"(o[0]));\n}\n",
                      "mine.cu"));
  });
  CHECK_THAT(message, StartsWith("kernel \"k\" does not compile\nmine.cu:3: error: "));
  CHECK_THAT(message, ContainsSubstring("\n  bogus.instr"));
  CHECK_THAT(message, !ContainsSubstring("aborted"));
}

TEST_CASE("too much shared memory is reported") {
  const auto message = message_of<CompileError>([] {
    (void)compile(
        kernel_source("extern \"C\" __global__ void k(float* o) { __shared__ float s[99999];\n"
                      "s[threadIdx.x] = o[0]; __syncthreads(); o[1] = s[o[0] > 0]; }\n"));
  });
  CHECK_THAT(message, ContainsSubstring("too much shared data"));
}

TEST_CASE("randomly damaged logs do not crash the parser") {
  std::mt19937 random(7);
  for (int i = 0; i < 5000; ++i) {
    std::string text(odd_log);
    std::string code(ptx);
    for (auto n = random() % 12; n > 0; --n) {
      auto& target = random() % 2 == 0 ? text : code;
      const auto at = random() % target.size();
      switch (random() % 3) {
        case 0: target[at] = static_cast<char>(random()); break;
        case 1: target.erase(at, random() % 9); break;
        default: target.insert(at, target.substr(random() % target.size(), random() % 40));
      }
      if (target.empty()) target.push_back('(');
    }
    REQUIRE_FALSE(explain(text, code, "k", "x + y").empty());
    REQUIRE_FALSE(explain(text, code, "k", "").empty());
  }
}
