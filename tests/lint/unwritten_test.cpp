/// Reads of registers that no instruction has written: those with an effect are reported, similar correct
/// code is not.
#include "lint/support.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

// This namespace avoids clashes with names of other tests in the same unity build.
namespace unwritten_test {

using namespace tmajit;
using namespace tests;
using Catch::Matchers::ContainsSubstring;

/// Lints a body with %rd1: an address in global memory; %r1: thread index; %p1: whether it is 0. No other
/// register is written.
LintResult lint_body(const std::string& body) {
  return lint_ptx(
      entry(".reg .pred %p<9>;\n.reg .b32 %r<30>;\n.reg .b64 %rd<9>;\n.reg .f32 %f<9>;\n"
            ".shared .align 16 .b8 tile[1024];\n.local .align 4 .b8 mine[16];\n"
            "ld.param.u64 %rd1, [p];\nmov.u32 %r1, %tid.x;\nsetp.eq.u32 %p1, %r1, 0;\n" +
                body + "ret;\n",
            ".param .u64 p"));
}

void expect_finding(const std::string& body) {
  CAPTURE(body);
  CHECK(rules(lint_body(body)) == std::vector<std::string>{"register.uninitialised"});
}

void expect_clean(const std::string& body) {
  const LintResult result = lint_body(body);
  CAPTURE(body, result.report);
  CHECK(result.findings.empty());
  CHECK(result.unfinished.empty());
}

TEST_CASE("a read of a register that is never written is reported where the value has an effect") {
  expect_finding("st.global.u32 [%rd1], %r9;\n");
  expect_finding("st.global.u32 [%rd2], %r1;\n");
  expect_finding("ld.global.u32 %r2, [%rd2];\n");
  expect_finding("@%p2 st.shared.u32 [tile], %r1;\n");
  expect_finding("@%p2 bra L;\nst.shared.u32 [tile], %r1;\nL:\n");
  expect_finding("bar.sync 0, %r9;\n");
  expect_finding("red.global.add.u32 [%rd1], %r9;\n");
  expect_finding("shfl.sync.idx.b32 %r2, %r1, 0, 31, %r9;\n");
  expect_finding("mbarrier.init.shared.b64 [tile], %r9;\n");
  expect_finding(
      "wgmma.fence.sync.aligned;\nwgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {%f1, %f2, %f3, "
      "%f4}, %rd1, %rd2, 1, 1, 1, 0, 0;\n");
  // Under a guard. If it holds, the register is still unwritten.
  expect_finding("@%p1 st.global.u32 [%rd1], %r9;\n");
}

TEST_CASE("results computed from an uninitialised register are reported where they have an effect") {
  const std::string stored = "st.global.u32 [%rd1], %r2;\n";
  expect_finding("add.u32 %r2, %r9, 1;\n" + stored);
  expect_finding("and.b32 %r2, %r9, 31;\n" + stored);
  expect_finding("or.b32 %r2, %r9, 31;\n" + stored);
  expect_finding("mul.lo.u32 %r2, %r9, 4;\n" + stored);
  expect_finding("mad.lo.u32 %r2, %r9, 4, %r1;\n" + stored);
  expect_finding("mad.lo.u32 %r2, %r1, 4, %r9;\n" + stored);
  expect_finding("setp.lt.xor.u32 %p2, %r9, 4, %p1;\n@%p2 st.global.u32 [%rd1], 1;\n");
  expect_finding("selp.b32 %r2, %r8, %r9, %p1;\n" + stored);
  expect_finding("selp.b32 %r2, 1, 2, %p2;\n" + stored);
  expect_finding("prmt.b32 %r2, %r8, %r9, 0x5410;\n" + stored);
  expect_finding("shfl.sync.idx.b32 %r2, %r9, 0, 31, -1;\n" + stored);
  expect_finding("vote.sync.ballot.b32 %r2, %p2, -1;\n" + stored);
  expect_finding("@%p2 mov.u32 %r2, 1;\n" + stored);
  expect_finding("@%p1 add.u32 %r2, %r9, 1;\n" + stored);
  expect_finding("setp.gt.u32 %p3, %r9, 5;\n@%p3 st.global.u32 [%rd1], 1;\n");
  expect_finding(
      "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%f1, %f2, %f3, %f4}, {%r1, %r1, %r1, %r1}, "
      "{%r1, %r1}, {%f5, %f6, %f7, %f8};\nst.global.f32 [%rd1], %f1;\n");
  // In both branches, and in a loop that adds to an uninitialised register.
  expect_finding("@%p1 bra A;\nadd.u32 %r2, %r9, 1;\nbra B;\nA:\nadd.u32 %r2, %r9, 2;\nB:\n" + stored);
  expect_finding("L:\nadd.u32 %r2, %r2, 1;\nsetp.lt.u32 %p3, %r2, 10;\n@%p3 bra L;\n");
  expect_finding(
      "mov.u32 %r3, 0;\nL:\nadd.u32 %r2, %r2, %r1;\nadd.u32 %r3, %r3, 1;\nsetp.lt.u32 %p3, %r3, "
      "10;\n@%p3 bra L;\n" +
      stored);
}

TEST_CASE("registers that may have been written, or have no effect, are not reported") {
  const std::string stored = "st.global.u32 [%rd1], %r2;\n";
  // Written on some paths, or under some guard.
  expect_clean("@%p1 mov.u32 %r2, 1;\n" + stored);
  expect_clean("@%p1 bra A;\nmov.u32 %r2, 1;\nA:\n" + stored);
  expect_clean("L:\n@%p1 bra E;\nmov.u32 %r2, 1;\nbra L;\nE:\n" + stored);
  expect_clean("@!%p1 mov.u32 %r9, 1;\n@%p1 mov.u32 %r9, 2;\nadd.u32 %r2, %r9, 1;\n" + stored);
  expect_clean("@%p1 add.u32 %r2, %r9, 1;\n@!%p1 mov.u32 %r2, 1;\n" + stored);
  // Another operand may determine the result.
  expect_clean("selp.b32 %r2, %r1, %r9, %p1;\n" + stored);
  expect_clean("and.b32 %r2, %r9, %r1;\n" + stored);
  expect_clean("and.b32 %r2, %r9, 0;\n" + stored);
  expect_clean("or.b32 %r2, %r9, -1;\n" + stored);
  expect_clean("mul.lo.u32 %r2, %r9, %r1;\n" + stored);
  expect_clean("mad.lo.u32 %r2, %r9, %r1, 4;\n" + stored);
  expect_clean("slct.u32.s32 %r2, %r1, %r9, %r1;\n" + stored);
  expect_clean("lop3.b32 %r2, %r1, %r9, %r1, 0x80;\n" + stored);
  expect_clean("setp.lt.and.u32 %p2, %r9, 4, %p1;\n@%p2 st.global.u32 [%rd1], 1;\n");
  expect_clean("setp.gt.u32 %p3, %r9, 5;\nand.pred %p4, %p1, %p3;\n@%p4 st.global.u32 [%rd1], 1;\n");
  expect_clean("xor.b32 %r2, %r9, %r9;\n" + stored);
  expect_clean("sub.u32 %r2, %r9, %r9;\n" + stored);
  // Only a part of the value is uninitialised.
  expect_clean("mov.b64 %rd2, {%r1, %r9};\nst.global.u64 [%rd1], %rd2;\n");
  expect_clean("bfi.b32 %r2, %r1, %r9, 0, 8;\n" + stored);
  expect_clean("prmt.b32 %r2, %r1, %r9, 0x3210;\n" + stored);
  // The result is not used, or only copied.
  expect_clean("add.u32 %r2, %r9, 1;\n");
  expect_clean("shfl.sync.bfly.b32 %r2, %r9, 1, 31, -1;\n");
  expect_clean("st.shared.u32 [tile], %r9;\n");
  expect_clean("st.local.u32 [mine], %r9;\n@%p2 st.local.u32 [mine], %r1;\n");
  // An accumulator that the first product may ignore.
  expect_clean(
      "wgmma.fence.sync.aligned;\nwgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {%f1, %f2, %f3, "
      "%f4}, %rd1, %rd1, %p1, 1, 1, 0, 0;\nwgmma.commit_group.sync.aligned;\n"
      "wgmma.wait_group.sync.aligned 0;\nst.global.f32 [%rd1], %f1;\n");
  // In unreachable code.
  expect_clean("bra E;\nst.global.u32 [%rd1], %r9;\nE:\n");
}

TEST_CASE("the finding names the read and the instruction at which its value has an effect") {
  const LintResult result = lint_body(
      "add.u32 %r2, %r9, 1;\nmul.lo.u32 %r3, %r2, 3;\nst.global.u32 [%rd1], %r3;\n"
      "st.global.u32 [%rd1+4], %r2;\n");
  REQUIRE(result.findings.size() == 1);
  CHECK_THAT(result.findings[0].found,
             ContainsSubstring(
                 "%r9, which no instruction has written: a value computed from it is stored to global"));
  CHECK(result.findings[0].instruction.find("add.u32") != std::string::npos);
}

TEST_CASE("an uninitialised pointer of an indirect call is reported, uninitialised arguments are not") {
  const auto call = [](const std::string& before) {
    return rules(lint_ptx(entry(".reg .b64 %rd<3>;\n.reg .b32 %r<3>;\n" + before +
                                    "{\n.param .b32 a;\nst.param.b32 [a], %r1;\n"
                                    "P: .callprototype () _ (.param .b32 a);\ncall %rd1, (a), P;\n}\nret;\n",
                                {}, ".func f(.param .b32 a)\n{\nret;\n}\n")));
  };
  CHECK(call("mov.u64 %rd1, f;\n").empty());
  CHECK(call("") == std::vector<std::string>{"register.uninitialised"});
}

TEST_CASE("parameters of functions in registers count as written") {
  const std::string function =
      ".func (.reg .b32 out) f(.reg .b32 in, .reg .b64 to)\n{\n.reg .b32 %r<3>;\nadd.u32 %r1, in, 1;\n"
      "st.global.u32 [to], %r1;\nmov.u32 out, %r1;\nret;\n}\n";
  CHECK(lint_ptx(entry("ret;", {}, function)).findings.empty());
}

TEST_CASE("the check gives up, and is named, if values move through too many registers in a loop") {
  // Each iteration copies the uninitialised value to the next register.
  std::string body = ".reg .b32 %s<4001>;\n";
  for (int i = 0; i < 4000; ++i) body += "mov.u32 %s" + std::to_string(i) + ", 0;\n";
  body += "L:\n";
  for (int i = 0; i < 4000; ++i)
    body += "mov.u32 %s" + std::to_string(i) + ", %s" + std::to_string(i + 1) + ";\n";
  body += "setp.lt.u32 %p3, %s0, 7;\n@%p3 bra L;\n";
  const LintResult result = lint_body(body);
  CHECK(result.findings.empty());
  CHECK(result.unfinished == std::vector<std::string>{"k: register.uninitialised"});
}

}  // namespace unwritten_test
