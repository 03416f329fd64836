/// Loads of a tile into several CTAs of a cluster, and mistakes with them.
#include "sim/text_kernel.hpp"

#include <catch2/generators/catch_generators_all.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

namespace multicast_test {

using namespace tmajit;
using namespace tests::text;
using Catch::Matchers::ContainsSubstring;

namespace {

const std::string bulk =
    "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%r5+1024], "
    "[%rd4], "
    "256, [%r5], %rs1;\n";
const std::string tensor =
    "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.multicast::cluster "
    "[%r5+1024], [%rd5, {%r8, %r9}], [%r5], %rs1;\n";

/// The parts of a kernel in which the CTA with rank 0 loads 64 words, from word 64 · cluster on, for all CTAs
/// of `mask`. Each CTA waits for them and writes its copy to global memory.
struct Parts {
  std::string load = tensor;
  std::string mask = "15";
  std::string expect = "256";
  std::string init = "mbarrier.init.shared.b64 [smem], 1;\n";
  std::string fence = "fence.mbarrier_init.release.cluster;\n";
  std::string before = meet;
  std::string leaves = "";  ///< code by which a CTA exits early
  std::string after = "";
  std::string wait = "W:\nmbarrier.try_wait.parity.shared.b64 %p2, [smem], 0;\n@!%p2 bra W;\n";
};

std::string kernel(const Parts& parts) {
  return registers + element + ".reg .b16 %rs<2>;\nld.param.u64 %rd5, [p1];\nmov.u16 %rs1, " + parts.mask +
         ";\nmov.u32 %r7, %clusterid.x;\nshl.b32 %r9, %r7, 1;\nmov.u32 %r8, 0;\nmul.wide.u32 %rd4, %r7, "
         "256;\n"
         "add.u64 %rd4, %rd4, %rd1;\nadd.u64 %rd3, %rd3, 2048;\n@!%p1 bra A;\n" +
         parts.init + parts.fence + "mbarrier.arrive.expect_tx.shared.b64 %rd9, [smem], " + parts.expect +
         ";\nA:\n" + parts.before + parts.leaves + "setp.eq.and.u32 %p3, %r2, 0, %p1;\n@!%p3 bra B;\n" +
         parts.load + "B:\n" + parts.after + parts.wait +
         "shl.b32 %r10, %r1, 2;\nadd.u32 %r10, %r10, %r5;\nld.shared.u32 %r11, [%r10+1024];\n"
         "st.global.u32 [%rd3], %r11;\n" +
         meet + "ret;";
}

Outcome multicast(const Parts& parts, const Shape& changed = {}) {
  Shape shape = changed;
  shape.grid = 8;
  shape.block = 64;
  shape.maps = {rows_of(32)};
  return run(kernel(parts), shape);
}

}  // namespace

TEST_CASE("a multicast load writes its bytes into every CTA of the mask") {
  const std::string load = GENERATE(bulk, tensor);
  const Outcome outcome = multicast({.load = load}, {.options = {.mode = any_mode(), .seed = 5}});
  expect_clean(outcome);
  for (std::uint32_t i = 0; i < 8 * 64; ++i) CHECK(outcome.words[512 + i] == i / 256 * 64 + i % 64);
}

TEST_CASE("a mask may name a single other CTA, and a mask with CTAs outside the cluster is reported") {
  const Outcome outcome =
      multicast({.mask = "4",
                 .after = "setp.ne.u32 %p4, %r2, 2;\n@%p4 bra E;\n",
                 .wait = "W:\nmbarrier.try_wait.parity.shared.b64 "
                         "%p2, [smem], 0;\n@!%p2 bra W;\nld.shared.u32 %r11, [smem+1024];\n"
                         "@%p1 st.global.u32 [%rd3], %r11;\nE:\n" +
                         meet + "ret;\n"},
                {.options = {.mode = any_mode()}});
  expect_clean(outcome);
  CHECK(outcome.words[512 + 2 * 64] == 0);
  CHECK(outcome.words[512 + 6 * 64] == 64);
  expect_only(multicast({.mask = "31"}), "multicast.mask");
  expect_only(multicast({.mask = "0"}), "multicast.mask");
  CHECK_THAT(multicast({.mask = "16"}).reports.at(0).found, ContainsSubstring("0x10"));
}

TEST_CASE("mistakes with multicast loads are reported") {
  const auto mode = any_mode();
  const Shape shape{.options = {.mode = mode, .seed = 3}};
  SECTION("a destination whose mbarrier is not initialised") {
    expect_first(
        multicast(
            {.init = "setp.eq.u32 %p5, %r2, 3;\n@!%p5 mbarrier.init.shared.b64 [smem], 1;\n@%p5 bra A;\n"},
            shape),
        "mbarrier.uninitialised");
  }
  SECTION("a destination whose init is not fenced") {
    expect_first(multicast({.fence = ""}, shape), "mbarrier.init-not-fenced");
  }
  SECTION("CTAs that have not synchronised") {
    expect_first(multicast({.before = "bar.sync 0;\n"}, {.options = {.mode = mode, .seed = 1}}),
                 "shared.peer-not-started");
  }
  SECTION("a destination that expects other bytes") {
    const Outcome outcome = multicast({.expect = "512"}, shape);
    expect_only(outcome, "mbarrier.expected-bytes");
    CHECK_THAT(outcome.reports[0].found, ContainsSubstring("256 bytes missing"));
  }
  SECTION("a destination that is not in the mask") {
    expect_only(multicast({.mask = "7"}, shape), "mbarrier.expected-bytes");
  }
  SECTION("a destination that has exited") {
    const Outcome outcome = multicast({.leaves = "setp.eq.u32 %p6, %r2, 3;\n@%p6 ret;\n"}, shape);
    // In mode early the load is complete before the CTA exits.
    if (mode != SimOptions::Mode::early) expect_first(outcome, "exit.peer-writes");
  }
  SECTION("a stage that a peer's bulk store has not read") {
    // Rank 2 stores the stage, and does not wait before the load.
    const std::string store =
        "@!%p1 bra C;\nst.shared.u32 [smem+1024], 7;\nst.shared.v2.u32 [smem+1032], {%r1, "
        "%r1};\nst.shared.u32 "
        "[smem+1028], 7;\nfence.proxy.async.shared::cta;\ncp.async.bulk.global.shared::cta.bulk_group "
        "[%rd3], "
        "[smem+1024], 16;\ncp.async.bulk.commit_group;\nC:\n" +
        meet;
    Parts parts{.before = meet + store};
    const Outcome outcome = multicast(parts, shape);
    if (mode == SimOptions::Mode::early) return;
    expect_first(outcome, "load.before-store-read");
  }
}

}  // namespace multicast_test
