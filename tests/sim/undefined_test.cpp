/// Tests that uninitialised registers, and values loaded from uninitialised memory, are reported where they
/// affect the behaviour of the kernel.
#include "sim/text_kernel.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include <catch2/generators/catch_generators_all.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

namespace undefined_test {

using namespace tmajit;
using namespace tests::text;
using Catch::Matchers::ContainsSubstring;

struct Case {
  const char* name;
  std::string body;
};

Outcome run_body(const std::string& body, std::uint32_t block = 32) {
  tests::text::Shape shape;
  shape.grid = shape.cluster = 1;
  shape.block = block;
  shape.options.mode = tests::text::any_mode();
  return tests::text::run(registers + element + "bar.sync 0;\n" + body + "ret;\n", shape);
}

/// Code after which %r10 is uninitialised, in all lanes or in some.
const std::vector<Case> sources{
    {"never written", ""},
    {"written in one arm", "@%p1 bra A;\nmov.u32 %r10, 1;\nA:\n"},
    {"written under a guard", "@%p1 mov.u32 %r10, 1;\n"},
    {"written in a loop that may not run",
     "setp.gt.u32 %p2, %r1, 1000;\nL:\n@!%p2 bra A;\nmov.u32 %r10, 1;\n"
     "bra L;\nA:\n"},
    {"loaded", "ld.shared.u32 %r10, [%r5];\n"},
    {"loaded by one lane", "mov.u32 %r10, 0;\n@%p1 ld.shared.u32 %r10, [%r5+8];\n"},
    {"a part of a vector",
     "@%p1 st.shared.u32 [%r5], 1;\nbar.sync 0;\nld.shared.v2.u32 {%r11, %r10}, [%r5];\n"},
    {"through arithmetic", "add.u32 %r11, %r10, 1;\nmul.lo.u32 %r10, %r11, 3;\n"},
    {"through memory",
     "shl.b32 %r11, %r1, 2;\nadd.u32 %r11, %r11, %r5;\nst.shared.u32 [%r11+64], %r12;\n"
     "bar.sync 0;\nld.shared.u32 %r10, [%r11+64];\n"},
    {"through local memory", "st.local.u32 [mine+4], %r12;\nld.local.u32 %r10, [mine+4];\n"},
    {"through stmatrix",
     "and.b32 %r11, %r1, 7;\nshl.b32 %r11, %r11, 4;\nadd.u32 %r11, %r11, %r5;\n"
     "stmatrix.sync.aligned.m8n8.x1.shared.b16 [%r11], {%r12};\nbar.sync 0;\n"
     "ld.shared.u32 %r10, [%r11+4];\n"},
    {"through shfl", "shfl.sync.idx.b32 %r10, %r12, 3, 31, -1;\n"},
    {"chosen by a predicate that no instruction has written", "selp.b32 %r10, 1, 2, %p5;\n"},
    {"a sum with a product", "mad.lo.u32 %r10, %r12, 4, %r1;\n"},
    {"an addend", "mad.lo.u32 %r10, %r1, 4, %r12;\n"},
    {"through movmatrix", "movmatrix.sync.aligned.m8n8.trans.b16 %r10, %r12;\n"},
    {"a carry", "add.cc.u32 %r11, %r12, 1;\naddc.u32 %r10, %r1, 0;\n"},
    {"a borrow handed on", "sub.cc.u32 %r11, %r12, 1;\nsubc.cc.u32 %r11, 5, 4;\nsubc.u32 %r10, %r1, 0;\n"},
    {"a sum of lanes", "redux.sync.add.u32 %r10, %r12, -1;\n"},
    {"a word of two halves",
     "mov.b32 %r11, %f1;\nmov.b64 %rd10, {%r11, %r12};\nmov.b64 {%r10, %r13}, %rd10;\n"},
    {"around a loop",
     "mov.u32 %r11, 0;\nL:\nadd.u32 %r10, %r12, %r11;\nmov.u32 %r12, %r10;\n"
     "add.u32 %r11, %r11, 1;\nsetp.lt.u32 %p2, %r11, 4;\n@%p2 bra L;\n"},
};

/// Code in which the value of %r10 matters.
const std::vector<Case> uses{
    {"a store to global memory", "st.global.u32 [%rd3], %r10;\n"},
    {"a store by a generic address", "st.u32 [%rd3], %r10;\n"},
    {"a branch", "setp.gt.s32 %p4, %r10, 1000;\n@%p4 bra E;\nst.global.u32 [%rd3], 1;\nE:\n"},
    {"a guard", "setp.gt.s32 %p4, %r10, 1000;\n@%p4 st.global.u32 [%rd3], 1;\n"},
    {"an address", "and.b32 %r10, %r10, 28;\nadd.u32 %r14, %r10, %r5;\nst.shared.u32 [%r14+512], 1;\n"},
    {"a count of an mbarrier", "or.b32 %r14, %r10, 1;\nmbarrier.init.shared.b64 [%r5+1024], %r14;\n"},
    {"a size of a copy", "cp.async.bulk.prefetch.L2.global [%rd1], %r10;\n"},
    {"a mask of members",
     "or.b32 %r14, %r10, -2;\nor.b32 %r14, %r14, 1;\nvote.sync.ballot.b32 %r14, 1, %r14;\n"},
    {"an atomic", "red.global.add.u32 [%rd3], %r10;\n"},
    {"a barrier",
     "and.b32 %r14, %r10, 0x20;\nor.b32 %r14, %r14, 0x20;\nmin.u32 %r14, %r14, 32;\nbar.sync 1, "
     "%r14;\n"},
    {"a product", "mul.lo.u32 %r14, %r10, %r1;\nadd.u32 %r14, %r14, %r10;\nst.global.u32 [%rd3], %r14;\n"},
};

/// Correct code, which must have no report.
const std::vector<Case> correct{
    {"a carry that no instruction adds",
     "add.cc.u32 %r11, %r12, 1;\nadd.cc.u32 %r11, %r1, 1;\naddc.u32 %r10, %r1, 0;\n"
     "st.global.u32 [%rd3], %r10;\n"},
    {"loaded and thrown away", "ld.shared.u32 %r10, [%r5];\nadd.u32 %r10, %r10, 1;\n"},
    {"loaded and selected away",
     "ld.shared.u32 %r10, [%r5];\nsetp.lt.u32 %p2, %r1, 1000;\nselp.b32 %r10, %r1, %r10, %p2;\n"
     "st.global.u32 [%rd3], %r10;\n"},
    {"loaded and masked away",
     "ld.shared.u32 %r10, [%r5];\nmov.u32 %r11, 0;\nand.b32 %r10, %r10, %r11;\nst.global.u32 [%rd3], "
     "%r10;\n"},
    {"times zero", "mov.u32 %r11, 0;\nmul.lo.u32 %r10, %r11, %r12;\nst.global.u32 [%rd3], %r10;\n"},
    {"times zero, and a sum",
     "mov.u32 %r11, 0;\nmad.lo.u32 %r10, %r11, %r12, 5;\nst.global.u32 [%rd3], %r10;\n"},
    {"chosen by a sign", "slct.u32.s32 %r10, %r1, %r12, %r1;\nst.global.u32 [%rd3], %r10;\n"},
    {"a condition combined with one that is false",
     "setp.gt.u32 %p3, %r1, 1000;\nsetp.lt.and.u32 %p4, %r12, 5, %p3;\n@%p4 st.global.u32 [%rd3], 1;\n"},
    {"masked away by a table",
     "mov.u32 %r11, 0;\nlop3.b32 %r10, %r11, %r12, %r1, 0x80;\nst.global.u32 [%rd3], %r10;\n"},
    {"or ones", "or.b32 %r10, %r12, -1;\nst.global.u32 [%rd3], %r10;\n"},
    {"a register cleared with itself", "xor.b32 %r10, %r12, %r12;\nst.global.u32 [%rd3], %r10;\n"},
    {"compared with itself", "setp.eq.u32 %p2, %r12, %r12;\n@%p2 st.global.u32 [%rd3], 1;\n"},
    {"a condition that only counts where another holds",
     "ld.shared.u32 %r10, [%r5];\nsetp.gt.u32 %p2, %r10, 5;\nsetp.gt.u32 %p3, %r1, 1000;\n"
     "and.pred %p4, %p3, %p2;\n@%p4 st.global.u32 [%rd3], 1;\n"},
    {"a condition that another makes true",
     "setp.gt.u32 %p2, %r12, 5;\nsetp.lt.u32 %p3, %r1, 1000;\nor.pred %p4, %p3, %p2;\n"
     "@%p4 st.global.u32 [%rd3], 1;\n"},
    {"written in both arms",
     "@%p1 bra A;\nmov.u32 %r10, 1;\nbra B;\nA:\nmov.u32 %r10, 2;\nB:\n"
     "st.global.u32 [%rd3], %r10;\n"},
    {"written and read under one guard", "@%p1 mov.u32 %r10, 1;\n@%p1 st.global.u32 [%rd3], %r10;\n"},
    {"written and read on the same way",
     "@!%p1 bra A;\nmov.u32 %r10, 1;\nA:\nadd.u32 %r11, %r10, 1;\n"
     "@!%p1 bra B;\nst.global.u32 [%rd3], %r11;\nB:\n"},
    {"written in the loop before it is read",
     "mov.u32 %r11, 0;\nL:\nsetp.ne.u32 %p2, %r11, 0;\n@!%p2 bra A;\nst.global.u32 [%rd3], %r10;\nA:\n"
     "mov.u32 %r10, %r11;\nadd.u32 %r11, %r11, 1;\nsetp.lt.u32 %p3, %r11, 4;\n@%p3 bra L;\n"},
    {"one lane's value, read by all",
     "and.b32 %r6, %r1, 31;\nsetp.eq.u32 %p2, %r6, 0;\n@%p2 mov.u32 %r10, 7;\n"
     "shfl.sync.idx.b32 %r11, %r10, 0, 31, -1;\n"
     "st.global.u32 [%rd3], %r11;\n"},
    {"a tree of sums whose leaves are selected",
     "@%p1 mov.u32 %r10, 7;\nshfl.sync.down.b32 %r11, %r10, 1, 31, -1;\nadd.u32 %r12, %r10, %r11;\n"
     "selp.b32 %r13, %r10, 0, %p1;\nst.global.u32 [%rd3], %r13;\n"},
    {"a half of a word that is thrown away",
     "mov.b64 %rd10, {%r1, %r12};\nmov.b64 {%r13, %r14}, %rd10;\nst.global.u32 [%rd3], %r13;\n"},
    {"a structure copied with its padding",
     "@%p1 st.shared.u8 [%r5], 1;\n@%p1 st.shared.u32 [%r5+4], 2;\nbar.sync 0;\nld.shared.v2.u32 {%r10, "
     "%r11}, "
     "[%r5];\n@%p1 st.global.v2.u32 [%rd1], {%r10, %r11};\n"},
    {"stored to shared memory, and not read",
     "@%p1 st.shared.u32 [%r5], %r12;\nbar.sync 0;\nld.shared.u32 %r10, [%r5];\n"},
    {"stored to shared memory, and written again",
     "@%p1 st.shared.u32 [%r5], %r12;\n@%p1 st.shared.u32 [%r5], 1;\nbar.sync 0;\nld.shared.u32 %r10, "
     "[%r5];\n"
     "st.global.u32 [%rd3], %r10;\n"},
    {"given to local memory", "st.local.u32 [mine], %r12;\n"},
    {"given to local memory, and written again",
     "st.local.u32 [mine], %r12;\nst.local.u32 [mine], %r1;\nld.local.u32 %r10, [mine];\nst.global.u32 "
     "[%rd3], "
     "%r10;\n"},
    {"a part of a word in local memory",
     "st.local.u32 [mine], %r12;\nst.local.u32 [mine+4], 1;\nld.local.u64 %rd10, [mine];\n@%p1 st.global.u64 "
     "[%rd1], "
     "%rd10;\n"},
};

const std::string declared = ".reg .f32 %f<4>;\n.local .align 8 .b8 mine[16];\n";

TEST_CASE("uninitialised values are reported where they matter") {
  const auto mode = GENERATE(0, 1);
  const std::uint32_t block = mode == 0 ? 32 : 20;
  for (const Case& source : sources) {
    // These codes need a whole warp.
    if (block < 32 &&
        (source.body.find("shfl") != std::string::npos || source.body.find("matrix") != std::string::npos))
      continue;
    for (const Case& use : uses) {
      INFO(source.name << ", " << use.name << ", " << block << " threads");
      const Outcome outcome = run_body(declared + source.body + use.body, block);
      INFO(reports_text(outcome));
      REQUIRE_FALSE(outcome.reports.empty());
      const bool loads =
          source.body.find("ld.shared") != std::string::npos && source.body.find("%r12") == std::string::npos;
      CHECK(outcome.reports[0].rule == (loads ? "shared.uninitialised" : "register.uninitialised"));
      // An uninitialised value may cause further reports.
      CHECK(std::ranges::count_if(outcome.reports, [](const Report& report) {
              return report.rule == "register.uninitialised" || report.rule == "shared.uninitialised";
            }) == 1);
    }
  }
}

TEST_CASE("uninitialised values are not reported where they do not matter") {
  const std::uint32_t block = GENERATE(32U, 20U, 64U);
  for (const Case& each : correct) {
    INFO(each.name << ", " << block << " threads");
    const Outcome outcome = run_body(declared + each.body, block);
    expect_clean(outcome);
  }
}

TEST_CASE("uninitialised values are tracked through functions") {
  const std::string function =
      ".func (.param .b32 out) twice(.param .b32 in) {\n.reg .b32 %x<3>;\nld.param.b32 %x1, [in];\n"
      "add.u32 %x2, %x1, %x1;\nst.param.b32 [out], %x2;\nret;\n}\n";
  Shape shape;
  shape.grid = shape.cluster = 1;
  shape.options.mode = tests::text::any_mode();
  const auto called = [&](const std::string& before, const std::string& after) {
    return run(registers + element + before +
                   "{\n.param .b32 given;\n.param .b32 got;\nst.param.b32 [given], %r10;\n"
                   "call.uni (got), twice, (given);\nld.param.b32 %r11, [got];\n}\n" +
                   after + "ret;\n",
               shape, function);
  };
  const std::string store = "st.global.u32 [%rd3], %r11;\n";
  expect_only(called("", store), "register.uninitialised");
  expect_only(called("@%p1 ld.shared.u32 %r10, [%r5];\n", "@%p1 " + store), "shared.uninitialised");
  expect_clean(called("", ""));
  expect_clean(called("mov.u32 %r10, 1;\n", store));
}

TEST_CASE("uninitialised values are tracked through recursive functions") {
  // Returns its argument after `depth` further calls. `writes` is code that writes %u, `given` the register
  // returned.
  const auto function = [](const std::string& writes, const std::string& given) {
    return ".func (.param .b32 out) down(.param .b32 depth, .param .b32 in) {\n.reg .b32 %d<3>;\n.reg .b32 "
           "%x<4>;\n"
           ".reg .b32 %u;\n.reg .pred %e;\nld.param.b32 %d1, [depth];\nld.param.b32 %x1, [in];\n" +
           writes +
           "setp.eq.u32 %e, %d1, 0;\n@%e bra E;\nsub.u32 %d2, %d1, 1;\n{\n.param .b32 n;\n.param .b32 a;\n"
           ".param .b32 b;\nst.param.b32 [n], %d2;\nst.param.b32 [a], %x1;\ncall.uni (b), down, (n, a);\n"
           "ld.param.b32 %x1, [b];\n}\nE:\nst.param.b32 [out], " +
           given + ";\nret;\n}\n";
  };
  Shape shape;
  shape.grid = shape.cluster = 1;
  shape.options.mode = tests::text::any_mode();
  const auto called = [&](const std::string& writes, const std::string& given, const std::string& before,
                          const std::string& stored) {
    UNSCOPED_INFO(writes << given << ", " << before << stored);
    return run(
        registers + element + before +
            "{\n.param .b32 n;\n.param .b32 a;\n.param .b32 b;\nst.param.b32 [n], 5;\nst.param.b32 [a], "
            "%r10;\ncall.uni (b), down, (n, a);\nld.param.b32 %r11, [b];\n}\nst.global.u32 [%rd3], " +
            stored + ";\nret;\n",
        shape, function(writes, given));
  };
  const std::string one = "mov.u32 %r10, 1;\n";
  expect_clean(called("", "%x1", one, "%r11"));
  expect_only(called("", "%x1", "", "%r11"), "register.uninitialised");
  // Exactly the registers that were uninitialised before the calls are uninitialised after them.
  expect_only(called("", "%x1", one, "%r12"), "register.uninitialised");
  expect_clean(called("", "%x1", "mov.u32 %r12, 1;\n", "%r12"));
  // Each call must write %u, unless only the outermost call returns it.
  expect_only(called("", "%u", one, "%r11"), "register.uninitialised");
  expect_clean(called("mov.u32 %u, 1;\n", "%u", one, "%r11"));
  const std::string outermost = "setp.eq.u32 %e, %d1, 5;\n@%e mov.u32 %u, 1;\n";
  expect_clean(called(outermost, "%u", one, "%r11"));
  const std::string innermost = "setp.eq.u32 %e, %d1, 0;\n@%e mov.u32 %u, 1;\n";
  expect_only(called(innermost, "%u", one, "%r11"), "register.uninitialised");
}

TEST_CASE("an uninitialised pointer of an indirect call is reported") {
  Shape shape;
  shape.grid = shape.cluster = 1;
  const auto call = [&](const std::string& guard) {
    return run(
        registers + element + guard + "mov.u64 %rd10, f;\nP: .callprototype _;\ncall %rd10, P;\nret;\n",
        shape, ".func f() {\nret;\n}\n");
  };
  expect_clean(call(""));
  expect_first(call("@%p5 "), "register.uninitialised");
}

TEST_CASE("a report names the uninitialised register, and the instruction where it matters") {
  const Outcome outcome =
      run_body("add.u32 %r11, %r10, 1;\nshl.b32 %r12, %r11, 2;\nst.global.u32 [%rd3], %r12;\n");
  REQUIRE(outcome.reports.size() == 1);
  const Report& report = outcome.reports[0];
  CHECK(report.rule == "register.uninitialised");
  CHECK(report.instruction == "add.u32 %r11, %r10, 1;");
  CHECK_THAT(report.found, ContainsSubstring("%r10"));
  CHECK_THAT(report.found, ContainsSubstring("\"st.global.u32 [%rd3], %r12;\" at PTX line"));
  CHECK(report.count == 32);
}

TEST_CASE("a report of uninitialised memory names the load and where the loaded value matters") {
  const Outcome outcome = run_body(
      "@%p1 ld.shared.u32 %r11, [%r5+16];\nadd.u32 %r12, %r11, 1;\n"
      "setp.eq.u32 %p4, %r12, 5;\n@%p4 bra E;\nE:\n");
  REQUIRE(outcome.reports.size() == 1);
  const Report& report = outcome.reports[0];
  CHECK(report.rule == "shared.uninitialised");
  CHECK_THAT(report.instruction, ContainsSubstring("ld.shared.u32"));
  CHECK_THAT(report.found, ContainsSubstring("0x410"));
  CHECK_THAT(report.found, ContainsSubstring("\"@%p4 bra E;\" at PTX line"));
}

TEST_CASE("an uninitialised row or column of a factor makes that of the product undefined") {
  const std::string product =
      "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%f10, %f11, %f12, %f13}, {%r10, %r11, %r12, "
      "%r13}, "
      "{%r14, %r15}, {%f10, %f11, %f12, %f13};\n";
  const std::string zeros =
      ".reg .f32 %f<20>;\nmov.f32 %f10, 0f00000000;\nmov.f32 %f11, %f10;\nmov.f32 %f12, "
      "%f10;\nmov.f32 %f13, %f10;\nmov.u32 %r10, 0;\nmov.u32 %r11, 0;\nmov.u32 %r12, "
      "0;\nmov.u32 %r13, 0;\nmov.u32 %r14, 0;\nmov.u32 %r15, 0;\n";
  // Row 2 of a (lanes 8 to 11), or column 2 of b, is loaded from uninitialised memory.
  const std::string third = "shr.u32 %r6, %r1, 2;\nsetp.eq.u32 %p2, %r6, 2;\n@%p2 ld.shared.u32 ";
  const auto store = [](const std::string& of, const std::string& guard) {
    return "@" + guard + " st.global.f32 [%rd3], " + of + ";\n";
  };
  const std::string all_lanes = "setp.ge.u32 %p3, %r6, 0;\n";
  const std::string other_rows = "setp.ne.u32 %p3, %r6, 2;\n";
  const std::string a = zeros + third + "%r10, [%r5];\n" + product;
  CHECK(run_body(a + store("%f10", "%p2")).reports.size() == 1);
  CHECK(run_body(a + store("%f11", "%p2")).reports.size() == 1);
  CHECK(run_body(a + other_rows + store("%f10", "%p3")).reports.empty());
  CHECK(run_body(a + all_lanes + store("%f12", "%p3")).reports.empty());
  // Column 2 of the product is in the even results of lanes 1, 5, ….
  const std::string b = zeros + third + "%r14, [%r5];\n" + product + "and.b32 %r6, %r1, 3;\n";
  const std::string in_column = "setp.eq.u32 %p3, %r6, 1;\n";
  const std::string other_columns = "setp.ne.u32 %p3, %r6, 1;\n";
  CHECK(run_body(b + in_column + store("%f10", "%p3")).reports.size() == 1);
  CHECK(run_body(b + in_column + store("%f12", "%p3")).reports.size() == 1);
  CHECK(run_body(b + in_column + store("%f11", "%p3")).reports.empty());
  CHECK(run_body(b + other_columns + store("%f10", "%p3")).reports.empty());
}

TEST_CASE("uninitialised coordinates of a copy, and bytes that it stores, are reported") {
  Shape shape;
  shape.grid = shape.cluster = 1;
  shape.options.mode = tests::text::any_mode();
  shape.maps = {rows_of(32)};
  const auto copied = [&](const std::string& body) {
    return run(registers + "ld.param.u64 %rd9, [p1];\n" + body + "ret;\n", shape);
  };
  const std::string prefetch = "cp.async.bulk.prefetch.tensor.2d.L2.global.tile [%rd9, {0, %r10}];\n";
  expect_first(copied("@%p1 ld.shared.u32 %r10, [%r5];\nand.b32 %r10, %r10, 7;\n@%p1 " + prefetch),
               "shared.uninitialised");
  expect_first(copied("@%p1 " + prefetch), "register.uninitialised");
  expect_clean(copied("@%p1 mov.u32 %r10, 2;\n@%p1 " + prefetch));
  // Two rows of 32 words, of which the second is never written.
  const auto stored = [&](const std::string& row) {
    return copied(
        "shl.b32 %r6, %r1, 2;\nadd.u32 %r6, %r6, %r5;\nst.shared.u32 [%r6], %r1;\n"
        "st.shared.u32 [%r6+128], %r10;\nfence.proxy.async.shared::cta;\nbar.sync 0;\n"
        "@!%p1 bra E;\ncp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%rd9, {0, " +
        row + "}], [%r5];\ncp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;\nE:\n");
  };
  const Outcome outcome = stored("4");
  expect_only(outcome, "register.uninitialised");
  CHECK_THAT(outcome.reports[0].found,
             ContainsSubstring("is stored to global memory by \"cp.async.bulk.tensor"));
  // The second row is outside the tensor.
  expect_clean(stored("31"));
}

TEST_CASE("uninitialised accumulators are reported only if a product reads them") {
  Shape shape;
  shape.grid = shape.cluster = 1;
  shape.block = 128;
  shape.options.mode = tests::text::any_mode();
  const auto product = [&](const std::string& keeps) {
    return run(
        registers + element +
            ".reg .f32 %f<9>;\nshl.b32 %r6, %r1, 5;\nadd.u32 %r6, %r6, %r5;\n"
            "st.shared.v4.u32 [%r6], {0, 0, 0, 0};\nst.shared.v4.u32 [%r6+16], {0, 0, 0, 0};\n"
            "fence.proxy.async.shared::cta;\nbar.sync 0;\nshr.u32 %r7, %r5, 4;\ncvt.u64.u32 %rd10, %r7;\n"
            "or.b64 %rd10, %rd10, 0x1000080000;\nadd.u64 %rd11, %rd10, 128;\nsetp.eq.u32 %p5, " +
            keeps +
            ", 1;\nwgmma.fence.sync.aligned;\n"
            "wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {%f1, %f2, %f3, %f4}, %rd10, %rd11, "
            "%p5, 1, 1, 0, 0;\nwgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;\n"
            "st.global.f32 [%rd3], %f3;\nret;\n",
        shape);
  };
  expect_clean(product("0"));
  const Outcome outcome = product("1");
  expect_only(outcome, "register.uninitialised");
  CHECK_THAT(outcome.reports[0].found, ContainsSubstring("%f3"));
}

TEST_CASE("after ldmatrix of an uninitialised row, the lanes that get its elements are reported") {
  const std::string load =
      "and.b32 %r6, %r1, 7;\nshl.b32 %r6, %r6, 4;\nadd.u32 %r6, %r6, %r5;\n"
      "setp.ne.u32 %p2, %r1, 2;\nsetp.lt.and.u32 %p3, %r1, 8, %p2;\n"
      "@%p3 st.shared.v4.u32 [%r6], {1, 1, 1, 1};\nbar.sync 0;\n"
      "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r10}, [%r6];\nshr.u32 %r7, %r1, 2;\n";
  // Row 2 is in lanes 8 to 11.
  expect_only(run_body(load + "setp.eq.u32 %p4, %r7, 2;\n@%p4 st.global.u32 [%rd3], %r10;\n"),
              "shared.uninitialised");
  expect_clean(run_body(load + "setp.ne.u32 %p4, %r7, 2;\n@%p4 st.global.u32 [%rd3], %r10;\n"));
}

TEST_CASE("wmma passes uninitialised rows and columns on to the product's elements") {
  // 16 rows of 16 halves at %r5 and at %r5+512, words of f32 at %r5+1024. Row 3 of a is not written.
  const std::string fragments =
      ".reg .b32 %a<8>;\n.reg .b32 %b<8>;\n.reg .f32 %f<8>;\nshl.b32 %r6, %r1, 4;\nadd.u32 %r6, %r6, %r5;\n"
      "shr.u32 %r7, %r1, 1;\nsetp.ne.u32 %p2, %r7, 3;\n";
  const std::string a = "{%a0, %a1, %a2, %a3, %a4, %a5, %a6, %a7}";
  const std::string b = "{%b0, %b1, %b2, %b3, %b4, %b5, %b6, %b7}";
  const std::string f = "{%f0, %f1, %f2, %f3, %f4, %f5, %f6, %f7}";
  const std::string zeros = "st.shared.v4.u32 [%r6+512], {0, 0, 0, 0};\n";
  const std::string loads = "bar.sync 0;\nwmma.load.a.sync.aligned.row.m16n16k16.shared.f16 " + a +
                            ", [%r5];\nwmma.load.b.sync.aligned.col.m16n16k16.shared.f16 " + b +
                            ", [%r5+512];\n";
  std::string clear;
  for (int i = 0; i < 8; ++i) clear += "mov.f32 %f" + std::to_string(i) + ", 0f00000000;\n";
  const std::string product =
      "wmma.mma.sync.aligned.row.col.m16n16k16.f32.f32 " + f + ", " + a + ", " + b + ", " + f + ";\n";
  const std::string keep =
      "wmma.store.d.sync.aligned.row.m16n16k16.shared.f32 [%r5+1024], " + f + ";\nbar.sync 0;\n";
  const auto read_row = [](int row) {
    return "ld.shared.u32 %r10, [%r5+" + std::to_string(1024 + 64 * row) +
           "];\nst.global.u32 [%rd3], %r10;\n";
  };
  const std::string written =
      fragments + "@%p2 st.shared.v4.u32 [%r6], {0, 0, 0, 0};\n" + zeros + loads + clear;
  expect_clean(run_body(written + product + keep + read_row(2)));
  expect_only(run_body(written + product + keep + read_row(3)), "shared.uninitialised");
  expect_clean(run_body(written + keep + read_row(3)));
  // b is loaded by columns, so that the corresponding elements are its column 3.
  const std::string column =
      fragments + "st.shared.v4.u32 [%r6], {0, 0, 0, 0};\n@%p2 " + zeros + loads + clear;
  const auto read_column = [](int at) {
    return "ld.shared.u32 %r10, [%r5+" + std::to_string(1024 + 4 * at) + "];\nst.global.u32 [%rd3], %r10;\n";
  };
  expect_clean(run_body(column + product + keep + read_column(2)));
  expect_only(run_body(column + product + keep + read_column(3)), "shared.uninitialised");
  // An undefined addend, and results that are stored to global memory.
  const std::string all = fragments + "st.shared.v4.u32 [%r6], {0, 0, 0, 0};\n" + zeros + loads;
  const std::string to_global = "wmma.store.d.sync.aligned.row.m16n16k16.global.f32 [%rd1], " + f + ";\n";
  expect_clean(run_body(all + clear + product + to_global));
  expect_only(run_body(all + product + to_global), "register.uninitialised");
  expect_only(run_body(written + product + to_global), "shared.uninitialised");
  // An undefined stride of the rows.
  expect_first(run_body(all + clear + "wmma.store.d.sync.aligned.row.m16n16k16.shared.f32 [%r5+1024], " + f +
                        ", %r12;\n"),
               "register.uninitialised");
}

}  // namespace undefined_test
