/// Findings of lint on instructions that several threads execute although only one should, and on threads
/// that use each other's data without synchronisation. Similar correct code must have no finding. Here
/// threads "write" shared memory by st.shared, and "store" it to global memory by bulk copies.
#include "lint/support.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators_all.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

using namespace tmajit;
using namespace tests;
using Catch::Matchers::ContainsSubstring;
using Rules = std::vector<std::string>;

namespace {

/// Declares registers and shared memory. Sets %r0: thread index; %r1: address of `tile`; %r2: address of the
/// first mbarrier of `full`; %r3: 0; %r4: warp; %r5: lane; %rd0: address of the tensor map; %rd1: address
/// `out`.
const std::string prologue =
    ".reg .pred %p<8>;\n.reg .b32 %r<24>;\n.reg .b64 %rd<16>;\n"
    ".shared .align 1024 .b8 tile[8192];\n.shared .align 8 .b64 full[64];\n"
    "mov.u32 %r0, %tid.x;\nmov.u32 %r1, tile;\nmov.u32 %r2, full;\nmov.u32 %r3, 0;\nshr.u32 %r4, %r0, 5;\n"
    "and.b32 %r5, %r0, 31;\nmov.u64 %rd0, map;\nld.param.u64 %rd1, [out];\n";
const std::string kernel_parameters = ".param .align 64 .b8 map[128], .param .u64 out";

/// The rules of lint's findings on a kernel of the prologue and `body`. `directives` limit its threads.
Rules found_rules(const std::string& body, const std::string& directives = {}) {
  std::string text = entry(prologue + body + "ret;", kernel_parameters);
  if (!directives.empty()) text.insert(text.find("{\n"), directives + "\n");
  const LintResult result = lint_ptx(text);
  INFO(text << result.report);
  CHECK(result.unfinished.empty());
  return rules(result);
}

/// Code that sets %p1 for all lanes of one warp or of several warps. Each test runs with every alternative.
std::string select_whole_warps() {
  return GENERATE(as<std::string>{}, "setp.eq.u32 %p1, %r4, 0;\n", "setp.lt.u32 %p1, %r0, 32;\n",
                  "shfl.sync.idx.b32 %r6, %r4, 0, 31, -1;\nsetp.eq.s32 %p1, %r6, 0;\n",
                  "setp.ge.u32 %p1, %r0, 64;\n", "setp.ne.u32 %p1, %r4, 3;\n",
                  "setp.eq.u32 %p2, %r4, 1;\nsetp.eq.or.u32 %p1, %r4, 2, %p2;\n");
}
/// Code that sets %p1 for at most one lane of a warp, or for lanes that lint cannot determine.
std::string select_one_lane() {
  return GENERATE(
      as<std::string>{}, "setp.eq.u32 %p1, %r0, 0;\n", "setp.eq.u32 %p1, %r5, 0;\n",
      "setp.lt.u32 %p2, %r0, 32;\nsetp.eq.and.u32 %p1, %r5, 0, %p2;\n", "elect.sync _|%p1, -1;\n",
      "setp.lt.u32 %p2, %r0, 32;\nelect.sync _|%p3, -1;\nand.pred %p1, %p2, %p3;\n",
      "ld.global.u32 %r6, [%rd1];\nsetp.lt.u32 %p2, %r0, 32;\nsetp.eq.and.u32 %p1, %r5, %r6, %p2;\n",
      "mov.u32 %r6, %laneid;\nsetp.eq.u32 %p1, %r6, 3;\n",
      "mov.u32 %r6, %tid.y;\nsetp.eq.u32 %p1, %r6, 0;\n");
}
/// Makes the instruction conditional on %p1, by a predicate or by a branch.
std::string if_selected(const std::string& instruction, bool by_branch) {
  return by_branch ? "@!%p1 bra SKIP;\n" + instruction + "SKIP:\n" : "@%p1 " + instruction;
}

const std::string init_barrier = "mbarrier.init.shared::cta.b64 [%r2], 1;\n";
const std::string load_bulk =
    "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r1], [%rd1], 256, [%r2];\n";
const std::string store_bulk = "cp.async.bulk.global.shared::cta.bulk_group [%rd1], [%r1], 256;\n";
const std::string store_tile =
    "cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%rd0, {%r3, %r3}], [%r1];\n";
const std::string wait_for_stores = "cp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;\n";
const std::string fence_async_proxy = "fence.proxy.async.shared::cta;\n";

/// Thread 0 initialises the mbarrier, and all threads synchronise.
const std::string initialise_and_synchronise =
    "setp.eq.u32 %p7, %r0, 0;\n@%p7 mbarrier.init.shared::cta.b64 [%r2], 1;\n"
    "fence.mbarrier_init.release.cluster;\nbar.sync 0;\n";
const std::string wait_for_phase =
    "WAIT:\nmbarrier.try_wait.parity.shared::cta.b64 %p6, [%r2], 0;\n@!%p6 bra WAIT;\n";

}  // namespace

TEST_CASE("an mbarrier that several lanes initialise is reported") {
  const bool by_branch = GENERATE(false, true);
  SECTION("several lanes") {
    CHECK(found_rules(select_whole_warps() + if_selected(init_barrier, by_branch)) ==
          Rules{"mbarrier.initialised-twice"});
  }
  SECTION("one lane, or unknown lanes") {
    CHECK(found_rules(select_one_lane() + if_selected(init_barrier, by_branch)).empty());
  }
  SECTION("each lane has an mbarrier of its own") {
    CHECK(found_rules(select_whole_warps() + "shl.b32 %r7, %r0, 3;\nadd.u32 %r2, %r2, %r7;\n" +
                      if_selected(init_barrier, by_branch))
              .empty());
  }
}

TEST_CASE("an instruction without a condition is executed by as many threads as .maxntid or .reqntid says") {
  CHECK(found_rules(init_barrier).empty());
  CHECK(found_rules(init_barrier, ".maxntid 1, 1, 1").empty());
  CHECK(found_rules(init_barrier, ".maxntid 128, 1, 1") == Rules{"mbarrier.initialised-twice"});
  CHECK(found_rules(init_barrier, ".reqntid 32") == Rules{"mbarrier.initialised-twice"});
  CHECK(found_rules("setp.lt.u32 %p1, %r0, 32;\n@%p1 " + init_barrier, ".reqntid 1").empty());
  // Only the threads that have not exited execute the instruction: thread 0, then 32 threads.
  CHECK(found_rules("setp.ne.u32 %p1, %r0, 0;\n@%p1 ret;\n" + init_barrier, ".reqntid 128").empty());
  CHECK(found_rules("setp.ge.u32 %p1, %r0, 32;\n@%p1 ret;\n" + init_barrier, ".reqntid 128") ==
        Rules{"mbarrier.initialised-twice"});
  // Thread 0 alone reaches the instruction, on one of two paths. Then all threads reach it, after a loop.
  CHECK(found_rules("ld.global.u32 %r6, [%rd1];\nsetp.eq.u32 %p1, %r6, 0;\nsetp.eq.u32 %p2, %r0, 0;\n"
                    "@%p1 bra A;\n@%p2 bra B;\nbra C;\nA:\n@!%p2 bra C;\nB:\n" +
                        init_barrier + "C:\n",
                    ".reqntid 128")
            .empty());
  CHECK(found_rules("mov.u32 %r6, 0;\nL:\nadd.u32 %r6, %r6, 1;\nsetp.lt.u32 %p1, %r6, 4;\n@%p1 bra L;\n" +
                        init_barrier,
                    ".reqntid 128") == Rules{"mbarrier.initialised-twice"});
}

TEST_CASE("a bulk copy that several lanes issue is reported") {
  const bool by_branch = GENERATE(false, true);
  const std::string store = GENERATE(store_bulk, store_tile);
  SECTION("several lanes store") {
    CHECK(found_rules(select_whole_warps() + if_selected(store, by_branch) + wait_for_stores) ==
          Rules{"race.global-write-write"});
  }
  SECTION("several lanes load") {
    CHECK(found_rules(initialise_and_synchronise + select_whole_warps() + if_selected(load_bulk, by_branch) +
                      wait_for_phase) == Rules{"load.overlap"});
  }
  SECTION("one lane") {
    const std::string one = select_one_lane();
    CHECK(found_rules(one + if_selected(store, by_branch) + wait_for_stores).empty());
    CHECK(found_rules(initialise_and_synchronise + one + if_selected(load_bulk, by_branch) + wait_for_phase)
              .empty());
  }
  SECTION("each lane stores to its own place in global memory") {
    const std::string own_place =
        "shl.b32 %r7, %r0, 8;\ncvt.u64.u32 %rd2, %r7;\nadd.u64 %rd1, %rd1, %rd2;\nmov.u32 %r3, %r0;\n";
    CHECK(found_rules(own_place + select_whole_warps() + if_selected(store, by_branch) + wait_for_stores)
              .empty());
  }
  SECTION("several lanes may issue the same reduction") {
    const std::string sum =
        "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%rd1], [%r1], 256;\n";
    CHECK(found_rules(select_whole_warps() + if_selected(sum, by_branch) + wait_for_stores).empty());
  }
}

namespace {

/// Loops that wait for a phase of the second mbarrier, as several compilers generate them.
std::string wait_loop() {
  const std::string labelled_wait = "W:\nmbarrier.try_wait.parity.shared::cta.b64 %p1, [%r2+8], 0;\n";
  return GENERATE_COPY(
      as<std::string>{}, labelled_wait + "@!%p1 bra W;\n", labelled_wait + "@%p1 bra D;\nbra.uni W;\nD:\n",
      "mbarrier.try_wait.parity.shared::cta.b64 %p1, [%r2+8], 0;\n@%p1 bra D;\n" + labelled_wait +
          "@!%p1 bra W;\nD:\n",
      labelled_wait + "selp.u32 %r9, 1, 0, %p1;\nsetp.ne.u32 %p2, %r9, 0;\n@%p2 bra D;\nbra W;\nD:\n",
      "W:\nmbarrier.test_wait.parity.shared::cta.b64 %p1, [%r2+8], 0;\n@%p1 bra D;\n"
      "nanosleep.u32 20;\nbra W;\nD:\n");
}

/// Thread 0 initialises the first two mbarriers, and all threads synchronise.
const std::string initialise_both_and_synchronise =
    "setp.eq.u32 %p7, %r0, 0;\n@%p7 mbarrier.init.shared::cta.b64 [%r2], 1;\n"
    "@%p7 mbarrier.init.shared::cta.b64 [%r2+8], 1;\nfence.mbarrier_init.release.cluster;\nbar.sync 0;\n";

}  // namespace

TEST_CASE("the lanes that enter a wait loop are those that leave it") {
  const std::string wait = wait_loop();
  const std::string other_init = "mbarrier.init.shared::cta.b64 [%r2+16], 1;\n";
  const auto rules_after = [&](const std::string& condition, const std::string& instructions) {
    return found_rules(initialise_both_and_synchronise + condition + wait + instructions + "END:\n",
                       ".maxntid 128, 1, 1");
  };
  // All lanes enter the loop, or those of warp 0.
  const std::string whole_warps =
      GENERATE(as<std::string>{}, "", "setp.ne.u32 %p3, %r4, 0;\n@%p3 bra END;\n");
  CHECK(rules_after(whole_warps, store_bulk + wait_for_stores) == Rules{"race.global-write-write"});
  CHECK(rules_after(whole_warps, store_tile + wait_for_stores) == Rules{"race.global-write-write"});
  CHECK(rules_after(whole_warps, load_bulk + wait_for_phase) == Rules{"load.overlap"});
  CHECK(rules_after(whole_warps, other_init) == Rules{"mbarrier.initialised-twice"});
  // One thread of the CTA or one lane of each warp enters the loop.
  const std::string one_lane = GENERATE(as<std::string>{}, "setp.ne.u32 %p3, %r0, 0;\n@%p3 bra END;\n",
                                        "elect.sync _|%p3, -1;\n@!%p3 bra END;\n");
  CHECK(rules_after(one_lane, store_bulk + wait_for_stores).empty());
  CHECK(rules_after(one_lane, load_bulk + wait_for_phase).empty());
  CHECK(rules_after(one_lane, other_init).empty());
}

TEST_CASE("stores of lanes that leave a loop in different iterations are not reported") {
  // %r9 counts iterations. Each lane stores the row of the iteration in which it left the loop.
  const std::string row =
      "shl.b32 %r10, %r9, 8;\nadd.u32 %r11, %r1, %r10;\n"
      "cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%rd0, {%r3, %r9}], [%r11];\n" +
      wait_for_stores;
  const std::string leaving_loop = GENERATE(
      as<std::string>{}, "L:\nadd.u32 %r9, %r9, 1;\nsetp.ne.u32 %p1, %r9, %r5;\n@%p1 bra L;\n",
      "L:\nsetp.eq.u32 %p1, %r9, %r5;\n@%p1 bra D;\nadd.u32 %r9, %r9, 1;\nbra L;\nD:\n",
      "L:\nld.global.u32 %r8, [%rd1];\nsetp.eq.u32 %p1, %r8, 0;\n@%p1 bra D;\nadd.u32 %r9, %r9, 1;\nbra "
      "L;\nD:\n");
  CHECK(found_rules("mov.u32 %r9, 0;\n" + leaving_loop + row, ".maxntid 128, 1, 1").empty());
  // A lane leaves the loop when it has the lock.
  const std::string lock = GENERATE(
      as<std::string>{},
      "L:\natom.global.cas.b32 %r8, [%rd1], 0, 1;\nsetp.ne.u32 %p1, %r8, 0;\n@%p1 bra L;\n",
      "L:\natom.global.cas.b32 %r8, [%rd1], 0, 1;\nsetp.eq.u32 %p1, %r8, 0;\n@%p1 bra D;\nbra L;\nD:\n");
  CHECK(found_rules(lock + store_bulk + wait_for_stores, ".maxntid 128, 1, 1").empty());
}

TEST_CASE("several lanes that store in one iteration are reported if they have the same loop counter") {
  // `start` and `step` set the counter %r8, `lanes` sets %p1 for the lanes that store. Each warp has a tile
  // of 1024 bytes.
  const auto loop = [](const std::string& start, const std::string& step, const std::string& lanes) {
    return start + "shl.b32 %r10, %r4, 10;\nadd.u32 %r10, %r1, %r10;\n" + lanes +
           "L:\nsetp.lt.u32 %p5, %r8, 7;\n@!%p5 bra END;\n@!%p1 bra NEXT;\n"
           "cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%rd0, {%r4, %r8}], [%r10];\n" +
           wait_for_stores + "NEXT:\n" + step + "bra L;\nEND:\n";
  };
  const std::string zero = "mov.u32 %r8, 0;\n";
  const std::string next = "add.u32 %r8, %r8, 1;\n";
  const std::string two_warps = "setp.lt.u32 %p1, %r0, 64;\n";
  CHECK(found_rules(loop(zero, next, two_warps)) == Rules{"race.global-write-write"});
  CHECK(found_rules(loop("mov.u32 %r8, %ctaid.x;\n", "mov.u32 %r9, %nctaid.x;\nadd.u32 %r8, %r8, %r9;\n",
                         two_warps)) == Rules{"race.global-write-write"});
  // There is no finding if one lane of each warp stores, or if the counter's start or step may differ between
  // lanes.
  CHECK(found_rules(loop(zero, next, "setp.eq.u32 %p1, %r5, 0;\n")).empty());
  CHECK(found_rules(loop("mov.u32 %r8, %r5;\n", next, two_warps)).empty());
  CHECK(found_rules(loop(zero, "add.u32 %r8, %r8, %r5;\nadd.u32 %r8, %r8, 1;\n", two_warps)).empty());
  CHECK(found_rules(loop(zero, "ld.global.u32 %r9, [%rd1];\nadd.u32 %r8, %r8, %r9;\n", two_warps)).empty());
}

TEST_CASE("a group of threads that writes a tile needs a barrier before one of its threads stores the tile") {
  // As in ThunderKittens: in each iteration, each of two groups of 128 threads writes a tile of 512 bytes,
  // and the group's first thread stores it.
  const auto loop_with = [](const std::string& barrier) {
    return "shr.u32 %r11, %r0, 7;\nand.b32 %r12, %r0, 127;\nshl.b32 %r10, %r11, 9;\nadd.u32 %r10, %r1, "
           "%r10;\n"
           "shl.b32 %r9, %r12, 2;\nadd.u32 %r9, %r10, %r9;\nsetp.eq.u32 %p1, %r12, 0;\nmov.u32 %r8, 0;\n"
           "setp.ge.u32 %p2, %r0, 256;\n@%p2 bra END;\n"
           "L:\nst.shared.u32 [%r9], %r8;\n" +
           fence_async_proxy + barrier +
           "@!%p1 bra NEXT;\n"
           "cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%rd0, {%r11, %r8}], [%r10];\n" +
           wait_for_stores +
           "NEXT:\nadd.u32 %r13, %r11, 1;\nbarrier.sync %r13, 128;\nadd.u32 %r8, %r8, 1;\n"
           "setp.lt.u32 %p5, %r8, 7;\n@%p5 bra L;\nEND:\n";
  };
  CHECK(found_rules(loop_with("")) == Rules{"store.missing-barrier"});
  CHECK(found_rules(loop_with("add.u32 %r13, %r11, 1;\nbarrier.sync %r13, 128;\n")).empty());
}

TEST_CASE("a thread that stores memory which other threads wrote needs a barrier first") {
  // Each thread writes a word. The first lane of each warp stores the warp's 128 bytes.
  const std::string writes = "shl.b32 %r9, %r0, 2;\nadd.s32 %r9, %r1, %r9;\nst.shared.u32 [%r9], %r0;\n";
  const std::string warp_rows =
      "shl.b32 %r10, %r4, 7;\nadd.s32 %r10, %r1, %r10;\ncvt.u64.u32 %rd2, %r10;\n"
      "add.u64 %rd2, %rd1, %rd2;\nsetp.eq.u32 %p1, %r5, 0;\n";
  const std::string store =
      "@!%p1 bra END;\ncp.async.bulk.global.shared::cta.bulk_group [%rd2], [%r10], 128;\n" + wait_for_stores +
      "END:\n";
  CHECK(found_rules(writes + fence_async_proxy + warp_rows + store) == Rules{"store.missing-barrier"});
  const std::string barrier =
      GENERATE(as<std::string>{}, "bar.warp.sync -1;\n", "bar.sync 0;\n", "barrier.sync 1, 128;\n");
  CHECK(found_rules(writes + fence_async_proxy + barrier + warp_rows + store).empty());
  // Each of the first four threads stores a row of 512 bytes, which 128 threads wrote.
  const std::string long_rows =
      "shl.b32 %r10, %r0, 9;\nadd.s32 %r10, %r1, %r10;\ncvt.u64.u32 %rd2, %r10;\n"
      "add.u64 %rd2, %rd1, %rd2;\nsetp.lt.u32 %p1, %r0, 4;\n";
  CHECK(found_rules(writes + fence_async_proxy + long_rows + store) == Rules{"store.missing-barrier"});
  CHECK(found_rules(writes + fence_async_proxy + barrier + long_rows + store).empty());
}

TEST_CASE("threads that store only memory which they wrote themselves need no barrier") {
  // Each thread writes the first and the last 16 bytes of its row of 64 bytes. Threads 0 to 99 store their
  // rows.
  const std::string row = "shl.b32 %r9, %r0, 6;\nadd.s32 %r9, %r1, %r9;\n";
  const std::string writes = row +
                             "st.shared.v4.u32 [%r9], {%r0, %r0, %r0, %r0};\n"
                             "st.shared.v4.u32 [%r9+48], {%r0, %r0, %r0, %r0};\n";
  const std::string store =
      "cvt.u64.u32 %rd2, %r9;\nadd.u64 %rd2, %rd1, %rd2;\nsetp.lt.u32 %p1, %r0, 100;\n"
      "@!%p1 bra END;\ncp.async.bulk.global.shared::cta.bulk_group [%rd2], [%r9], 64;\n" +
      wait_for_stores + "END:\n";
  CHECK(found_rules(writes + fence_async_proxy + store).empty());
  // The row's address is computed a second time, from warp and lane instead of the thread index.
  const std::string same_address =
      "shl.b32 %r10, %r4, 11;\nshl.b32 %r11, %r5, 6;\nadd.u32 %r9, %r10, %r11;\nadd.u32 %r9, %r1, %r9;\n";
  CHECK(found_rules(writes + fence_async_proxy + same_address + store).empty());
}

TEST_CASE("threads that write may synchronise with the thread that stores by an mbarrier") {
  const std::string writes = "shl.b32 %r9, %r0, 2;\nadd.s32 %r9, %r1, %r9;\nst.shared.u32 [%r9], %r0;\n";
  const std::string arrive = "mbarrier.arrive.shared::cta.b64 _, [%r2];\n";
  // Thread 0 stores: initialise_and_synchronise has set %p7 for it.
  const std::string store = "@!%p7 bra END;\n" + store_bulk + wait_for_stores + "END:\n";
  CHECK(found_rules(initialise_and_synchronise + writes + fence_async_proxy + arrive + wait_for_phase + store)
            .empty());
  CHECK(found_rules(initialise_and_synchronise + writes + fence_async_proxy + store) ==
        Rules{"store.missing-barrier"});
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
      wait_for_stores + "END:\n";
  const std::string barrier = GENERATE(as<std::string>{}, "", "bar.sync 0;\n", "bar.warp.sync -1;\n");
  CHECK(found_rules(change + barrier + use) == Rules{"tensormap.not-acquired"});
  CHECK(found_rules(change + barrier + acquire("%rd1") + use).empty());
  CHECK(found_rules(change + acquire("%rd1") + barrier + use).empty());
  // After a barrier, an acquire of any map counts. Without a barrier, the acquire must be of the changed map.
  CHECK(found_rules(change + barrier + acquire("%rd1+128") + use) ==
        (barrier.empty() ? Rules{"tensormap.not-acquired"} : Rules{}));
  // There is no finding if the copy uses another map, if the acquired map is unknown, or if the copy precedes
  // the change.
  CHECK(
      found_rules("add.u64 %rd3, %rd1, 128;\n" + change + barrier +
                  "setp.eq.u32 %p1, %r0, 0;\n@!%p1 bra END;\n"
                  "cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%rd3, {%r3, %r3}], [%r1];\n" +
                  wait_for_stores + "END:\n")
          .empty());
  CHECK(found_rules("ld.global.u64 %rd3, [%rd1+256];\n" + change + acquire("%rd3") + use).empty());
  CHECK(found_rules(use + change).empty());
  // One warp changes and acquires the map for all threads of the CTA.
  CHECK(found_rules("setp.lt.u32 %p2, %r0, 32;\n@!%p2 bra SYNCHRONISE;\n" + change + acquire("%rd1") +
                    "SYNCHRONISE:\nbar.sync 0;\n" + use)
            .empty());
}
