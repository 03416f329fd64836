/// CTAs that exit while peers may still use their shared memory, in every order. Also relaxed waits with a
/// fence, and loads into memory that threads have written.
#include "sim/text_kernel.hpp"

#include <catch2/matchers/catch_matchers_string.hpp>

namespace cluster_exit_test {

using namespace tmajit;
using namespace tests::text;
using Catch::Matchers::ContainsSubstring;

namespace {

struct Case {
  const char* name;
  std::string body;
  std::string rule;  ///< rule of the first report; empty: the kernel is correct
};

/// Runs a kernel in every mode with three seeds.
void check(const std::vector<Case>& cases, std::uint32_t cluster = 4) {
  for (const Case& each : cases) {
    for (const auto mode : {SimOptions::Mode::late, SimOptions::Mode::early, SimOptions::Mode::random}) {
      for (const std::uint64_t seed : {1UL, 4UL, 9UL}) {
        INFO(each.name << ", mode " << static_cast<int>(mode) << ", seed " << seed);
        const Outcome outcome =
            run(each.body, {.cluster = cluster, .block = 64, .options = {.mode = mode, .seed = seed}});
        if (each.rule.empty()) {
          expect_clean(outcome);
        } else {
          expect_first(outcome, each.rule);
        }
      }
    }
  }
}

const std::string relaxed = "barrier.cluster.arrive.relaxed.aligned;\nbarrier.cluster.wait.aligned;\n";
const std::string addresses = "shl.b32 %r10, %r1, 2;\nadd.u32 %r10, %r10, %r5;\n" + next +
                              "mapa.shared::cluster.u32 %r8, %r10, %r6;\n"
                              "mapa.shared::cluster.u32 %r9, %r5, %r6;\n";
const std::string wait = "W:\nmbarrier.try_wait.parity.shared::cta.b64 %p2, [smem], 0;\n@!%p2 bra W;\n";

}  // namespace

TEST_CASE("a CTA may exit when no peer reads its shared memory any more") {
  const auto reads = [](const std::string& end) {
    return registers + addresses + "st.shared.u32 [%r10+64], %r1;\n" + meet +
           "ld.shared::cluster.u32 %r11, [%r8+64];\n" + end + "ret;";
  };
  check({{"the cluster's barrier", reads(meet), ""},
         {"the cluster's barrier, relaxed: reads are complete", reads(relaxed), ""},
         {"no barrier", reads(""), "exit.peer-reads"},
         {"only the CTA's barrier", reads("bar.sync 0;\n"), "exit.peer-reads"}});
}

TEST_CASE("a CTA may exit when no peer writes into its shared memory any more") {
  const auto writes = [](const std::string& end) {
    return registers + addresses + meet + "st.shared::cluster.u32 [%r8+64], %r1;\n" + end + "ret;";
  };
  check({{"the cluster's barrier", writes(meet), ""},
         {"a fence, and the cluster's barrier, relaxed", writes("fence.acq_rel.cluster;\n" + relaxed), ""},
         {"the cluster's barrier, relaxed: the write may be incomplete", writes(relaxed), "exit.peer-writes"},
         {"no barrier", writes(""), "exit.peer-writes"}});
}

TEST_CASE("a CTA may exit when no peer arrives at its mbarriers any more") {
  const auto arrives = [](const std::string& end) {
    return registers + addresses + "@%p1 mbarrier.init.shared.b64 [smem], 64;\n" +
           "@%p1 fence.mbarrier_init.release.cluster;\n" + meet +
           "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r9];\n" + end + "ret;";
  };
  check({{"a wait for them", arrives(wait), ""},
         {"the cluster's barrier", arrives(meet), ""},
         {"no wait", arrives(""), "exit.peer-writes"}});
}

TEST_CASE("a CTA may exit when no copy into its shared memory is under way") {
  const auto multicast = [](const std::string& end) {
    return registers + ".reg .b16 %rs<2>;\nmov.u16 %rs1, 15;\nsetp.eq.and.u32 %p3, %r2, 0, %p1;\n" +
           "@!%p1 bra I;\nmbarrier.init.shared.b64 [smem], 1;\nfence.mbarrier_init.release.cluster;\n"
           "mbarrier.arrive.expect_tx.shared.b64 _, [smem], 256;\nI:\n" +
           meet +
           "@%p3 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster "
           "[%r5+1024], [%rd1], 256, [%r5], %rs1;\n" +
           end + "ret;";
  };
  // Rank 0, which issues the load, waits for its own bytes in both variants.
  check({{"all wait", multicast(wait), ""},
         {"rank 0 waits", multicast("setp.ne.u32 %p4, %r2, 0;\n@%p4 bra E;\n" + wait + "E:\n"),
          "exit.peer-writes"}});

  const auto sent = [](const std::string& end) {
    return registers + addresses +
           "@!%p1 bra I;\nmbarrier.init.shared.b64 [smem], 1;\nfence.mbarrier_init.release.cluster;\n"
           "mbarrier.arrive.expect_tx.shared.b64 _, [smem], 256;\nI:\n" +
           meet + "st.async.shared::cluster.mbarrier::complete_tx::bytes.u32 [%r8+64], %r1, [%r9];\n" + end +
           "ret;";
  };
  check({{"a wait for the words that it gets", sent(wait), ""},
         {"no wait", sent(""), "exit.peer-writes"},
         {"the cluster's barrier, which does not wait for copies", sent(meet), "exit.peer-writes"}});
}

TEST_CASE("a CTA may exit when the copies that it has sent have read its shared memory") {
  const auto sent = [](const std::string& end) {
    return registers + addresses +
           "mapa.shared::cluster.u32 %r12, %r5, %r6;\nst.shared.u32 [%r10+256], %r1;\n" +
           "@!%p1 bra I;\nmbarrier.init.shared.b64 [smem], 1;\nmbarrier.init.shared.b64 [smem+8], 64;\n"
           "fence.mbarrier_init.release.cluster;\nmbarrier.arrive.expect_tx.shared.b64 _, [smem], 256;\nI:\n"
           "fence.proxy.async.shared::cta;\n" +
           meet +
           "add.u32 %r13, %r5, 256;\nadd.u32 %r14, %r12, 1024;\n@%p1 "
           "cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%r14], [%r13], 256, "
           "[%r12];\n" +
           end + "ret;";
  };
  // Each CTA arrives at the CTA that sent its bytes: the copy has read them.
  const std::string back =
      "add.u32 %r15, %r2, %r3;\nsub.u32 %r15, %r15, 1;\nrem.u32 %r15, %r15, %r3;\nadd.u32 %r16, %r5, 8;\n"
      "mapa.shared::cluster.u32 %r16, %r16, %r15;\nmbarrier.arrive.release.cluster.shared::cluster.b64 _, "
      "[%r16];\n"
      "V:\nmbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p2, [smem+8], 0;\n@!%p2 bra V;\n";
  const std::string wait_relaxed =
      "W:\nmbarrier.try_wait.parity.relaxed.cluster.shared::cta.b64 %p2, [smem], 0;\n@!%p2 bra W;\n";
  check({{"the cluster's barrier after the waits for the copies", sent(wait + meet), ""},
         {"relaxed", sent(wait + relaxed), ""},
         {"relaxed, after relaxed waits", sent(wait_relaxed + relaxed), ""},
         {"an arrival by the CTA that got the bytes", sent(wait + back + meet), ""},
         {"each CTA waits only for the bytes that it gets", sent(wait), "exit.store-unread"},
         {"the cluster's barrier before the waits", sent(meet + wait), "exit.store-unread"},
         {"no waits", sent(meet), "exit."}});
}

TEST_CASE("a relaxed wait followed by a fence has acquire semantics") {
  const auto received = [](const std::string& scope, const std::string& fence) {
    return registers + addresses +
           "@%p1 mbarrier.init.shared.b64 [smem], 64;\n@%p1 fence.mbarrier_init.release.cluster;\n" + meet +
           "st.shared::cluster.u32 [%r8+64], %r4;\nmbarrier.arrive.release.cluster.shared::cluster.b64 _, "
           "[%r9];\nW:\nmbarrier.try_wait.parity." +
           scope + ".shared::cta.b64 %p2, [smem], 0;\n@!%p2 bra W;\n" + fence +
           "ld.shared.u32 %r11, [%r10+64];\n" + meet + "ret;";
  };
  check({{"an acquire", received("acquire.cluster", ""), ""},
         {"relaxed, fence.acq_rel", received("relaxed.cluster", "fence.acq_rel.cluster;\n"), ""},
         {"relaxed, fence.sc", received("relaxed.cluster", "fence.sc.cluster;\n"), ""},
         {"relaxed, fence.acquire",
          received("relaxed.cluster", "fence.acquire.sync_restrict::shared::cluster.cluster;\n"), ""},
         {"relaxed", received("relaxed.cluster", ""), "race.shared-"}});
}

TEST_CASE("a load into memory that threads have written requires their proxy fence") {
  const std::string load =
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r5+1024], [%rd1], 256, [%r5];\n";
  const auto stage = [&](const std::string& use, const std::string& fence) {
    return registers +
           "@!%p1 bra I;\nmbarrier.init.shared.b64 [smem], 1;\nfence.mbarrier_init.release.cluster;\n"
           "mbarrier.arrive.expect_tx.shared.b64 _, [smem], 256;\nI:\nshl.b32 %r10, %r1, 2;\n"
           "add.u32 %r10, %r10, %r5;\n" +
           use + fence + "bar.sync 0;\n@%p1 " + load + wait + "ld.shared.u32 %r11, [%r10+1024];\nret;";
  };
  const std::string write = "st.shared.u32 [%r10+1024], %r1;\n";
  const std::string fence = "fence.proxy.async.shared::cta;\n";
  check({{"with the fence", stage(write, fence), ""},
         {"beside the stage", stage("st.shared.u32 [%r10+1280], %r1;\n", ""), ""},
         {"without", stage(write, ""), "load.missing-proxy-fence"},
         {"by one thread alone", stage(write, "@%p1 " + fence), "load.missing-proxy-fence"},
         {"before the write", stage(fence + write, ""), "load.missing-proxy-fence"}},
        1);
  const Outcome outcome = run(stage(write, ""), {.grid = 1, .cluster = 1, .block = 64});
  CHECK_THAT(outcome.reports[0].found, ContainsSubstring("into 0x800 to 0x8ff overwrites") &&
                                           ContainsSubstring("thread (0, 0, 0) wrote"));
  CHECK(outcome.reports[0].severity == Severity::omission);
  // A module of tmajit's device headers: the remedy also names the function of the headers.
  const Outcome ours =
      run(stage(write, ""), {.grid = 1, .cluster = 1, .block = 64}, ".global .u32 _ZN6tmajit5countE;\n");
  CHECK(ours.reports[0].remedy == outcome.reports[0].remedy + ": ptx::fence_proxy_async_shared()");
}

TEST_CASE("a load into memory that threads have only read requires no proxy fence") {
  // Stages are released by arrivals, without a fence (docs/sim.md, "Proxies").
  const std::string turn =
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r5+1024], [%rd1], 256, [%r5];\n";
  const std::string expect = "@%p1 mbarrier.arrive.expect_tx.shared.b64 _, [smem], 256;\n";
  const std::string read = "ld.shared.u32 %r11, [%r10+1024];\nbar.sync 0;\n";
  check({{"twice",
          registers +
              "@!%p1 bra I;\nmbarrier.init.shared.b64 [smem], 1;\nfence.mbarrier_init.release.cluster;\nI:\n"
              "shl.b32 %r10, %r1, 2;\nadd.u32 %r10, %r10, %r5;\nbar.sync 0;\n" +
              expect + "@%p1 " + turn + wait + read + expect + "@%p1 " + turn +
              "V:\nmbarrier.try_wait.parity.shared::cta.b64 %p2, [smem], 1;\n@!%p2 bra V;\n" + read + "ret;",
          ""}},
        1);
}

}  // namespace cluster_exit_test
