/// Rules of matrix products (wgmma), setmaxnreg and tensormap.replace, and similar correct code.
#include "lint/support.hpp"

#include <algorithm>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

using namespace tmajit;
using namespace tests;
using Catch::Matchers::ContainsSubstring;

namespace {

using Rules = std::vector<std::string>;

LintResult result_of(const std::string& body) {
  return lint_ptx(
      entry(".reg .pred %p<3>;\n.reg .b32 %d<5>;\n.reg .b32 %r<9>;\n.reg .b64 %rd<9>;\n"
            "ld.param.u64 %rd1, [p];\nmov.u64 %rd2, %rd1;\nmov.u32 %r1, %tid.x;\nsetp.eq.u32 %p1, %r1, 0;\n"
            "setp.eq.u32 %p2, %r1, 1;\n" +
                body,
            ".param .u64 p"));
}
Rules warpgroup_rules(const std::string& body) {
  return rules(result_of(body));
}

const std::string fence_wgmma = "wgmma.fence.sync.aligned;\n";
const std::string product =
    "wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {%d0, %d1, %d2, %d3}, %rd1, %rd2, %p1, 1, 1, 0, "
    "0;\n";
const std::string commit_wgmma = "wgmma.commit_group.sync.aligned;\n";
const std::string wait = "wgmma.wait_group.sync.aligned 0;\n";
const std::string use = "add.u32 %r1, %d0, %d1;\n";  // reads accumulators
const std::string set = "xor.b32 %d2, %d2, 1;\n";    // writes an accumulator

}  // namespace

TEST_CASE("registers of a wgmma must not be accessed between wgmma.fence and the wait for the product") {
  CHECK(warpgroup_rules(set + fence_wgmma + product + product + commit_wgmma + wait + use + "ret;").empty());
  CHECK(warpgroup_rules(set + fence_wgmma + product + commit_wgmma + product + commit_wgmma +
                        "wgmma.wait_group.sync.aligned 1;\n" + wait + use + "ret;")
            .empty());
  CHECK(warpgroup_rules(product + commit_wgmma + wait + "ret;") == Rules{"wgmma.missing-fence"});
  CHECK(warpgroup_rules(fence_wgmma + set + product + commit_wgmma + wait + "ret;") ==
        Rules{"wgmma.missing-fence"});
  CHECK(warpgroup_rules(fence_wgmma + product + commit_wgmma + wait + use + product + commit_wgmma + wait +
                        "ret;") == Rules{"wgmma.missing-fence"});
  CHECK(warpgroup_rules(fence_wgmma + product + commit_wgmma + use + wait + "ret;") ==
        Rules{"wgmma.register-in-flight"});
  CHECK(warpgroup_rules(fence_wgmma + product + wait + use + "ret;") == Rules{"wgmma.register-in-flight"});
  CHECK(warpgroup_rules(fence_wgmma + product + commit_wgmma + "wgmma.wait_group.sync.aligned 1;\n" + use +
                        "ret;") == Rules{"wgmma.register-in-flight"});
  CHECK(warpgroup_rules(fence_wgmma + product + commit_wgmma + set + wait + "ret;") ==
        Rules{"wgmma.register-in-flight"});
  // Compilers move constants into accumulators after the fence, which is not reported.
  CHECK(warpgroup_rules(fence_wgmma + "mov.b32 %d2, 0;\n" + product + commit_wgmma + wait + "ret;").empty());
  CHECK(warpgroup_rules(fence_wgmma + "mov.b32 %d2, 0;\nsetp.ne.b32 %p1, %d2, 0;\n" + product + commit_wgmma +
                        wait + "ret;")
            .empty());
  CHECK(warpgroup_rules(fence_wgmma + product + commit_wgmma + "setp.ne.b32 %p1, %d2, 0;\n" + wait +
                        "ret;") == Rules{"wgmma.register-in-flight"});
  // Accesses to other registers, and accesses under exclusive conditions, are not reported.
  CHECK(warpgroup_rules(fence_wgmma + product + commit_wgmma + "mov.b32 %d4, 0;\n" + wait + "ret;").empty());
  CHECK(warpgroup_rules(fence_wgmma + "@%p2 mov.b32 %d0, 0;\n" + product + commit_wgmma + wait + "ret;")
            .empty());
  CHECK(warpgroup_rules(set + "bra L;\nL:\n" + fence_wgmma + product + commit_wgmma + wait + "ret;").empty());
}

TEST_CASE("the remedy for a read before the wait tells how to keep a compiler from moving it there") {
  const auto remedy = [](const std::string& body) {
    const LintResult result = result_of(body + "ret;");
    REQUIRE(rules(result) == Rules{"wgmma.register-in-flight"});
    return result.findings[0].remedy;
  };
  const LintResult moved = result_of(fence_wgmma + product + commit_wgmma + use + wait + "ret;");
  REQUIRE(moved.findings.size() == 1);
  CHECK_THAT(moved.findings[0].found, ContainsSubstring("the next wait comes after it, at line"));
  CHECK_THAT(moved.findings[0].remedy, ContainsSubstring("the compiler has moved it ahead") &&
                                           ContainsSubstring("asm volatile(\"\" : \"+f\"("));
  // If no wait for the product follows, the remedy is to add one.
  CHECK_THAT(remedy(fence_wgmma + product + commit_wgmma + use),
             !ContainsSubstring("the compiler has moved"));
  CHECK_THAT(remedy(fence_wgmma + product + use + wait), !ContainsSubstring("the compiler has moved"));
}

TEST_CASE("findings of one wgmma group, or of one source statement, are merged into one with all lines") {
  // Reads of two registers before one wait.
  const std::string reads = "add.u32 %r1, %d0, 1;\nadd.u32 %r2, %d1, 1;\nadd.u32 %r3, %d3, 1;\n";
  const LintResult one = result_of(fence_wgmma + product + commit_wgmma + reads + wait + "ret;");
  REQUIRE(rules(one) == Rules{"wgmma.register-in-flight"});
  const std::uint32_t line = one.findings[0].ptx_line;
  CHECK(one.findings[0].also_lines == std::vector<std::uint32_t>{line + 1, line + 2});
  CHECK_THAT(one.findings[0].found, ContainsSubstring("2 more instructions (PTX lines"));
  CHECK_THAT(one.report, ContainsSubstring("2 more instructions (PTX lines"));
  // Another group has a finding of its own.
  const std::string again = fence_wgmma + product + commit_wgmma + reads + wait;
  const LintResult two = result_of(again + again + "ret;");
  CHECK(std::ranges::count(rules(two), "wgmma.register-in-flight") == 2);
  // Two addresses in one statement, then in two statements.
  const auto misaligned = [](const std::string& between) {
    const LintResult result =
        result_of(".shared .align 16 .b8 s[64];\n.loc 1 5 3\nst.shared.u32 [s+1], %r1;\n" + between +
                  "st.shared.u32 [s+2], %r1;\nret;");
    for (const Finding& each : result.findings) CHECK(each.rule == "address.misaligned");
    return result.findings.size();
  };
  CHECK(misaligned("") == 1);
  CHECK(misaligned(".loc 1 5 9\n") == 2);
}

TEST_CASE("illegal literals of setmaxnreg and tensormap.replace are reported") {
  const auto set_to = [](const std::string& count) {
    return warpgroup_rules("setmaxnreg.dec.sync.aligned.u32 " + count + ";\nret;");
  };
  CHECK(set_to("24").empty());
  CHECK(set_to("256").empty());
  CHECK(set_to("16") == Rules{"setmaxnreg.value"});
  CHECK(set_to("100") == Rules{"setmaxnreg.value"});
  CHECK(set_to("264") == Rules{"setmaxnreg.value"});
  const auto replace = [](const std::string& field, const std::string& operands) {
    return warpgroup_rules("tensormap.replace.tile." + field + ".global.b1024." + operands + ";\nret;");
  };
  CHECK(replace("rank", "b32 [%rd1], 4").empty());
  CHECK(replace("rank", "b32 [%rd1], %r1").empty());
  CHECK(replace("rank", "b32 [%rd1], 5") == Rules{"tensormap.field"});
  CHECK(replace("elemtype", "b32 [%rd1], 13") == Rules{"tensormap.field"});
  CHECK(replace("swizzle_mode", "b32 [%rd1], 4") == Rules{"tensormap.field"});
  CHECK(replace("box_dim", "b32 [%rd1], 5, %r1") == Rules{"tensormap.field"});
  CHECK(replace("global_stride", "b64 [%rd1], 4, %rd2") == Rules{"tensormap.field"});
  CHECK(replace("global_stride", "b64 [%rd1], 3, %rd2").empty());
}
