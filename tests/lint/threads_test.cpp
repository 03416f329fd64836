/// Instructions that only one thread should execute but several do, or that several threads execute without
/// having synchronised; and similar correct code.
#include "lint/support.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators_all.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

using namespace tmajit;
using namespace tests;
using Catch::Matchers::ContainsSubstring;
using Rules = std::vector<std::string>;

namespace {

/// Sets %r0: thread index; %r1: tile; %r2: mbarrier `full`; %r3: 0; %r4: warp; %r5: lane; %rd0: map; %rd1:
/// out.
const std::string thread_registers =
    ".reg .pred %p<8>;\n.reg .b32 %r<24>;\n.reg .b64 %rd<16>;\n"
    ".shared .align 1024 .b8 tile[8192];\n.shared .align 8 .b64 full[64];\n"
    "mov.u32 %r0, %tid.x;\nmov.u32 %r1, tile;\nmov.u32 %r2, full;\nmov.u32 %r3, 0;\nshr.u32 %r4, %r0, 5;\n"
    "and.b32 %r5, %r0, 31;\nmov.u64 %rd0, map;\nld.param.u64 %rd1, [out];\n";
const std::string thread_parameters = ".param .align 64 .b8 map[128], .param .u64 out";

Rules thread_rules(const std::string& body, const std::string& directives = {}) {
  std::string text = entry(thread_registers + body + "ret;", thread_parameters);
  if (!directives.empty()) text.insert(text.find("{\n"), directives + "\n");
  const LintResult result = lint_ptx(text);
  INFO(text << result.report);
  CHECK(result.unfinished.empty());
  return rules(result);
}

/// Code that sets %p1 for all lanes of one warp or of several warps.
std::string whole_warp() {
  return GENERATE(as<std::string>{}, "setp.eq.u32 %p1, %r4, 0;\n", "setp.lt.u32 %p1, %r0, 32;\n",
                  "shfl.sync.idx.b32 %r6, %r4, 0, 31, -1;\nsetp.eq.s32 %p1, %r6, 0;\n",
                  "setp.ge.u32 %p1, %r0, 64;\n", "setp.ne.u32 %p1, %r4, 3;\n",
                  "setp.eq.u32 %p2, %r4, 1;\nsetp.eq.or.u32 %p1, %r4, 2, %p2;\n");
}
/// Code that sets %p1 for at most one lane of a warp, or for lanes that lint cannot determine.
std::string one_lane() {
  return GENERATE(
      as<std::string>{}, "setp.eq.u32 %p1, %r0, 0;\n", "setp.eq.u32 %p1, %r5, 0;\n",
      "setp.lt.u32 %p2, %r0, 32;\nsetp.eq.and.u32 %p1, %r5, 0, %p2;\n", "elect.sync _|%p1, -1;\n",
      "setp.lt.u32 %p2, %r0, 32;\nelect.sync _|%p3, -1;\nand.pred %p1, %p2, %p3;\n",
      "ld.global.u32 %r6, [%rd1];\nsetp.lt.u32 %p2, %r0, 32;\nsetp.eq.and.u32 %p1, %r5, %r6, %p2;\n",
      "mov.u32 %r6, %laneid;\nsetp.eq.u32 %p1, %r6, 3;\n",
      "mov.u32 %r6, %tid.y;\nsetp.eq.u32 %p1, %r6, 0;\n");
}
/// Makes the instruction conditional on %p1, by a guard or by a branch.
std::string guarded(const std::string& instruction, bool by_branch) {
  return by_branch ? "@!%p1 bra SKIP;\n" + instruction + "SKIP:\n" : "@%p1 " + instruction;
}

const std::string init_barrier = "mbarrier.init.shared::cta.b64 [%r2], 1;\n";
const std::string load_tile =
    "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r1], [%rd1], 256, [%r2];\n";
const std::string store_bulk = "cp.async.bulk.global.shared::cta.bulk_group [%rd1], [%r1], 256;\n";
const std::string store_tile =
    "cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%rd0, {%r3, %r3}], [%r1];\n";
const std::string drain_all = "cp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;\n";
const std::string fence_store = "fence.proxy.async.shared::cta;\n";

/// Thread 0 initialises the mbarrier, and all threads synchronise.
const std::string initialised =
    "setp.eq.u32 %p7, %r0, 0;\n@%p7 mbarrier.init.shared::cta.b64 [%r2], 1;\n"
    "fence.mbarrier_init.release.cluster;\nbar.sync 0;\n";
const std::string wait_for_phase =
    "WAIT:\nmbarrier.try_wait.parity.shared::cta.b64 %p6, [%r2], 0;\n@!%p6 bra WAIT;\n";

}  // namespace

TEST_CASE("an mbarrier must be initialised by one thread only") {
  const bool by_branch = GENERATE(false, true);
  SECTION("several lanes") {
    CHECK(thread_rules(whole_warp() + guarded(init_barrier, by_branch)) ==
          Rules{"mbarrier.initialised-twice"});
  }
  SECTION("one lane, or unknown lanes") {
    CHECK(thread_rules(one_lane() + guarded(init_barrier, by_branch)).empty());
  }
  SECTION("each lane has an mbarrier of its own") {
    CHECK(thread_rules(whole_warp() + "shl.b32 %r7, %r0, 3;\nadd.u32 %r2, %r2, %r7;\n" +
                       guarded(init_barrier, by_branch))
              .empty());
  }
}

TEST_CASE("without a condition all threads of .maxntid or .reqntid execute an instruction") {
  CHECK(thread_rules(init_barrier).empty());
  CHECK(thread_rules(init_barrier, ".maxntid 1, 1, 1").empty());
  CHECK(thread_rules(init_barrier, ".maxntid 128, 1, 1") == Rules{"mbarrier.initialised-twice"});
  CHECK(thread_rules(init_barrier, ".reqntid 32") == Rules{"mbarrier.initialised-twice"});
  CHECK(thread_rules("setp.lt.u32 %p1, %r0, 32;\n@%p1 " + init_barrier, ".reqntid 1").empty());
  // Only threads that have not exited execute it: one, then 32.
  CHECK(thread_rules("setp.ne.u32 %p1, %r0, 0;\n@%p1 ret;\n" + init_barrier, ".reqntid 128").empty());
  CHECK(thread_rules("setp.ge.u32 %p1, %r0, 32;\n@%p1 ret;\n" + init_barrier, ".reqntid 128") ==
        Rules{"mbarrier.initialised-twice"});
  // Threads reach the instruction on several paths.
  CHECK(thread_rules("ld.global.u32 %r6, [%rd1];\nsetp.eq.u32 %p1, %r6, 0;\nsetp.eq.u32 %p2, %r0, 0;\n"
                     "@%p1 bra A;\n@%p2 bra B;\nbra C;\nA:\n@!%p2 bra C;\nB:\n" +
                         init_barrier + "C:\n",
                     ".reqntid 128")
            .empty());
  CHECK(thread_rules("mov.u32 %r6, 0;\nL:\nadd.u32 %r6, %r6, 1;\nsetp.lt.u32 %p1, %r6, 4;\n@%p1 bra L;\n" +
                         init_barrier,
                     ".reqntid 128") == Rules{"mbarrier.initialised-twice"});
}

TEST_CASE("a bulk copy must be issued by one thread only") {
  const bool by_branch = GENERATE(false, true);
  const std::string store = GENERATE(store_bulk, store_tile);
  SECTION("several lanes store") {
    CHECK(thread_rules(whole_warp() + guarded(store, by_branch) + drain_all) ==
          Rules{"race.global-write-write"});
  }
  SECTION("several lanes load") {
    CHECK(thread_rules(initialised + whole_warp() + guarded(load_tile, by_branch) + wait_for_phase) ==
          Rules{"load.overlap"});
  }
  SECTION("one lane") {
    const std::string one = one_lane();
    CHECK(thread_rules(one + guarded(store, by_branch) + drain_all).empty());
    CHECK(thread_rules(initialised + one + guarded(load_tile, by_branch) + wait_for_phase).empty());
  }
  SECTION("each lane copies a tile of its own") {
    const std::string own =
        "shl.b32 %r7, %r0, 8;\ncvt.u64.u32 %rd2, %r7;\nadd.u64 %rd1, %rd1, %rd2;\nmov.u32 %r3, %r0;\n";
    CHECK(thread_rules(own + whole_warp() + guarded(store, by_branch) + drain_all).empty());
  }
  SECTION("each of several lanes may issue a reduction") {
    const std::string sum =
        "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%rd1], [%r1], 256;\n";
    CHECK(thread_rules(whole_warp() + guarded(sum, by_branch) + drain_all).empty());
  }
}

namespace {

/// Loops that wait for the phase of an mbarrier, as several compilers generate them.
std::string wait_loop() {
  const std::string ask = "W:\nmbarrier.try_wait.parity.shared::cta.b64 %p1, [%r2+8], 0;\n";
  return GENERATE_COPY(
      as<std::string>{}, ask + "@!%p1 bra W;\n", ask + "@%p1 bra D;\nbra.uni W;\nD:\n",
      "mbarrier.try_wait.parity.shared::cta.b64 %p1, [%r2+8], 0;\n@%p1 bra D;\n" + ask + "@!%p1 bra W;\nD:\n",
      ask + "selp.u32 %r9, 1, 0, %p1;\nsetp.ne.u32 %p2, %r9, 0;\n@%p2 bra D;\nbra W;\nD:\n",
      "W:\nmbarrier.test_wait.parity.shared::cta.b64 %p1, [%r2+8], 0;\n@%p1 bra D;\n"
      "nanosleep.u32 20;\nbra W;\nD:\n");
}

/// Thread 0 initialises two mbarriers, and all threads synchronise.
const std::string both_initialised =
    "setp.eq.u32 %p7, %r0, 0;\n@%p7 mbarrier.init.shared::cta.b64 [%r2], 1;\n"
    "@%p7 mbarrier.init.shared::cta.b64 [%r2+8], 1;\nfence.mbarrier_init.release.cluster;\nbar.sync 0;\n";

}  // namespace

TEST_CASE("after a loop of try_wait the same lanes continue that began the loop") {
  const std::string wait = wait_loop();
  const std::string other_init = "mbarrier.init.shared::cta.b64 [%r2+16], 1;\n";
  const auto rules_after = [&](const std::string& condition, const std::string& instructions) {
    return thread_rules(both_initialised + condition + wait + instructions + "END:\n", ".maxntid 128, 1, 1");
  };
  const std::string all = GENERATE(as<std::string>{}, "", "setp.ne.u32 %p3, %r4, 0;\n@%p3 bra END;\n");
  CHECK(rules_after(all, store_bulk + drain_all) == Rules{"race.global-write-write"});
  CHECK(rules_after(all, store_tile + drain_all) == Rules{"race.global-write-write"});
  CHECK(rules_after(all, load_tile + wait_for_phase) == Rules{"load.overlap"});
  CHECK(rules_after(all, other_init) == Rules{"mbarrier.initialised-twice"});
  const std::string one = GENERATE(as<std::string>{}, "setp.ne.u32 %p3, %r0, 0;\n@%p3 bra END;\n",
                                   "elect.sync _|%p3, -1;\n@!%p3 bra END;\n");
  CHECK(rules_after(one, store_bulk + drain_all).empty());
  CHECK(rules_after(one, load_tile + wait_for_phase).empty());
  CHECK(rules_after(one, other_init).empty());
}

TEST_CASE("lanes that leave a loop in different iterations may store different rows, or store under a lock") {
  // %r9 counts iterations. The store is of the iteration's row, or under a lock.
  const std::string row =
      "shl.b32 %r10, %r9, 8;\nadd.u32 %r11, %r1, %r10;\n"
      "cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%rd0, {%r3, %r9}], [%r11];\n" +
      drain_all;
  const std::string leaving_loop = GENERATE(
      as<std::string>{}, "L:\nadd.u32 %r9, %r9, 1;\nsetp.ne.u32 %p1, %r9, %r5;\n@%p1 bra L;\n",
      "L:\nsetp.eq.u32 %p1, %r9, %r5;\n@%p1 bra D;\nadd.u32 %r9, %r9, 1;\nbra L;\nD:\n",
      "L:\nld.global.u32 %r8, [%rd1];\nsetp.eq.u32 %p1, %r8, 0;\n@%p1 bra D;\nadd.u32 %r9, %r9, 1;\nbra "
      "L;\nD:\n");
  CHECK(thread_rules("mov.u32 %r9, 0;\n" + leaving_loop + row, ".maxntid 128, 1, 1").empty());
  const std::string lock = GENERATE(
      as<std::string>{},
      "L:\natom.global.cas.b32 %r8, [%rd1], 0, 1;\nsetp.ne.u32 %p1, %r8, 0;\n@%p1 bra L;\n",
      "L:\natom.global.cas.b32 %r8, [%rd1], 0, 1;\nsetp.eq.u32 %p1, %r8, 0;\n@%p1 bra D;\nbra L;\nD:\n");
  CHECK(thread_rules(lock + store_bulk + drain_all, ".maxntid 128, 1, 1").empty());
}

TEST_CASE("all lanes execute an iteration together if the loop's counter is the same in all lanes") {
  // %p1: the lanes of warps 0 and 1, whose tiles are adjacent.
  const auto loop = [](const std::string& first, const std::string& step, const std::string& lanes) {
    return first + "shl.b32 %r10, %r4, 10;\nadd.u32 %r10, %r1, %r10;\n" + lanes +
           "L:\nsetp.lt.u32 %p5, %r8, 7;\n@!%p5 bra END;\n@!%p1 bra NEXT;\n"
           "cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%rd0, {%r4, %r8}], [%r10];\n" +
           drain_all + "NEXT:\n" + step + "bra L;\nEND:\n";
  };
  const std::string zero = "mov.u32 %r8, 0;\n";
  const std::string next = "add.u32 %r8, %r8, 1;\n";
  const std::string all = "setp.lt.u32 %p1, %r0, 64;\n";
  CHECK(thread_rules(loop(zero, next, all)) == Rules{"race.global-write-write"});
  CHECK(thread_rules(loop("mov.u32 %r8, %ctaid.x;\n", "mov.u32 %r9, %nctaid.x;\nadd.u32 %r8, %r8, %r9;\n",
                          all)) == Rules{"race.global-write-write"});
  // No finding: one lane of each warp stores, or the counter's start or step differs between lanes.
  CHECK(thread_rules(loop(zero, next, "setp.eq.u32 %p1, %r5, 0;\n")).empty());
  CHECK(thread_rules(loop("mov.u32 %r8, %r5;\n", next, all)).empty());
  CHECK(thread_rules(loop(zero, "add.u32 %r8, %r8, %r5;\nadd.u32 %r8, %r8, 1;\n", all)).empty());
  CHECK(thread_rules(loop(zero, "ld.global.u32 %r9, [%rd1];\nadd.u32 %r8, %r8, %r9;\n", all)).empty());
}

TEST_CASE("a group of threads that writes a tile needs a barrier before one of its threads stores the tile") {
  // As in ThunderKittens: two groups of 128 threads, each with a tile in every iteration.
  const auto loop_with = [](const std::string& meet) {
    return "shr.u32 %r11, %r0, 7;\nand.b32 %r12, %r0, 127;\nshl.b32 %r10, %r11, 9;\nadd.u32 %r10, %r1, "
           "%r10;\n"
           "shl.b32 %r9, %r12, 2;\nadd.u32 %r9, %r10, %r9;\nsetp.eq.u32 %p1, %r12, 0;\nmov.u32 %r8, 0;\n"
           "setp.ge.u32 %p2, %r0, 256;\n@%p2 bra END;\n"
           "L:\nst.shared.u32 [%r9], %r8;\n" +
           fence_store + meet +
           "@!%p1 bra NEXT;\n"
           "cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%rd0, {%r11, %r8}], [%r10];\n" +
           drain_all +
           "NEXT:\nadd.u32 %r13, %r11, 1;\nbarrier.sync %r13, 128;\nadd.u32 %r8, %r8, 1;\n"
           "setp.lt.u32 %p5, %r8, 7;\n@%p5 bra L;\nEND:\n";
  };
  CHECK(thread_rules(loop_with("")) == Rules{"store.missing-barrier"});
  CHECK(thread_rules(loop_with("add.u32 %r13, %r11, 1;\nbarrier.sync %r13, 128;\n")).empty());
}

TEST_CASE("threads that store memory which other threads wrote need a barrier first") {
  // Each thread writes a word. The first thread of each warp stores the warp's 128 bytes.
  const std::string writes = "shl.b32 %r9, %r0, 2;\nadd.s32 %r9, %r1, %r9;\nst.shared.u32 [%r9], %r0;\n";
  const std::string own_tile =
      "shl.b32 %r10, %r4, 7;\nadd.s32 %r10, %r1, %r10;\ncvt.u64.u32 %rd2, %r10;\n"
      "add.u64 %rd2, %rd1, %rd2;\nsetp.eq.u32 %p1, %r5, 0;\n";
  const std::string store =
      "@!%p1 bra END;\ncp.async.bulk.global.shared::cta.bulk_group [%rd2], [%r10], 128;\n" + drain_all +
      "END:\n";
  CHECK(thread_rules(writes + fence_store + own_tile + store) == Rules{"store.missing-barrier"});
  const std::string meet =
      GENERATE(as<std::string>{}, "bar.warp.sync -1;\n", "bar.sync 0;\n", "barrier.sync 1, 128;\n");
  CHECK(thread_rules(writes + fence_store + meet + own_tile + store).empty());
  // Each of the first four threads stores a row of 512 bytes that all threads have written.
  const std::string rows =
      "shl.b32 %r10, %r0, 9;\nadd.s32 %r10, %r1, %r10;\ncvt.u64.u32 %rd2, %r10;\n"
      "add.u64 %rd2, %rd1, %rd2;\nsetp.lt.u32 %p1, %r0, 4;\n";
  CHECK(thread_rules(writes + fence_store + rows + store) == Rules{"store.missing-barrier"});
  CHECK(thread_rules(writes + fence_store + meet + rows + store).empty());
}

TEST_CASE("threads that store only memory which they wrote themselves need no barrier") {
  // Each thread writes the first and the last 16 bytes of its row of 64. Rows of the upper threads are not
  // stored.
  const std::string row = "shl.b32 %r9, %r0, 6;\nadd.s32 %r9, %r1, %r9;\n";
  const std::string writes = row +
                             "st.shared.v4.u32 [%r9], {%r0, %r0, %r0, %r0};\n"
                             "st.shared.v4.u32 [%r9+48], {%r0, %r0, %r0, %r0};\n";
  const std::string store =
      "cvt.u64.u32 %rd2, %r9;\nadd.u64 %rd2, %rd1, %rd2;\nsetp.lt.u32 %p1, %r0, 100;\n"
      "@!%p1 bra END;\ncp.async.bulk.global.shared::cta.bulk_group [%rd2], [%r9], 64;\n" +
      drain_all + "END:\n";
  CHECK(thread_rules(writes + fence_store + store).empty());
  // The same address, computed from warp and lane instead of the thread index.
  const std::string again =
      "shl.b32 %r10, %r4, 11;\nshl.b32 %r11, %r5, 6;\nadd.u32 %r9, %r10, %r11;\nadd.u32 %r9, %r1, %r9;\n";
  CHECK(thread_rules(writes + fence_store + again + store).empty());
}

TEST_CASE("an mbarrier synchronises writes with the thread that stores them") {
  const std::string writes = "shl.b32 %r9, %r0, 2;\nadd.s32 %r9, %r1, %r9;\nst.shared.u32 [%r9], %r0;\n";
  const std::string arrive = "mbarrier.arrive.shared::cta.b64 _, [%r2];\n";
  const std::string store = "@!%p7 bra END;\n" + store_bulk + drain_all + "END:\n";
  CHECK(thread_rules(initialised + writes + fence_store + arrive + wait_for_phase + store).empty());
  CHECK(thread_rules(initialised + writes + fence_store + store) == Rules{"store.missing-barrier"});
}

TEST_CASE("a changed tensor map must be acquired before a copy uses it") {
  const std::string change = GENERATE(
      as<std::string>{},
      "tensormap.replace.tile.global_address.global.b1024.b64 [%rd1], %rd0;\n"
      "fence.proxy.tensormap::generic.release.gpu;\n",
      "tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned [%rd1], "
      "[%r1], 128;\n");
  const auto acquire = [](const std::string& address) {
    return "fence.proxy.tensormap::generic.acquire.gpu [" + address + "], 128;\n";
  };
  const std::string use =
      "setp.eq.u32 %p1, %r0, 0;\n@!%p1 bra END;\n"
      "cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%rd1, {%r3, %r3}], [%r1];\n" +
      drain_all + "END:\n";
  const std::string meet = GENERATE(as<std::string>{}, "", "bar.sync 0;\n", "bar.warp.sync -1;\n");
  CHECK(thread_rules(change + meet + use) == Rules{"tensormap.not-acquired"});
  CHECK(thread_rules(change + meet + acquire("%rd1") + use).empty());
  CHECK(thread_rules(change + acquire("%rd1") + meet + use).empty());
  // After a barrier any acquire counts, without one only that of the map. There is no finding for another
  // map, for an unknown one, and for a use before the change.
  CHECK(thread_rules(change + meet + acquire("%rd1+128") + use) ==
        (meet.empty() ? Rules{"tensormap.not-acquired"} : Rules{}));
  CHECK(
      thread_rules("add.u64 %rd3, %rd1, 128;\n" + change + meet +
                   "setp.eq.u32 %p1, %r0, 0;\n@!%p1 bra END;\n"
                   "cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%rd3, {%r3, %r3}], [%r1];\n" +
                   drain_all + "END:\n")
          .empty());
  CHECK(thread_rules("ld.global.u64 %rd3, [%rd1+256];\n" + change + acquire("%rd3") + use).empty());
  CHECK(thread_rules(use + change).empty());
  // One warp acquires the map for all threads of the CTA.
  CHECK(thread_rules("setp.lt.u32 %p2, %r0, 32;\n@!%p2 bra MET;\n" + change + acquire("%rd1") +
                     "MET:\nbar.sync 0;\n" + use)
            .empty());
}
