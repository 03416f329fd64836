#include "ptx/texts.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

using namespace tmajit::ptx;
using Catch::Matchers::ContainsSubstring;
using tests::error_of;
using tests::kernel;

TEST_CASE("an error message shows the faulty line with a caret below the error") {
  const auto result = parse(kernel("  .frob %r1, %r2;\n"), "k.ptx");
  REQUIRE_FALSE(result);
  CHECK(result.report ==
        "k.ptx:6:3: error: unknown directive '.frob'\n"
        "  .frob %r1, %r2;\n"
        "  ^\n");
  REQUIRE(result.diagnostics.size() == 1);
  CHECK(result.diagnostics[0].location.line == 6);
  CHECK(result.diagnostics[0].location.column == 3);
}

TEST_CASE("the fault of an unknown instruction says whether the opcode, a modifier or an operand is wrong") {
  CHECK(error_of(kernel("frobnicate.b32 %r1;")) == "unknown instruction 'frobnicate'");
  CHECK_THAT(error_of(kernel("cp.async.bulk.tensor.6d.global.shared::cta.bulk_group [%rd1, {%r1}], [%r2];")),
             ContainsSubstring("'cp' takes no '.6d' here; it takes: .1d, .2d, .3d, .4d, .5d"));
  CHECK_THAT(error_of(kernel("fence.proxy.asink;")), ContainsSubstring("'fence' takes no '.asink' here"));
  CHECK_THAT(error_of(kernel("ld.global %r1, [%rd1];")), ContainsSubstring("lacks a modifier after this"));
  CHECK_THAT(error_of(kernel("ld.global.u32 %r1, %rd1;")),
             ContainsSubstring("operand 2 of 'ld.global.u32' should be: an address"));
  CHECK_THAT(error_of(kernel("cp.async.bulk.wait_group %r1;")), ContainsSubstring("a literal"));
}

TEST_CASE("a PTX text may end with a null character, which is illegal elsewhere") {
  using namespace std::string_literals;
  const std::string text = kernel("ret;\n");
  REQUIRE(parse(text + "\0"s));
  CHECK((*parse(text + "\0\0"s).module == *parse(text).module));
  CHECK(error_of(kernel("ret;\0\n"s)) == "unexpected byte 0x0");
}

TEST_CASE("an error in an operand is reported at the operand's line, not at the instruction's") {
  const Instruction instruction = tests::instruction("ld.global.u32\n    %r1,\n  %rd1;");
  CHECK(instruction.opcode == Opcode::unknown);
  CHECK(instruction.fault_location.line == 8);
  CHECK(instruction.fault_location.column == 3);
}

TEST_CASE("an unknown instruction stays in the tree and is printed unchanged") {
  const auto same = [](const std::string& text, const std::string& fault) {
    CAPTURE(text);
    const Instruction instruction = tests::instruction(text);
    CHECK(instruction.opcode == Opcode::unknown);
    CHECK(print(instruction) == text);
    CHECK((tests::instruction(print(instruction)) == instruction));
    CHECK_THAT(instruction.fault, ContainsSubstring(fault));
  };
  same("frobnicate.u32 %r1, [%rd1+4];", "unknown instruction 'frobnicate'");
  same("@!%p1 frobnicate.u32 %r1;", "unknown instruction 'frobnicate'");
  same("add.s32 %r1, %r2;", "'add.s32' lacks operand 3");
  // Operands that match no syntax.
  same("add.s32 %r1, [%r2;", "expected ']'");
  same("frobnicate.u32 {%r1, {%r2}}, (%r3)+4 = 5;", "expected");
  const auto module = tests::parse(kernel("frobnicate.u32 {%r1, {%r2}}, -%r3;\nret;"));
  CHECK((tests::parse(print(module)) == module));
  // The block's closing brace is not read as an operand.
  CHECK(error_of(kernel("add.s32 %r1, [")) == "expected an address, found '}'");
}

TEST_CASE("after an error the parser continues with the next statement") {
  const auto result =
      parse(kernel(".foo;\nadd.s32 %r1, %r2, 3;\n.bar2 {%r1};\n.frob 3;\nld.u32 %r1, [%r2];\n.baz;"));
  REQUIRE_FALSE(result);
  std::vector<std::uint32_t> lines;
  for (const auto& diagnostic : result.diagnostics) lines.push_back(diagnostic.location.line);
  CHECK(lines == std::vector<std::uint32_t>{6, 8, 9, 11});
}

TEST_CASE("the parser stops after 20 errors") {
  std::string body;
  for (int i = 0; i < 100; ++i) body += ".foo;\n";
  CHECK(parse(kernel(body)).diagnostics.size() == 20);
}

TEST_CASE("incomplete and too deeply nested text is refused") {
  CHECK(error_of(tests::header + ".entry k() { ret;") == "this block is never closed with '}'");
  CHECK(error_of("/* never closed") == "this comment is never closed with */");
  CHECK(error_of(tests::header + ".file 1 \"never closed") == "this string is never closed with \"");
  CHECK(error_of(kernel("add.s32 %r1, %r2, 3")) == "expected ',' or ';', found '}'");
  CHECK(error_of(kernel(std::string(100000, '{'))) == "blocks nest too deeply");
  CHECK(error_of(tests::header + ".global .u32 x = " + std::string(100000, '{')) ==
        "initialisers nest too deeply");
  CHECK(error_of(kernel("`")) == "unexpected character '`'");
  CHECK(error_of(kernel("\x01")) == "unexpected byte 0x1");
  CHECK(error_of(kernel(".reg .b32 %r<4294967296>;")) == "a declaration makes fewer than 2^32 registers");
}

TEST_CASE("truncated PTX from nvcc is parsed or refused without a crash") {
  const std::string text = tests::read_data("asynchronous.ptx");
  for (std::size_t length = 0; length < text.size(); length += 7) {
    const auto result = parse(std::string_view(text).substr(0, length));
    CHECK((result || !result.report.empty()));
  }
}
