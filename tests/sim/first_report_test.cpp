/// A mistake can be reported in several ways: the first report must name the mistake itself.
#include "sim/text_kernel.hpp"

#include <catch2/matchers/catch_matchers_string.hpp>
#include <spdlog/fmt/fmt.h>

namespace first_report_test {

using namespace tmajit;
using namespace tests::text;
using Catch::Matchers::ContainsSubstring;

namespace {

const Shape two_warps{.grid = 1, .cluster = 1, .block = 64};
std::string begin() {
  return registers +
         "@!%p1 bra I;\nmbarrier.init.shared.b64 [smem], 1;\nfence.mbarrier_init.release.cluster;\n"
         "mbarrier.arrive.expect_tx.shared.b64 _, [smem], 256;\nI:\nshl.b32 %r10, %r1, 2;\n"
         "add.u32 %r10, %r10, %r5;\nsetp.ge.u32 %p3, %r1, 32;\nsetp.eq.u32 %p4, %r1, 32;\nbar.sync 0;\n";
}
const std::string load =
    "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r5+1024], [%rd1], 256, [%r5];\n";
const std::string wait = "W:\nmbarrier.try_wait.parity.shared::cta.b64 %p2, [smem], 0;\n@!%p2 bra W;\n";

}  // namespace

TEST_CASE("missing synchronisation is reported as a race even if the writer has not reached its fence") {
  // The first warp writes, and reaches its fence only after a load for which the second warp does not wait.
  const auto stored = [](const std::string& meets) {
    return begin() + "@%p4 " + load + "st.shared.u32 [%r10+2048], %r1;\n" + meets + "@%p3 bra S;\n" + wait +
           "S:\nfence.proxy.async.shared::cta;\n" + meets +
           "@!%p4 bra E;\ncp.async.bulk.global.shared::cta.bulk_group [%rd1+1024], [%r5+2048], 256;\n"
           "cp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;\nV:\n"
           "mbarrier.try_wait.parity.shared::cta.b64 %p2, [smem], 0;\n@!%p2 bra V;\nE:\nret;";
  };
  expect_clean(run(stored("bar.sync 0;\n"), two_warps));
  const Outcome outcome = run(stored(""), two_warps);
  expect_first(outcome, "race.shared-write-read");
  for (const Report& report : outcome.reports) CHECK(report.rule != "store.missing-proxy-fence");
}

TEST_CASE("missing synchronisation after mbarrier.init is reported as a race even before its fence") {
  // The first thread reaches its fence only after a load that completes on another mbarrier of its own.
  const auto loaded = [](const std::string& meets) {
    return begin() + "@!%p1 bra N;\nmbarrier.init.shared.b64 [smem+64], 1;\n" + load +
           "W:\nmbarrier.try_wait.parity.shared::cta.b64 %p2, [smem], 0;\n@!%p2 bra W;\n"
           "fence.mbarrier_init.release.cluster;\nN:\n" +
           meets +
           "@!%p4 bra E;\nmbarrier.arrive.expect_tx.shared.b64 _, [smem+64], 256;\nadd.u32 %r11, %r5, 64;\n"
           "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r5+2048], [%rd1], 256, "
           "[%r11];\n"
           "V:\nmbarrier.try_wait.parity.shared::cta.b64 %p2, [smem+64], 0;\n@!%p2 bra V;\nE:\nret;";
  };
  expect_clean(run(loaded("bar.sync 0;\n"), two_warps));
  const Outcome outcome = run(loaded(""), two_warps);
  expect_first(outcome, "race.mbarrier");
  for (const Report& report : outcome.reports) CHECK(report.rule != "mbarrier.init-not-fenced");
}

TEST_CASE("an access during a load is first reported as such, and not as a race") {
  // The first warp accesses the tile before the second warp issues the load; the second warp then accesses
  // it, too.
  const std::string work =
      "ld.shared.u32 %r11, [%r10+1024];\nadd.u32 %r11, %r11, 1;\n"
      "st.shared.u32 [%r10+1024], %r11;\n";
  const auto worked = [&](const std::string& waits) {
    return begin() + "@%p4 " + load + waits + "mov.u32 %r12, 0;\nL:\n" + work +
           "bar.sync 0;\nadd.u32 %r12, %r12, 1;\nsetp.lt.u32 %p5, %r12, 2;\n@%p5 bra L;\n" +
           "V:\nmbarrier.try_wait.parity.shared::cta.b64 %p2, [smem], 0;\n@!%p2 bra V;\nret;";
  };
  expect_clean(run(worked(wait), two_warps));
  const Outcome outcome = run(worked(""), two_warps);
  expect_first(outcome, "shared.in-flight-");
  CHECK_THAT(outcome.reports[0].found, ContainsSubstring("the one at PTX line"));
  CHECK_THAT(reports_text(outcome), ContainsSubstring("race.shared-write-write"));
}

}  // namespace first_report_test
