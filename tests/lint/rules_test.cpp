/// Small kernels: those with a mistake have a finding, similar correct ones have none.
#include "lint/support.hpp"

#include <algorithm>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

using namespace tmajit;
using namespace tests;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::StartsWith;
using Rules = std::vector<std::string>;

namespace {

const std::string registers =
    ".reg .pred %p<8>;\n.reg .b32 %r<16>;\n.reg .b64 %rd<16>;\n"
    ".shared .align 1024 .b8 tile[8192];\n.shared .align 8 .b64 full;\n.shared .align 8 .b64 other;\n"
    "mov.u32 %r0, %tid.x;\nsetp.ne.s32 %p0, %r0, 0;\nmov.u32 %r1, tile;\nmov.u32 %r2, full;\nmov.u64 %rd0, "
    "map;\n"
    "mov.u32 %r3, 0;\n";
const std::string rule_parameters = ".param .align 64 .b8 map[128], .param .u32 n, .param .u64 out";
const LintOptions box_4096{.maps = {{"map", 4096, 2, 4, 1024}}};

LintResult lint_body(const std::string& body, const LintOptions& options = box_4096) {
  return lint_ptx(entry(registers + body, rule_parameters), options);
}
Rules rules_of(const std::string& body, const LintOptions& options = box_4096) {
  return rules(lint_body(body, options));
}

const std::string waits = "WAIT:\nmbarrier.try_wait.parity.shared::cta.b64 %p7, [%r2], 0;\n@!%p7 bra WAIT;\n";
const std::string initialise =
    "mbarrier.init.shared::cta.b64 [%r2], 1;\nfence.mbarrier_init.release.cluster;\n";
const std::string load =
    "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%r1], [%rd0, {%r3, "
    "%r3}], "
    "[%r2];\n";
const std::string store =
    "cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%rd0, {%r3, %r3}], [%r1];\n";
const std::string expect = "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r2], 4096;\n";
const std::string commit = "cp.async.bulk.commit_group;\n";
const std::string drain = "cp.async.bulk.wait_group.read 0;\n";
const std::string fence = "fence.proxy.async.shared::cta;\n";
const std::string barrier = "bar.sync 0;\n";
const std::string writes = "shl.b32 %r9, %r0, 2;\nadd.s32 %r9, %r1, %r9;\nst.shared.u32 [%r9], %r0;\n";

}  // namespace

TEST_CASE("a correct load and store have no findings") {
  CHECK(rules_of("@%p0 bra READY;\n" + initialise + expect + load + "READY:\n" + barrier + waits + fence +
                 barrier + "@%p0 bra END;\n" + store + commit + drain + "END:\nret;")
            .empty());
}

TEST_CASE("a finding has its location, the mistake and a remedy") {
  const LintResult result = lint_body("mbarrier.init.shared::cta.b64 [%r2], 0;\nret;");
  REQUIRE(result.findings.size() == 1);
  const Finding& finding = result.findings[0];
  CHECK(finding.rule == "mbarrier.count");
  CHECK(finding.kernel == "k");
  CHECK(finding.instruction == "mbarrier.init.shared::cta.b64 [%r2], 0;");
  CHECK(finding.ptx_line == 19);
  CHECK(finding.ptx_column == 1);
  CHECK(finding.source_line == 0);
  CHECK(finding.found == "mbarrier.init with 0 arrivals");
  CHECK(finding.expected == "1 to 2^20 - 1 arrivals");
  CHECK_THAT(result.report,
             StartsWith("ptx:19:1: error: mbarrier.count: mbarrier.init with 0 arrivals [kernel k]\n"
                        "mbarrier.init.shared::cta.b64 [%r2], 0;\n^\n  legal: "));
  CHECK(result.kernels == std::vector<std::string>{"k"});
}

TEST_CASE("source lines are taken from .loc directives") {
  const LintResult result =
      lint_body("mov.u32 %r5, 0;\n.loc 1 42 3\nmbarrier.init.shared::cta.b64 [%r2], %r5;\nret;");
  REQUIRE(result.findings.size() == 1);
  CHECK(result.findings[0].source_line == 42);
  CHECK_THAT(result.report, ContainsSubstring("source line 42"));
}

TEST_CASE("a misalignment is reported only if it is certain") {
  // A pointer parameter may have any alignment.
  CHECK(
      rules_of("ld.param.u64 %rd1, [out];\nst.global.v4.u32 [%rd1+4], {%r0, %r0, %r0, %r0};\nret;").empty());
  CHECK(rules_of("mul.wide.u32 %rd2, %r0, 16;\nmov.u64 %rd1, tile;\nadd.s64 %rd1, %rd1, %rd2;\n"
                 "st.shared.v4.u32 [%rd1+8], {%r0, %r0, %r0, %r0};\nret;") == Rules{"address.misaligned"});
  CHECK(rules_of("mul.wide.u32 %rd2, %r0, 4;\nmov.u64 %rd1, tile;\nadd.s64 %rd1, %rd1, %rd2;\n"
                 "st.shared.v4.u32 [%rd1+8], {%r0, %r0, %r0, %r0};\nret;")
            .empty());
  // .ptr .align declares the alignment of a pointer parameter.
  CHECK(rules(lint_ptx(entry(".reg .b64 %rd<3>;\n.reg .b32 %r<2>;\nld.param.u64 %rd1, [p];\n"
                             "ld.global.v2.u32 {%r0, %r1}, [%rd1+4];\nret;",
                             ".param .u64 .ptr .global .align 8 p"))) == Rules{"address.misaligned"});
  CHECK(rules_of("ld.param.u64 %rd1, [out+4];\nret;") == Rules{"address.misaligned"});
}

TEST_CASE("the alignment of an address is known through loops") {
  const std::string loop =
      "mov.u32 %r4, %r1;\nmov.u32 %r5, 0;\nLOOP:\nst.shared.v4.u32 [%r4+OFFSET], {%r0, %r0, %r0, %r0};\n"
      "add.s32 %r4, %r4, 48;\nadd.s32 %r5, %r5, 1;\nsetp.lt.u32 %p1, %r5, 10;\n@%p1 bra LOOP;\nret;";
  CHECK(rules_of(replace("OFFSET", "4")(loop)) == Rules{"address.misaligned"});
  CHECK(rules_of(replace("OFFSET", "16")(loop)).empty());
}

TEST_CASE("an address that the kernel rounds up counts as aligned") {
  const std::string body =
      "mov.u32 %r4, dynamic;\nneg.s32 %r5, %r4;\nand.b32 %r5, %r5, 1023;\nadd.s32 %r4, %r4, %r5;\n"
      "add.s32 %r4, %r4, OFFSET;\n"
      "cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%rd0, {%r3, %r3}], [%r4];\n" +
      commit + drain + "ret;";
  const auto lint_at = [&](const std::string& offset) {
    return rules(lint_ptx(entry(registers + replace("OFFSET", offset)(body), rule_parameters,
                                ".extern .shared .align 16 .b8 dynamic[];"),
                          box_4096));
  };
  CHECK(lint_at("4096").empty());
  CHECK(lint_at("512") == Rules{"copy.swizzle-base"});
  CHECK(lint_at("64") == Rules{"copy.shared-alignment"});
}

TEST_CASE("a copy that is aligned only by the placement of a variable gives advice") {
  const auto findings = [&](const std::string& declared, const std::string& copies,
                            const std::string& address) {
    const LintResult result =
        lint_ptx(entry(registers + "mov.u32 %r1, " + declared.substr(declared.rfind(' ') + 1, 5) + ";\n" +
                           address + initialise + copies + "ret;",
                       rule_parameters, ".shared " + declared + "[4096];"),
                 {});
    INFO(result.report);
    for (const Finding& finding : result.findings) {
      if (finding.rule == "copy.alignment-by-chance") CHECK(finding.severity == Severity::advice);
    }
    return std::ranges::count(rules(result), "copy.alignment-by-chance");
  };
  const std::string bytes_in =
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r1], [%rd1], 256, [%r2];\n";
  const std::string bytes_out =
      "cp.async.bulk.global.shared::cta.bulk_group [%rd1], [%r1], 256;\n" + commit + drain;
  const std::string loads = load + waits;
  const std::string stores = store + commit + drain;
  for (const std::string& copies : {loads, stores}) {
    CHECK(findings(".align 16 .b8 small", copies, "") == 1);
    CHECK(findings(".align 16 .b8 small", copies, "add.u32 %r1, %r1, 256;\n") == 1);
    CHECK(findings(".align 16 .b8 small", copies, "shl.b32 %r9, %r0, 7;\nadd.u32 %r1, %r1, %r9;\n") == 1);
    CHECK(findings(".align 128 .b8 small", copies, "") == 0);
    CHECK(findings(".align 16 .b8 small", copies, "add.u32 %r1, %r1, 127;\nand.b32 %r1, %r1, -128;\n") == 0);
  }
  for (const std::string& copies : {bytes_in + waits, bytes_out}) {
    CHECK(findings(".align 8 .b8 small", copies, "") == 1);
    CHECK(findings(".b32 small", copies, "") == 1);
    CHECK(findings(".align 16 .b8 small", copies, "") == 0);
    // Other threads may add unknown values.
    CHECK(findings(".align 8 .b8 small", copies, "add.u32 %r1, %r1, %r0;\n") == 0);
  }
}

TEST_CASE(
    "the proxy fence belongs before the barrier in the writing threads, not after it in the storing one") {
  const auto store_after = [&](const std::string& before, const std::string& leader) {
    return rules_of(before + "@%p0 bra END;\n" + leader + store + commit + drain + "END:\nret;");
  };
  CHECK(store_after(writes + fence + barrier, "").empty());
  CHECK(store_after(writes + barrier, "") == Rules{"store.missing-proxy-fence"});
  CHECK(store_after(writes + barrier, fence) == Rules{"store.late-proxy-fence"});
  CHECK(store_after(writes + barrier + fence, "") == Rules{"store.late-proxy-fence"});
  CHECK(store_after(writes + barrier + "@%p0 " + fence, "") == Rules{"store.missing-proxy-fence"});
  CHECK(store_after(writes + barrier + fence + barrier, "").empty());
  CHECK(store_after(writes + fence, "") == Rules{"store.missing-barrier"});
  CHECK(store_after(writes + "fence.proxy.async;\n" + barrier, "").empty());
  CHECK(store_after(writes + "fence.proxy.async.global;\n" + barrier, "") ==
        Rules{"store.missing-proxy-fence"});
  CHECK(store_after(writes + "@%p0 " + fence + barrier, "") == Rules{"store.missing-proxy-fence"});
}

TEST_CASE("stores by wmma need a proxy fence like other stores") {
  const auto with = [](const std::string& space, const std::string& between) {
    return rules_of("wmma.store.d.sync.aligned.row.m16n16k16." + space +
                    ".s32 [%r1], {%r3, %r3, %r3, %r3, %r3, %r3, %r3, %r3}, 16;\n" + between + barrier +
                    "@%p0 bra END;\n" + store + commit + drain + "END:\nret;");
  };
  CHECK(with("shared", fence).empty());
  CHECK(with("shared", "") == Rules{"store.missing-proxy-fence"});
  CHECK(rules_of("wmma.load.a.sync.aligned.row.m16n16k16.shared.bf16 {%r4, %r5, %r6, %r7}, [%r1], 16;\n" +
                 barrier + "@%p0 bra END;\n" + store + commit + drain + "END:\nret;")
            .empty());
}

TEST_CASE("a thread that writes and stores a tile alone needs a fence but no barrier") {
  const std::string only_thread_0 = "@%p0 bra END;\n";
  const std::string end = store + commit + drain + "END:\nret;";
  CHECK(rules_of(only_thread_0 + writes + fence + end).empty());
  CHECK(rules_of(only_thread_0 + writes + end) == Rules{"store.missing-proxy-fence"});
  CHECK(rules_of("@%p0 bra MEET;\n" + writes + "MEET:\n" + barrier + only_thread_0 + fence + end).empty());
}

TEST_CASE("writes to other memory than the stored tile need no fence") {
  const std::string elsewhere = "mov.u32 %r9, other;\nst.shared.u32 [%r9], %r0;\n";
  CHECK(rules_of(elsewhere + barrier + "@%p0 bra END;\n" + store + commit + drain + "END:\nret;").empty());
  CHECK(rules_of("st.shared.u32 [%r1+4096], %r0;\n" + barrier +
                 "@%p0 bra END;\ncp.async.bulk.global.shared::cta.bulk_group [%rd0], [%r1], 4096;\n" +
                 commit + drain + "END:\nret;")
            .empty());
  CHECK(rules_of("st.shared.u32 [%r1+4092], %r0;\n" + barrier +
                 "@%p0 bra END;\ncp.async.bulk.global.shared::cta.bulk_group [%rd0], [%r1], 4096;\n" +
                 commit + drain + "END:\nret;") == Rules{"store.missing-proxy-fence"});
}

TEST_CASE("a bulk store must be committed and waited for on all paths") {
  CHECK(rules_of(store + commit + drain + "ret;").empty());
  CHECK(rules_of(store + commit + "cp.async.bulk.wait_group 0;\nret;").empty());
  CHECK(rules_of(store + drain + "ret;") == Rules{"exit.store-unread"});
  CHECK(rules_of(store + commit + "ret;") == Rules{"exit.store-unread"});
  CHECK(rules_of(store + commit + "cp.async.bulk.wait_group.read 1;\nret;") == Rules{"exit.store-unread"});
  // The store's group is the second newest, so it suffices to wait until one group is pending.
  CHECK(rules_of(store + commit + commit + "cp.async.bulk.wait_group.read 1;\nret;").empty());
  CHECK(rules_of(store + commit + "@%p0 exit;\n" + drain + "ret;") == Rules{"exit.store-unread"});
  // The thread that stores also waits: both conditions are the same, computed by different instructions.
  CHECK(rules_of("@%p0 bra NEXT;\n" + store + commit + "NEXT:\nsetp.eq.u32 %p1, %r0, 0;\n@!%p1 bra END;\n" +
                 drain + "END:\nret;")
            .empty());
  CHECK(rules_of("@!%p0 " + store + "@!%p0 " + commit + "@!%p0 " + drain + "ret;").empty());
  CHECK(rules_of("setp.lt.u32 %p1, %r0, 1;\n@%p1 " + store + "@!%p0 " + commit + "@!%p0 " + drain + "ret;")
            .empty());
}

TEST_CASE("shared memory must not be written again before a bulk store has read it") {
  const std::string stored = initialise + barrier + store + commit;
  const std::string end = waits + "cp.async.bulk.wait_group 0;\nret;";
  CHECK(rules_of(stored + drain + expect + load + end).empty());
  CHECK(rules_of(stored + expect + load + end) == Rules{"load.before-store-read"});
  CHECK(rules_of(stored + "cp.async.bulk.wait_group.read 1;\n" + expect + load + end) ==
        Rules{"load.before-store-read"});
  CHECK(rules_of(stored + "st.shared.u32 [%r1+12], %r0;\n" + end) ==
        Rules{"shared.overwritten-before-store-read"});
  CHECK(rules_of(stored + "st.shared.u32 [%r1+4096], %r0;\n" + end).empty());
  CHECK(rules_of(stored + "st.shared.u32 [other], %r0;\n" + end).empty());
  // The next iteration of a loop may use the other of two buffers.
  const std::string ring =
      "mov.u32 %r4, 0;\nLOOP:\nand.b32 %r5, %r4, 1;\nshl.b32 %r5, %r5, 12;\nadd.s32 %r5, %r5, %r1;\n"
      "cp.async.bulk.wait_group.read 1;\nst.shared.u32 [%r5], %r0;\n" +
      fence + "cp.async.bulk.global.shared::cta.bulk_group [%rd0], [%r5], 4096;\n" + commit +
      "add.s32 %r4, %r4, 1;\nsetp.lt.u32 %p1, %r4, 9;\n@%p1 bra LOOP;\n" + drain + "ret;";
  CHECK(rules_of(ring).empty());
  const std::string one_buffer = "mov.u32 %r4, 0;\nLOOP:\nst.shared.u32 [%r1], %r0;\n" + fence +
                                 "cp.async.bulk.global.shared::cta.bulk_group [%rd0], [%r1], 4096;\n" +
                                 commit + "add.s32 %r4, %r4, 1;\nsetp.lt.u32 %p1, %r4, 9;\n@%p1 bra LOOP;\n" +
                                 drain + "ret;";
  CHECK(rules_of(one_buffer) == Rules{"shared.overwritten-before-store-read"});
}

TEST_CASE("a predicate that is stored in a register and compared again is the same condition") {
  // Compilers generate this code for predicates of inline assembly.
  const std::string elect = "elect.sync _|%p4, 0xffffffff;\nselp.u32 %rN, 1, 0, %p4;\n";
  const auto elected = [&](const std::string& reg) { return replace("%rN", reg)(elect); };
  CHECK(rules_of(elected("%r4") + "setp.eq.s32 %p1, %r4, 0;\n@%p1 bra A;\n" + store + commit + "A:\n" +
                 elected("%r5") + "setp.ne.s32 %p2, %r5, 0;\n@!%p2 bra B;\n" + drain + "B:\nret;")
            .empty());
  // One elected thread stores the tile that all threads have written.
  CHECK(rules_of(writes + fence + elected("%r4") + "setp.eq.s32 %p1, %r4, 0;\n@%p1 bra A;\n" + store +
                 commit + drain + "A:\nret;") == Rules{"store.missing-barrier"});
  // The warp's index, broadcast from its first lane, computed twice.
  const std::string warp = "shr.u32 %rN, %r0, 5;\nshfl.sync.idx.b32 %rN|%p5, %rN, 0, 31, -1;\n";
  const auto first_warp = [&](const std::string& reg) {
    std::string text = warp;
    for (int i = 0; i < 3; ++i) text = replace("%rN", reg)(text);
    return text;
  };
  CHECK(rules_of(first_warp("%r4") + "setp.ne.s32 %p1, %r4, 0;\n@%p1 bra A;\n" + store + commit + "A:\n" +
                 first_warp("%r5") + "setp.ne.s32 %p2, %r5, 0;\n@%p2 bra B;\n" + drain + "B:\nret;") ==
        Rules{"race.global-write-write"});  // all lanes of the warp store
  CHECK(rules_of(first_warp("%r4") + "setp.ne.s32 %p1, %r4, 0;\n@%p1 bra A;\n" + store + commit + "A:\n" +
                 first_warp("%r5") + "setp.ne.s32 %p2, %r5, 1;\n@%p2 bra B;\n" + drain + "B:\nret;") ==
        Rules{"exit.store-unread", "race.global-write-write"});
}

TEST_CASE("a condition of one iteration says nothing about the next") {
  // The store is in one iteration; its commit and wait are under the same comparison with another value.
  const std::string body =
      "mov.u32 %r4, 0;\nLOOP:\nld.shared.u32 %r5, [%r1];\nsetp.eq.s32 %p1, %r5, 7;\n@!%p1 bra NEXT;\n" +
      commit + drain + "NEXT:\n@!%p1 bra ON;\n" + store +
      "ON:\nadd.s32 %r4, %r4, 1;\nsetp.lt.u32 %p2, %r4, 9;\n@%p2 bra LOOP;\nret;";
  CHECK(rules_of(body) == Rules{"exit.store-unread"});
}

TEST_CASE("an mbarrier must expect the bytes that its loads write") {
  const auto body = [&](const std::string& middle) {
    return rules_of(initialise + barrier + middle + waits + "ret;");
  };
  CHECK(body(expect + load).empty());
  CHECK(body(expect + load + load) == Rules{"mbarrier.expected-bytes"});
  CHECK(body(expect) == Rules{"mbarrier.expected-bytes"});
  // expect_tx may count loads that come before it or that another thread makes.
  CHECK(body(load + expect).empty());
  CHECK(body("@!%p0 bra B;\n" + expect + "bra JOIN;\nB:\n" + load + "JOIN:\n").empty());
  // Some threads skip the load.
  CHECK(body("@!%p0 bra C;\nsetp.gt.u32 %p3, %r0, 1;\n" + expect + "@%p3 bra C;\n" + load + "C:\n").empty());
  CHECK(body("mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%r2], 4096;\n" + load +
             "mbarrier.arrive.shared::cta.b64 _, [%r2];\n")
            .empty());
  CHECK(body("mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%r2], 2048;\n"
             "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r2], 2048;\n" +
             load)
            .empty());
  // Without the tensor map's box the bytes are unknown.
  CHECK(rules_of(initialise + barrier + expect + load + load + waits + "ret;", {}).empty());
}

TEST_CASE("the bytes of loads in a loop add up") {
  const auto body = [&](const std::string& bytes) {
    return rules_of(initialise + barrier + "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r2], " + bytes +
                    ";\nmov.u32 %r4, 0;\nLOOP:\n" + load +
                    "add.s32 %r4, %r4, 1;\nsetp.lt.u32 %p1, %r4, 4;\n@%p1 bra LOOP;\n" + waits + "ret;");
  };
  CHECK(body("16384").empty());
  CHECK(body("16400") == Rules{"mbarrier.expected-bytes"});
}

TEST_CASE("an mbarrier needs initialisation, a fence and a barrier before it is used") {
  CHECK(rules_of(waits + "ret;") == Rules{"mbarrier.uninitialised"});
  CHECK(rules_of("@%p0 bra A;\n" + initialise + "A:\n" + barrier + waits + "ret;").empty());
  CHECK(rules_of("@%p0 bra A;\n" + initialise + "A:\n" + waits + "ret;") == Rules{"mbarrier.uninitialised"});
  CHECK(rules_of(initialise + waits + "ret;").empty());
  const std::string unfenced = "mbarrier.init.shared::cta.b64 [%r2], 1;\n";
  CHECK(rules_of("@%p0 bra A;\n" + unfenced + expect + load + "A:\n" + barrier + waits + "ret;") ==
        Rules{"mbarrier.init-not-fenced"});
  CHECK(rules_of("@%p0 bra A;\n" + unfenced + fence + expect + load + "A:\n" + barrier + waits + "ret;")
            .empty());
  // A fence by another thread than the initialising one does not count.
  CHECK(rules_of("@%p0 bra A;\n" + unfenced + "A:\n" + barrier + "setp.ne.s32 %p1, %r0, 32;\n@%p1 bra B;\n" +
                 fence + expect + load + "B:\n" + waits + "ret;") == Rules{"mbarrier.init-not-fenced"});
}

TEST_CASE("the size of a 1-D bulk copy must be a multiple of 16, not 0, and within its variable") {
  const auto body = [&](const std::string& bytes) {
    return rules_of("ld.param.u32 %r8, [n];\n" + bytes +
                    "cp.async.bulk.global.shared::cta.bulk_group [%rd0], [%r1], %r7;\n" + commit + drain +
                    "ret;");
  };
  CHECK(body("mov.u32 %r7, 4096;\n").empty());
  CHECK(body("mov.u32 %r7, %r8;\n").empty());
  CHECK(body("shl.b32 %r7, %r8, 4;\n").empty());
  CHECK(body("mov.u32 %r7, 4100;\n") == Rules{"copy.global-alignment"});
  CHECK(body("shl.b32 %r7, %r8, 4;\nadd.s32 %r7, %r7, 8;\n") == Rules{"copy.global-alignment"});
  CHECK(body("mov.u32 %r7, 0;\n") == Rules{"copy.empty"});
  CHECK(body("mov.u32 %r7, 8208;\n") == Rules{"shared.out-of-bounds"});
}

TEST_CASE("coordinates must match the map's rank, and must be aligned and, for stores, not negative") {
  CHECK(rules_of("cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%rd0, {0, -1}], [%r1];\n" +
                 commit + drain + "ret;") == Rules{"store.negative-coordinate"});
  CHECK(rules_of("cp.async.bulk.prefetch.tensor.2d.L2.global.tile [%rd0, {2, 0}];\nret;") ==
        Rules{"copy.inner-coordinate"});
  CHECK(rules_of("cp.async.bulk.prefetch.tensor.2d.L2.global.tile [%rd0, {4, 1}];\nret;").empty());
  CHECK(rules_of("cp.async.bulk.prefetch.tensor.3d.L2.global.tile [%rd0, {0, 0, 0}];\nret;") ==
        Rules{"tensormap.rank"});
}

TEST_CASE("im2col copies need offsets within range and a tensor map of mode im2col") {
  const auto found = [](const std::string& copy, std::optional<MapMode> mode = MapMode::im2col) {
    MapFacts facts{.parameter = "0"};
    facts.mode = mode;
    return rules(
        lint_ptx(entry(registers + "cp.async.bulk.prefetch.tensor." + copy + ";\nret;", rule_parameters),
                 {.maps = {facts}}));
  };
  CHECK(found("4d.L2.global.im2col [%rd0, {0, -1, -1, 0}], {255, 0}").empty());
  CHECK(found("4d.L2.global.im2col [%rd0, {0, 0, 0, 0}], {0, 256}") == Rules{"im2col.offset"});
  CHECK(found("5d.L2.global.im2col [%rd0, {0, 0, 0, 0, 0}], {0, 32, 0}") == Rules{"im2col.offset"});
  CHECK(found("3d.L2.global.im2col [%rd0, {0, 0, 0}], {256}").empty());
  CHECK(found("3d.L2.global.tile [%rd0, {0, 0, 0}]") == Rules{"tensormap.mode"});
  CHECK(found("3d.L2.global.tile [%rd0, {0, 0, 0}]", {}).empty());
  CHECK(found("3d.L2.global.im2col [%rd0, {0, 0, 0}], {0}", MapMode::tiled) == Rules{"tensormap.mode"});
}

TEST_CASE("a reduction must exist for the type of its tensor map") {
  const auto found = [](ElementType type, const std::string& operation) {
    MapFacts facts{.parameter = "0"};
    facts.type = type;
    return lint_ptx(entry(registers + "cp.reduce.async.bulk.tensor.2d.global.shared::cta." + operation +
                              ".tile.bulk_group [%rd0, {0, 0}], [%r1];\n" + commit + drain + "ret;",
                          rule_parameters),
                    {.maps = {facts}});
  };
  using enum ElementType;
  for (const ElementType type : {u32, i32, u64, f32, f32_ftz, f16, bf16})
    CHECK(rules(found(type, "add")).empty());
  for (const ElementType type : {u32, i32, u64}) CHECK(rules(found(type, "xor")).empty());
  for (const ElementType type : {i32, i64, bf16}) CHECK(rules(found(type, "max")).empty());
  CHECK(rules(found(f32, "min")) == Rules{"reduce.type"});
  CHECK(rules(found(f32, "and")) == Rules{"reduce.type"});
  CHECK(rules(found(i32, "dec")) == Rules{"reduce.type"});
  CHECK(rules(found(u8, "add")) == Rules{"reduce.type"});
  CHECK(found(i64, "or").findings.at(0).expected == "a map of u64, which gives the same bits");
}

TEST_CASE("calls have unknown effects, so that nothing is reported about memory that they may use") {
  const std::string function =
      ".func finish()\n{\ncp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;\nret;\n}\n";
  CHECK(rules(lint_ptx(entry(registers + store + "call.uni finish;\nret;", rule_parameters, function),
                       box_4096))
            .empty());
}

TEST_CASE("a wait whose result is ignored is reported if no other wait can be for the same mbarrier") {
  const auto kernel = [&](const std::string& wait) {
    return rules_of("@%p0 bra READY;\n" + initialise + expect + load + "READY:\n" + barrier + wait +
                    "ld.shared.u32 %r8, [%r1];\nld.param.u64 %rd1, [out];\nst.global.u32 [%rd1], %r8;\nret;");
  };
  const Rules ignored{"mbarrier.unchecked-wait"};
  const std::string once = "mbarrier.try_wait.parity.shared::cta.b64 %p7, [%r2], 0;\n";
  CHECK(kernel(waits).empty());
  CHECK(kernel(once) == ignored);
  CHECK(kernel("mbarrier.test_wait.parity.shared::cta.b64 %p7, [%r2], 0;\n") == ignored);
  // The inline PTX of wrappers that return a bool, which their caller drops.
  const std::string wrapped = once + "selp.u32 %r9, 1, 0, %p7;\nadd.u32 %r10, %r9, 1;\n";
  CHECK(kernel(wrapped) == ignored);
  CHECK(kernel(wrapped + "setp.eq.u32 %p6, %r10, 1;\n") == ignored);
  // The result reaches a branch, a guard, memory, or an address.
  CHECK(kernel("WAIT:\n" + wrapped + "setp.eq.u32 %p6, %r10, 1;\n@%p6 bra WAIT;\n").empty());
  CHECK(kernel(once + "@!%p7 trap;\n").empty());
  CHECK(kernel(wrapped + "st.shared.u32 [tile+4096], %r10;\n").empty());
  CHECK(kernel(wrapped + "add.u32 %r10, %r10, %r1;\nld.shared.u32 %r11, [%r10+3];\n").empty());
  // A loop writes the predicate in its last instruction and reads it in its first.
  CHECK(kernel("setp.ne.u32 %p7, 0, 0;\nAGAIN:\n@%p7 bra DONE;\n" + once + "bra AGAIN;\nDONE:\n").empty());
  // A first attempt, then a loop; a wait for another mbarrier does not help.
  CHECK(kernel(once + waits).empty());
  const std::string wait_for_other =
      "mov.u32 %r11, other;\nOTHER:\nmbarrier.try_wait.parity.shared::cta.b64 %p6, [%r11], 0;\n@!%p6 bra "
      "OTHER;\n";
  const auto others = [&](const std::string& wait) {
    return kernel("@%p0 bra SET;\nmov.u32 %r12, other;\nmbarrier.init.shared::cta.b64 [%r12], 1;\nSET:\n" +
                  barrier + wait + wait_for_other);
  };
  CHECK(others(once) == ignored);
  CHECK(others(waits).empty());
  // A called function may wait.
  const std::string function = ".func wait_for()\n{\nret;\n}\n";
  const std::string body = initialise + expect + load + once + "call.uni wait_for;\nret;";
  CHECK(rules(lint_ptx(entry(registers + body, rule_parameters, function), box_4096)).empty());
}

TEST_CASE("an unknown instruction is a note with a caret, and other functions are still checked") {
  const LintResult result =
      lint_body("frobnicate.u32 %r1;\nmov.u32 %r4, 1;\ncp.async.bulk.tensro [%r1];\nret;");
  CHECK(result.findings.empty());
  REQUIRE(result.notes.size() == 2);
  CHECK(result.notes[0].rule == "instruction.unknown");
  CHECK(result.notes[0].instruction == "frobnicate.u32 %r1;");
  CHECK(result.notes[0].ptx_line + 2 == result.notes[1].ptx_line);
  CHECK_THAT(result.report,
             ContainsSubstring(": note: instruction.unknown: unknown instruction 'frobnicate'") &&
                 ContainsSubstring("frobnicate.u32 %r1;\n^"));
  const LintResult other =
      lint_ptx(entry("frobnicate.u32 %r1;\nret;", "",
                     ".visible .entry first()\n{\n.shared .align 8 .b64 b;\n.reg .b32 %r;\nmov.u32 %r, b;\n"
                     "mbarrier.init.shared::cta.b64 [%r], 0;\nret;\n}\n"));
  CHECK(rules(other) == Rules{"mbarrier.count"});
  CHECK(other.notes.size() == 1);
  std::string many;
  for (int i = 0; i < 100; ++i) many += "frobnicate;\n";
  CHECK(lint_body(many).notes.size() == 20);
}

TEST_CASE("an undeclared name is a finding, and other functions are still checked") {
  const std::string text =
      entry("mov.u32 %r1, 1;\nret;", "",
            ".visible .entry first()\n{\n.shared .align 8 .b64 b;\n.reg .b32 %r;\nmov.u32 %r, b;\n"
            "mbarrier.init.shared::cta.b64 [%r], 0;\nret;\n}\n");
  const LintResult result = lint_ptx(text);
  CHECK(rules(result) == Rules{"mbarrier.count", "name"});
  CHECK(result.kernels == std::vector<std::string>{"first", "k"});
}

TEST_CASE("random text does not make lint throw") {
  for (const char* text : {"", "\n", ".version", ".version 9.0\n.target sm_90a\n", "garbage \xff\x01"}) {
    const LintResult result = lint_ptx(text);
    CHECK(result.findings.empty() == result.report.empty());
    CHECK(result.kernels.empty());
  }
  CHECK(lint_ptx(".version 9.0\n.target sm_90a\n.visible .entry k() { }\n").findings.empty());
}
