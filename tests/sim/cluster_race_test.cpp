/// Tests the order of accesses by different CTAs of a cluster, with pairs of similar kernels of which one is
/// correct, in every mode and with several seeds.
#include "sim/text_kernel.hpp"

#include <algorithm>

namespace cluster_race_test {

using namespace tmajit;
using namespace tests::text;

namespace {

struct Case {
  const char* name;
  std::string body;
  std::string rule;           ///< beginning of the first report's rule; empty: the kernel is correct
  std::string or_rule = "?";  ///< alternative to `rule`, for other orders of execution
};

/// Runs each kernel in every mode with three seeds. The first report must be of the case's rule. If the case
/// has no rule, there must be no report.
void check(const std::vector<Case>& cases) {
  for (const Case& each : cases) {
    for (const auto mode : {SimOptions::Mode::late, SimOptions::Mode::early, SimOptions::Mode::random}) {
      for (const std::uint64_t seed : {1UL, 4UL, 9UL}) {
        INFO(each.name << ", mode " << static_cast<int>(mode) << ", seed " << seed);
        const Outcome outcome = run(each.body, {.options = {.mode = mode, .seed = seed}});
        if (each.rule.empty()) {
          expect_clean(outcome);
        } else {
          REQUIRE_FALSE(outcome.reports.empty());
          CAPTURE(reports_text(outcome));
          const std::string& rule = outcome.reports[0].rule;
          CHECK((rule.starts_with(each.rule) || rule.starts_with(each.or_rule)));
        }
      }
    }
  }
}

const std::string relaxed = "barrier.cluster.arrive.relaxed.aligned;\nbarrier.cluster.wait.aligned;\n";
const std::string own = "shl.b32 %r10, %r1, 2;\nadd.u32 %r10, %r10, %r5;\n";
const std::string peer =
    "mapa.shared::cluster.u32 %r8, %r10, %r6;\nmapa.shared::cluster.u32 %r9, %r5, %r6;\n";

/// Each thread writes its word, executes `middle`, reads the word of the next CTA, and executes `end`.
std::string handed(const std::string& middle, const std::string& end) {
  return registers + next + own + peer + "st.shared.u32 [%r10+64], %r4;\n" + middle +
         "ld.shared::cluster.u32 %r11, [%r8+64];\n" + end;
}

/// Each thread writes a word into the next CTA, and arrives at an mbarrier there.
std::string send(const std::string& init, const std::string& arrival, const std::string& wait) {
  return registers + next + own + peer + "@%p1 mbarrier.init.shared.b64 [smem], 32;\n" + init +
         "st.shared::cluster.u32 [%r8+64], %r4;\n" + arrival + "W:\nmbarrier.try_wait.parity." + wait +
         "shared::cta.b64 %p2, [smem], 0;\n@!%p2 bra W;\nld.shared.u32 %r11, [%r10+64];\n" + meet + "ret;";
}

const std::string fence_init = "@%p1 fence.mbarrier_init.release.cluster;\n";
const std::string arrival = "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r9];\n";

/// Rank 0 writes a word of its own and sets a flag there; rank 1 waits for the flag and reads the word.
std::string flag(const std::string& store, const std::string& load) {
  return registers + "mapa.shared::cluster.u32 %r8, %r5, 0;\n@%p1 st.shared.u32 [%r5+128], 0;\n" + meet +
         "@!%p1 bra E;\nsetp.eq.u32 %p3, %r2, 0;\n@%p3 st.shared.u32 [%r5+64], 7;\n@%p3 " + store +
         " [%r8+128], 1;\nsetp.ne.u32 %p4, %r2, 1;\n@%p4 bra E;\nW:\n" + load +
         " %r11, [%r8+128];\nsetp.eq.u32 %p5, %r11, 0;\n@%p5 bra W;\nld.shared::cluster.u32 %r12, "
         "[%r8+64];\nE:\n" +
         meet + "ret;";
}

/// Rank 0 loads 128 bytes for all ranks. All ranks read them, and rank 0 loads the same stage again.
std::string reload(const std::string& handed_back) {
  // The labels C@, D@ and W@ get the number of the phase for "@".
  const std::string load =
      "mbarrier.arrive.expect_tx.shared.b64 %rd9, [smem], 128;\nC@:\n" + meet +
      "@!%p3 bra D@;\ncp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster "
      "[%r5+1024], [%rd1], 128, [%r5], %rs1;\nD@:\nW@:\nmbarrier.try_wait.parity.shared.b64 %p2, [smem], "
      "PARITY;\n@!%p2 bra W@;\nld.shared.u32 %r11, [%r10+1024];\n";
  const auto phase = [&](const std::string& number, const std::string& parity) {
    std::string text = "@!%p1 bra C" + number + ";\n" + load;
    for (std::size_t at = 0; (at = text.find('@', at)) != std::string::npos; ++at) {
      if (at > 0 && (text[at - 1] == 'C' || text[at - 1] == 'D' || text[at - 1] == 'W'))
        text.replace(at, 1, number);
    }
    text.replace(text.find("PARITY"), 6, parity);
    return text;
  };
  std::string second = phase("2", "1");
  // Before the second load, the CTAs synchronise by `handed_back` alone.
  second.replace(second.find(meet), meet.size(), handed_back);
  return registers + own +
         ".reg .b16 %rs<2>;\nmov.u16 %rs1, 15;\nsetp.eq.and.u32 %p3, %r2, 0, %p1;\n@%p1 "
         "mbarrier.init.shared.b64 "
         "[smem], 1;\n" +
         fence_init + phase("1", "0") + second + meet + "ret;";
}

}  // namespace

TEST_CASE("accesses of distributed shared memory race unless the CTAs synchronise between them") {
  check({
      {"write, barrier, read", handed(meet, meet + "ret;"), ""},
      {"write, relaxed barrier, read",
       handed(meet + "st.shared.u32 [%r10+64], 5;\n" + relaxed, meet + "ret;"), "race.shared-"},
      {"write, fence, relaxed barrier, read",
       handed(meet + "st.shared.u32 [%r10+64], 5;\nfence.acq_rel.cluster;\n" + relaxed, meet + "ret;"), ""},
      {"read, then the owner writes again", handed(meet, "st.shared.u32 [%r10+64], 6;\n" + meet + "ret;"),
       "race.shared-"},
      {"read, barrier, then the owner writes again",
       handed(meet, meet + "st.shared.u32 [%r10+64], 6;\n" + meet + "ret;"), ""},
      {"every CTA writes the same words of one",
       registers + own + "mapa.shared::cluster.u32 %r8, %r10, 0;\n" + meet +
           "st.shared::cluster.u32 [%r8+64], %r4;\n" + meet + "ret;",
       "race.shared-write-write"},
      {"every CTA adds to the same words of one",
       registers + own + "mapa.shared::cluster.u32 %r8, %r10, 0;\nst.shared.u32 [%r10+64], 0;\n" + meet +
           "red.relaxed.cluster.shared::cluster.add.u32 [%r8+64], %r4;\n" + meet + "ret;",
       ""},
      {"every CTA adds to the same words of one, at CTA scope",
       registers + own + "mapa.shared::cluster.u32 %r8, %r10, 0;\nst.shared.u32 [%r10+64], 0;\n" + meet +
           "red.relaxed.cta.shared::cluster.add.u32 [%r8+64], %r4;\n" + meet + "ret;",
       "race.shared-write-write"},
  });
}

TEST_CASE("arrivals at and waits on remote mbarriers order the accesses of a cluster's CTAs") {
  check({
      {"write, arrive, wait, read", send(fence_init + meet, arrival, "acquire.cluster."), ""},
      {"the mbarriers' inits are ordered by a fence and a relaxed barrier",
       send(fence_init + relaxed, arrival, ""), ""},
      {"the mbarriers' inits are not ordered", send(relaxed, arrival, ""), "race.mbarrier"},
      {"a relaxed arrival",
       send(fence_init + meet, "mbarrier.arrive.relaxed.cluster.shared::cluster.b64 _, [%r9];\n", ""),
       "race.shared-"},
      {"a fence, and a relaxed arrival",
       send(fence_init + meet,
            "fence.acq_rel.cluster;\nmbarrier.arrive.relaxed.cluster.shared::cluster.b64 _, [%r9];\n", ""),
       ""},
      {"a relaxed wait", send(fence_init + meet, arrival, "relaxed.cluster."), "race.shared-"},
      {"the write comes after the arrival",
       send(fence_init + meet, arrival + "st.shared::cluster.u32 [%r8+64], 9;\n", ""), "race.shared-"},
  });
}

TEST_CASE("a release orders the accesses of a cluster's CTAs only if its scope is large enough") {
  check({
      {"at cluster scope",
       flag("st.release.cluster.shared::cluster.u32", "ld.acquire.cluster.shared::cluster.u32"), ""},
      {"a release at CTA scope",
       flag("st.release.cta.shared::cluster.u32", "ld.acquire.cluster.shared::cluster.u32"), "race.shared-"},
      {"a relaxed store",
       flag("st.relaxed.cluster.shared::cluster.u32", "ld.acquire.cluster.shared::cluster.u32"),
       "race.shared-"},
  });
}

TEST_CASE("a multicast load into a stage races with reads unless all CTAs have released the stage") {
  check({
      {"the cluster's barrier before the stage is loaded again", reload(meet), ""},
      {"only the CTA's barrier", reload("bar.sync 0;\n"), "race.shared-", "load.overlap"},
      {"the cluster's barrier without a release", reload(relaxed), "race.shared-"},
  });
}

TEST_CASE("the cluster's barrier orders global accesses of the cluster's CTAs, not of other clusters") {
  const auto hand_over = [](const std::string& between) {
    return registers + element + "st.global.u32 [%rd3], %r1;\n" + between +
           "xor.b32 %r20, %r20, 32;\nmul.wide.u32 %rd2, %r20, 4;\nadd.u64 %rd3, %rd1, %rd2;\n"
           "ld.global.u32 %r7, [%rd3];\n" +
           meet + "ret;";
  };
  check({
      {"at the cluster's barrier", hand_over(meet), ""},
      {"without a barrier", hand_over(""), "race.global-"},
      {"at a relaxed barrier", hand_over(relaxed), "race.global-"},
  });
  // In clusters of two CTAs, CTA 2 of the next cluster reads the words of CTA 1.
  std::string body = hand_over(meet);
  body.replace(body.find("xor.b32 %r20, %r20, 32"), 22, "xor.b32 %r20, %r20, 96");
  expect_clean(run(body));
  const Outcome outcome = run(body, {.cluster = 2});
  REQUIRE_FALSE(outcome.reports.empty());
  CHECK(outcome.reports[0].rule.starts_with("race.global"));
}

namespace {

/// Three turns of one stage. In each turn, all threads of the cluster arrive at the second mbarrier of rank
/// 0. The first thread of rank 0 waits for them and loads 128 bytes for all CTAs. Each CTA waits for the
/// bytes on its own first mbarrier.
std::string pipeline(const std::string& arrives, const std::string& wait = "") {
  return registers + own +
         ".reg .b16 %rs<2>;\nmov.u16 %rs1, 15;\nsetp.eq.and.u32 %p3, %r2, 0, %p1;\n"
         "@%p1 mbarrier.init.shared.b64 [smem], 1;\n@%p1 mbarrier.init.shared.b64 [smem+8], 128;\n" +
         fence_init + meet +
         "add.u32 %r9, %r5, 8;\nmapa.shared::cluster.u32 %r9, %r9, 0;\nmov.u32 %r12, 0;\nL:\nand.b32 %r13, "
         "%r12, 1;\n"
         "@%p1 mbarrier.arrive.expect_tx.shared.b64 _, [smem], 128;\n" +
         arrives + "@!%p3 bra W;\nE:\nmbarrier.try_wait.parity." + wait +
         "shared::cta.b64 %p4, [smem+8], %r13;\n@!%p4 bra E;\nmul.wide.u32 %rd4, %r12, 128;\nadd.u64 %rd4, "
         "%rd4, "
         "%rd1;\ncp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster "
         "[%r5+1024], "
         "[%rd4], 128, [%r5], %rs1;\n"
         "W:\nmbarrier.try_wait.parity.shared::cta.b64 %p2, [smem], %r13;\n@!%p2 bra W;\n"
         "ld.shared.u32 %r11, [%r10+1024];\nadd.u32 %r12, %r12, 1;\nsetp.lt.u32 %p5, %r12, 3;\n@%p5 bra "
         "L;\n" +
         meet + element + "st.global.u32 [%rd3+2048], %r11;\nret;";
}

}  // namespace

TEST_CASE("remote arrivals must release the stage of a pipeline across a cluster") {
  const std::string arrive = "mbarrier.arrive.shared::cluster.b64 _, [%r9];\n";
  check({
      {"as CUTLASS writes it, without a scope", pipeline(arrive), ""},
      {"with scopes",
       pipeline("mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r9];\n", "acquire.cluster."), ""},
      {"relaxed arrivals", pipeline("mbarrier.arrive.relaxed.cluster.shared::cluster.b64 _, [%r9];\n"),
       "race.shared-read-write"},
      {"a relaxed wait", pipeline(arrive, "relaxed.cluster."), "race.shared-read-write"},
  });
  const Outcome outcome = run(pipeline(arrive));
  for (std::uint32_t i = 0; i < 128; ++i) CHECK(outcome.words[512 + i] == 64 + i % 32);
}

}  // namespace cluster_race_test
