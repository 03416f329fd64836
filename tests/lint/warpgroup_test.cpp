/// What the text shows of products of matrices, setmaxnreg and tensormap.replace; and what looks alike and is
/// not reported.
#include "lint/support.hpp"

#include <catch2/catch_test_macros.hpp>

using namespace tmajit;
using namespace tests;

namespace {

using Rules = std::vector<std::string>;

Rules rules_of(const std::string& body) {
  return rules(lint_ptx(
      entry(".reg .pred %p<3>;\n.reg .b32 %d<5>;\n.reg .b32 %r<9>;\n.reg .b64 %rd<9>;\n"
            "ld.param.u64 %rd1, [p];\nmov.u64 %rd2, %rd1;\nmov.u32 %r1, %tid.x;\nsetp.eq.u32 %p1, %r1, 0;\n"
            "setp.eq.u32 %p2, %r1, 1;\n" +
                body,
            ".param .u64 p")));
}

const std::string fence = "wgmma.fence.sync.aligned;\n";
const std::string product =
    "wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {%d0, %d1, %d2, %d3}, %rd1, %rd2, %p1, 1, 1, 0, "
    "0;\n";
const std::string commit = "wgmma.commit_group.sync.aligned;\n";
const std::string wait = "wgmma.wait_group.sync.aligned 0;\n";
const std::string use = "add.u32 %r1, %d0, %d1;\n";
const std::string set = "xor.b32 %d2, %d2, 1;\n";

}  // namespace

TEST_CASE("registers of products, block by block") {
  CHECK(rules_of(set + fence + product + product + commit + wait + use + "ret;").empty());
  CHECK(rules_of(set + fence + product + commit + product + commit + "wgmma.wait_group.sync.aligned 1;\n" +
                 wait + use + "ret;")
            .empty());
  CHECK(rules_of(product + commit + wait + "ret;") == Rules{"wgmma.missing-fence"});
  CHECK(rules_of(fence + set + product + commit + wait + "ret;") == Rules{"wgmma.missing-fence"});
  CHECK(rules_of(fence + product + commit + wait + use + product + commit + wait + "ret;") ==
        Rules{"wgmma.missing-fence"});
  CHECK(rules_of(fence + product + commit + use + wait + "ret;") == Rules{"wgmma.register-in-flight"});
  CHECK(rules_of(fence + product + wait + use + "ret;") == Rules{"wgmma.register-in-flight"});
  CHECK(rules_of(fence + product + commit + "wgmma.wait_group.sync.aligned 1;\n" + use + "ret;") ==
        Rules{"wgmma.register-in-flight"});
  CHECK(rules_of(fence + product + commit + set + wait + "ret;") == Rules{"wgmma.register-in-flight"});
  // Compilers set accumulators where they like.
  CHECK(rules_of(fence + "mov.b32 %d2, 0;\n" + product + commit + wait + "ret;").empty());
  CHECK(rules_of(fence + "mov.b32 %d2, 0;\nsetp.ne.b32 %p1, %d2, 0;\n" + product + commit + wait + "ret;")
            .empty());
  CHECK(rules_of(fence + product + commit + "setp.ne.b32 %p1, %d2, 0;\n" + wait + "ret;") ==
        Rules{"wgmma.register-in-flight"});
  // Of other registers, and of those that a condition keeps apart, nothing is said.
  CHECK(rules_of(fence + product + commit + "mov.b32 %d4, 0;\n" + wait + "ret;").empty());
  CHECK(rules_of(fence + "@%p2 mov.b32 %d0, 0;\n" + product + commit + wait + "ret;").empty());
  CHECK(rules_of(set + "bra L;\nL:\n" + fence + product + commit + wait + "ret;").empty());
}

TEST_CASE("literals that setmaxnreg and tensormap.replace cannot have") {
  const auto set_to = [](const std::string& count) {
    return rules_of("setmaxnreg.dec.sync.aligned.u32 " + count + ";\nret;");
  };
  CHECK(set_to("24").empty());
  CHECK(set_to("256").empty());
  CHECK(set_to("16") == Rules{"setmaxnreg.value"});
  CHECK(set_to("100") == Rules{"setmaxnreg.value"});
  CHECK(set_to("264") == Rules{"setmaxnreg.value"});
  const auto replace = [](const std::string& field, const std::string& operands) {
    return rules_of("tensormap.replace.tile." + field + ".global.b1024." + operands + ";\nret;");
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
