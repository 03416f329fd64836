/// Clusters: addresses in peer CTAs, distributed shared memory, the cluster's barrier, and mistakes in their
/// use.
#include "sim/text_kernel.hpp"

#include <array>

#include <catch2/generators/catch_generators_all.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

namespace cluster_test {

using namespace tmajit;
using namespace tests::text;
using Catch::Matchers::ContainsSubstring;

TEST_CASE("special registers have the positions and sizes of clusters") {
  const auto sim = make_sim_device({.threads = 2});
  const auto kernel = sim->kernels().load(tests::module_of(
      ".reg .pred %p<2>;\n.reg .b32 %r<40>;\n.reg .b64 %rd<9>;\nld.param.u64 %rd1, [p0];\n"
      "mov.u32 %r1, %ctaid.x;\nmov.u32 %r2, %ctaid.y;\nmov.u32 %r3, %nctaid.x;\nmad.lo.u32 %r4, %r2, %r3, "
      "%r1;\n"
      "mul.wide.u32 %rd2, %r4, 64;\nadd.u64 %rd1, %rd1, %rd2;\n"
      "mov.u32 %r5, %cluster_ctaid.x;\nmov.u32 %r6, %cluster_ctaid.y;\nmov.u32 %r7, %cluster_nctaid.x;\n"
      "mov.u32 %r8, %cluster_nctaid.y;\nmov.u32 %r9, %cluster_ctarank;\nmov.u32 %r10, %cluster_nctarank;\n"
      "mov.u32 %r11, %clusterid.x;\nmov.u32 %r12, %clusterid.y;\nmov.u32 %r13, %nclusterid.x;\n"
      "mov.u32 %r14, %nclusterid.y;\nmov.pred %p1, %is_explicit_cluster;\nselp.u32 %r15, 1, 0, %p1;\n"
      "st.global.v4.u32 [%rd1], {%r5, %r6, %r7, %r8};\nst.global.v4.u32 [%rd1+16], {%r9, %r10, %r11, %r12};\n"
      "st.global.v4.u32 [%rd1+32], {%r13, %r14, %r15, %r4};\nret;",
      1));
  constexpr std::size_t ctas = 24;
  const Buffer buffer(sim, ctas * 64);
  std::uint64_t address = buffer.address();
  void* const parameters[] = {&address};
  kernel->launch({.grid = {6, 4, 1}, .block = {1, 1, 1}, .cluster = {3, 2, 1}}, parameters, nullptr);
  sim->streams().synchronize(nullptr);
  std::vector<std::uint32_t> words(ctas * 16);
  sim->memory().copy_out(std::as_writable_bytes(std::span(words)), address, nullptr);
  for (std::uint32_t cta = 0; cta < ctas; ++cta) {
    const std::uint32_t x = cta % 6;
    const std::uint32_t y = cta / 6;
    const std::array<std::uint32_t, 12> expected{x % 3, y % 2, 3, 2,  x % 3 + 3 * (y % 2), 6, x / 3, y / 2,
                                                 2,     2,     1, cta};
    for (std::size_t i = 0; i < expected.size(); ++i) CHECK(words[std::size_t{cta} * 16 + i] == expected[i]);
  }
}

TEST_CASE("a kernel can declare its cluster dimensions, and launches with others are refused") {
  const auto sim = make_sim_device();
  const auto load = [&](const std::string& directive) {
    Artifact artifact;
    artifact.entry = std::string("k");
    artifact.ptx = ".version 9.0\n.target sm_90a\n.address_size 64\n.visible .entry k()\n" + directive +
                   "\n{\n.reg .b32 %r<3>; mov.u32 %r1, %cluster_nctarank; ret;\n}\n";
    return sim->kernels().load(artifact);
  };
  const auto refusal = [&](const LoadedKernel& kernel, const LaunchShape& shape) {
    try {
      kernel.launch(shape, {}, nullptr);
    } catch (const Error& error) {
      CHECK(error.code() == ErrorCode::device_failed);
      return std::string(error.what());
    }
    return std::string();
  };
  const auto required = load(".reqnctapercluster 2, 1, 1");
  CHECK(refusal(*required, {.grid = {4, 1, 1}}).empty());
  CHECK(refusal(*required, {.grid = {4, 1, 1}, .cluster = {2, 1, 1}}).empty());
  CHECK_THAT(refusal(*required, {.grid = {4, 1, 1}, .cluster = {4, 1, 1}}), ContainsSubstring("2x1x1"));
  CHECK_THAT(refusal(*required, {.grid = {3, 1, 1}}), ContainsSubstring("divides"));
  const auto free_choice = load("");
  CHECK(refusal(*free_choice, {.grid = {16, 1, 1}, .cluster = {16, 1, 1}}).empty());
  CHECK_THAT(refusal(*free_choice, {.grid = {32, 1, 1}, .cluster = {32, 1, 1}}),
             ContainsSubstring("1 to 16"));
  CHECK_THAT(refusal(*free_choice, {.grid = {4, 1, 1}, .cluster = {2, 0, 1}}), ContainsSubstring("2x0x1"));
  CHECK_THAT(refusal(*load(".explicitcluster"), {.grid = {4, 1, 1}}), ContainsSubstring(".explicitcluster"));
}

TEST_CASE("mapa and getctarank convert shared and generic addresses") {
  const Outcome outcome = run(
      registers + next + element +
      "mapa.shared::cluster.u32 %r7, %r5, %r6;\ngetctarank.shared::cluster.u32 %r8, %r7;\n"
      "getctarank.shared::cluster.u32 %r9, %r5;\n"
      "cvt.u64.u32 %rd4, %r5;\ncvta.shared.u64 %rd4, %rd4;\nmapa.u64 %rd5, %rd4, %r6;\n"
      "getctarank.u64 %r10, %rd5;\ncvta.to.shared::cluster.u64 %rd6, %rd5;\ncvt.u32.u64 %r11, %rd6;\n"
      "sub.u32 %r11, %r11, %r7;\nisspacep.shared::cluster %p2, %rd5;\nisspacep.shared::cta %p3, %rd5;\n"
      "isspacep.shared::cta %p4, %rd4;\n"
      "mad.lo.u32 %r12, %r8, 10, %r9;\nmad.lo.u32 %r12, %r12, 10, %r10;\nmad.lo.u32 %r12, %r12, 10, %r11;\n"
      "selp.u32 %r13, 1, 0, %p2;\nmad.lo.u32 %r12, %r12, 10, %r13;\n"
      "selp.u32 %r13, 1, 0, %p3;\nmad.lo.u32 %r12, %r12, 10, %r13;\n"
      "selp.u32 %r13, 1, 0, %p4;\nmad.lo.u32 %r12, %r12, 10, %r13;\nst.global.u32 [%rd3], %r12;\nret;");
  INFO(reports_text(outcome));
  REQUIRE(outcome.reports.empty());
  for (std::uint32_t cta = 0; cta < 4; ++cta) {
    const std::uint32_t n = (cta + 1) % 4;
    CHECK(outcome.words[std::size_t{cta} * 32] == n * 1000000 + cta * 100000 + n * 10000 + 101);
  }
}

TEST_CASE("ld.shared::cluster reads the shared memory of all CTAs of a cluster") {
  const std::uint32_t size = GENERATE(2U, 4U, 8U);
  const Shape shape{.grid = 2 * size, .cluster = size, .options = {.mode = any_mode(), .seed = 5}};
  // Each CTA writes its words; every thread adds up its word of all CTAs, by ld.shared::cluster.
  const Outcome outcome =
      run(registers + element +
              "ld.global.u32 %r7, [%rd3];\nshl.b32 %r8, %r1, 2;\nadd.u32 %r8, %r8, %r5;\n"
              "st.shared.u32 [%r8], %r7;\n" +
              meet +
              "mov.u32 %r9, 0;\nmov.u32 %r10, 0;\nL:\nmapa.shared::cluster.u32 %r11, %r8, %r10;\n"
              "ld.shared::cluster.u32 %r12, [%r11];\nadd.u32 %r9, %r9, %r12;\nadd.u32 %r10, %r10, 1;\n"
              "setp.lt.u32 %p2, %r10, %r3;\n@%p2 bra L;\n" +
              meet + "st.global.u32 [%rd3], %r9;\nret;",
          shape);
  INFO(reports_text(outcome));
  REQUIRE(outcome.reports.empty());
  for (std::uint32_t i = 0; i < shape.grid * 32; ++i) {
    const std::uint32_t cluster = i / (size * 32);
    std::uint32_t sum = 0;
    for (std::uint32_t rank = 0; rank < size; ++rank) sum += (cluster * size + rank) * 32 + i % 32;
    CHECK(outcome.words[i] == sum);
  }
}

TEST_CASE("atomics work on a counter in a peer CTA, by a generic address") {
  const Outcome outcome = run(
      registers + element + "@%p1 st.shared.u32 [%r5], 0;\n" + meet +
          "cvt.u64.u32 %rd4, %r5;\ncvta.shared.u64 %rd4, %rd4;\nmov.u32 %r6, 0;\nmapa.u64 %rd5, %rd4, %r6;\n"
          "atom.add.u32 %r7, [%rd5], 2;\n" +
          meet + "ld.u32 %r8, [%rd5];\nst.global.u32 [%rd3], %r8;\n" + meet + "ret;",
      {.options = {.mode = any_mode()}});
  INFO(reports_text(outcome));
  REQUIRE(outcome.reports.empty());
  for (std::uint32_t i = 0; i < 128; ++i) CHECK(outcome.words[i] == 256);
}

namespace {

/// A ring: each CTA sends words to the next one, which waits on its own mbarrier. For `send`, %r8 and %r9 are
/// the remote addresses of the data and the mbarrier, and %r10 is the address of the thread's word, smem +
/// 128 + 4 tid.
std::string ring(const std::string& expect, const std::string& send) {
  return registers + next + element +
         "@%p1 mbarrier.init.shared.b64 [smem], 1;\n@%p1 fence.mbarrier_init.release.cluster;\n"
         "ld.global.u32 %r7, [%rd3];\nshl.b32 %r10, %r1, 2;\nadd.u32 %r10, %r10, %r5;\n"
         "st.shared.u32 [%r10+128], %r7;\nfence.proxy.async.shared::cta;\n" +
         "@%p1 " + expect + "\n" + meet +
         "mapa.shared::cluster.u32 %r9, %r5, %r6;\nmapa.shared::cluster.u32 %r8, %r10, %r6;\n" + send +
         "\nW:\nmbarrier.try_wait.parity.shared.b64 %p2, [smem], 0;\n@!%p2 bra W;\n"
         "ld.shared.u32 %r11, [%r10+256];\nst.global.u32 [%rd3], %r11;\n" +
         meet + "ret;";
}

void expect_ring(const Outcome& outcome) {
  INFO(reports_text(outcome));
  REQUIRE(outcome.reports.empty());
  for (std::uint32_t i = 0; i < 128; ++i) CHECK(outcome.words[i] == (i + 96) % 128);
}

const std::string expect_128 = "mbarrier.arrive.expect_tx.shared.b64 %rd9, [smem], 128;";

}  // namespace

TEST_CASE("CTAs can send words around a ring by st.async") {
  expect_ring(run(
      ring(expect_128, "st.async.shared::cluster.mbarrier::complete_tx::bytes.u32 [%r8+256], %r7, [%r9];"),
      {.options = {.mode = any_mode(), .seed = 3}}));
}

TEST_CASE("CTAs can send words around a ring by bulk copies between shared memories") {
  expect_ring(run(ring(expect_128,
                       "@%p1 cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes "
                       "[%r8+256], [%r10+128], 128, [%r9];"),
                  {.options = {.mode = any_mode(), .seed = 3}}));
}

TEST_CASE("CTAs can send words around a ring by plain stores and remote arrivals") {
  const std::string body =
      registers + next + element +
      "@%p1 mbarrier.init.shared.b64 [smem], 32;\n@%p1 fence.mbarrier_init.release.cluster;\n"
      "ld.global.u32 %r7, [%rd3];\nshl.b32 %r10, %r1, 2;\nadd.u32 %r10, %r10, %r5;\n" +
      meet +
      "mapa.shared::cluster.u32 %r9, %r5, %r6;\nmapa.shared::cluster.u32 %r8, %r10, %r6;\n"
      "st.shared::cluster.u32 [%r8+256], %r7;\n"
      "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r9];\n"
      "W:\nmbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p2, [smem], 0;\n@!%p2 bra W;\n"
      "ld.shared.u32 %r11, [%r10+256];\nst.global.u32 [%rd3], %r11;\n" +
      meet + "ret;";
  expect_ring(run(body, {.options = {.mode = any_mode(), .seed = 4}}));
}

TEST_CASE("red.async adds in a peer CTA, and expect_tx works on a remote mbarrier") {
  // All threads of all CTAs add to a word of CTA 0. Rank 1 sets the expected bytes of the mbarrier there.
  const Outcome outcome =
      run(registers + element +
              "@%p1 mbarrier.init.shared.b64 [smem], 1;\n@%p1 fence.mbarrier_init.release.cluster;\n"
              "@%p1 st.shared.u32 [smem+64], 0;\n" +
              meet +
              "mov.u32 %r6, 0;\nmapa.shared::cluster.u32 %r9, %r5, %r6;\nsetp.eq.and.u32 %p3, %r2, 1, %p1;\n"
              "@%p3 mbarrier.arrive.expect_tx.release.cluster.shared::cluster.b64 _, [%r9], 512;\n"
              "red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.u32 [%r9+64], 3, "
              "[%r9];\n"
              "setp.ne.u32 %p4, %r2, 0;\n@%p4 bra E;\n"
              "W:\nmbarrier.try_wait.parity.shared.b64 %p2, [smem], 0;\n@!%p2 bra W;\n"
              "ld.shared.u32 %r11, [smem+64];\nst.global.u32 [%rd3], %r11;\nE:\n" +
              meet + "ret;",
          {.options = {.mode = any_mode()}});
  INFO(reports_text(outcome));
  REQUIRE(outcome.reports.empty());
  CHECK(outcome.words[0] == 384);
}

TEST_CASE("bulk loads in a cluster accept the CTA's own addresses, mapped by mapa or not") {
  const std::string map = GENERATE("mov.u32 %r9, %r5;\n", "mapa.shared::cluster.u32 %r9, %r5, %r2;\n");
  const Outcome outcome =
      run(registers + element +
              "@!%p1 bra W;\nmbarrier.init.shared.b64 [smem], 1;\nfence.mbarrier_init.release.cluster;\n"
              "mbarrier.arrive.expect_tx.shared.b64 %rd9, [smem], 128;\n" +
              map +
              "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r9+128], [%rd3], 128, "
              "[%r9];\nW:\nbar.sync 0;\n"
              "V:\nmbarrier.try_wait.parity.shared.b64 %p2, [smem], 0;\n@!%p2 bra V;\n"
              "shl.b32 %r10, %r1, 2;\nadd.u32 %r10, %r10, %r5;\nld.shared.u32 %r11, [%r10+128];\n"
              "add.u32 %r11, %r11, 1;\nst.global.u32 [%rd3], %r11;\nret;",
          {.options = {.mode = any_mode()}});
  INFO(reports_text(outcome));
  REQUIRE(outcome.reports.empty());
  for (std::uint32_t i = 0; i < 128; ++i) CHECK(outcome.words[i] == i + 1);
}

TEST_CASE("warps can arrive at the cluster's barrier and wait later, and exited warps count as arrived") {
  const Outcome outcome = run(registers + element +
                                  "setp.ge.u32 %p2, %r1, 64;\n@%p2 ret;\n"
                                  "shl.b32 %r8, %r1, 2;\nadd.u32 %r8, %r8, %r5;\nst.shared.u32 [%r8], "
                                  "%r4;\nbarrier.cluster.arrive.release;\nadd.u32 %r7, %r4, 1;\n"
                                  "barrier.cluster.wait.acquire;\nst.global.u32 [%rd3], %r7;\nret;",
                              {.block = 96});
  INFO(reports_text(outcome));
  CHECK(outcome.reports.empty());
  CHECK(outcome.words[96] == 2);
}

TEST_CASE("an access of a peer's shared memory before the peer has begun is reported") {
  // Rank 0 writes to a peer that begins later. With seed 2, rank 0 begins last in the first cluster, and
  // first in the second.
  const std::string body = registers +
                           "mapa.shared::cluster.u32 %r7, %r5, 1;\nsetp.eq.and.u32 %p3, %r2, 0, %p1;\n"
                           "@%p3 st.shared::cluster.u32 [%r7], %r1;\n" +
                           meet + "ret;";
  expect_only(run(body), "shared.peer-not-started");
  expect_only(run(body, {.grid = 8, .options = {.seed = 2}}), "shared.peer-not-started");
}

TEST_CASE("an exit of a CTA whose shared memory peers still access is reported") {
  SECTION("a read") {
    const Outcome outcome =
        run(registers + next + "st.shared.u32 [%r5], %r1;\n" + meet +
            "mapa.shared::cluster.u32 %r7, %r5, %r6;\nld.shared::cluster.u32 %r8, [%r7];\nret;");
    REQUIRE_FALSE(outcome.reports.empty());
    CHECK(outcome.reports[0].rule == "exit.peer-reads");
  }
  SECTION("a write, by one CTA") {
    expect_only(run(registers + meet +
                    "mapa.shared::cluster.u32 %r7, %r5, 3;\nsetp.eq.u32 %p3, %r2, 0;\n"
                    "@%p3 st.shared::cluster.u32 [%r7], %r1;\nret;"),
                "exit.peer-writes");
  }
  SECTION("an asynchronous store that has not arrived") {
    const Outcome outcome =
        run(registers + next + "@%p1 mbarrier.init.shared.b64 [smem], 1;\n" + meet +
                "mapa.shared::cluster.u32 %r7, %r5, %r6;\n"
                "st.async.shared::cluster.mbarrier::complete_tx::bytes.u32 [%r7+64], %r1, [%r7];\n" +
                meet + "ret;",
            {.block = 1});
    INFO(reports_text(outcome));
    REQUIRE_FALSE(outcome.reports.empty());
    CHECK(outcome.reports[0].rule == "exit.peer-writes");
  }
  SECTION("a copy to a peer that has not read its source") {
    const Outcome outcome =
        run(registers + next +
                "mbarrier.init.shared.b64 [smem], 1;\nfence.mbarrier_init.release.cluster;\n"
                "mbarrier.arrive.expect_tx.shared.b64 %rd9, [smem], 16;\n"
                "st.shared.v4.u32 [%r5+128], {%r1, %r1, %r1, %r1};\nfence.proxy.async.shared::cta;\n" +
                meet +
                "mapa.shared::cluster.u32 %r7, %r5, %r6;\nsetp.eq.u32 %p3, %r2, 0;\n"
                "@%p3 cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%r7+256], "
                "[%r5+128], "
                "16, [%r7];\n@%p3 ret;\nsetp.ne.u32 %p3, %r2, 1;\n@%p3 ret;\n"
                "W:\nmbarrier.try_wait.parity.shared.b64 %p2, [smem], 0;\n@!%p2 bra W;\nret;",
            {.block = 1});
    INFO(reports_text(outcome));
    REQUIRE_FALSE(outcome.reports.empty());
    CHECK(outcome.reports[0].rule == "exit.store-unread");
  }
}

TEST_CASE("shared addresses outside all CTAs of the cluster are reported") {
  expect_only(run(registers + "mapa.shared::cluster.u32 %r7, %r5, %r3;\nret;"), "shared.cluster-rank");
  expect_only(
      run(registers + meet + "add.u32 %r7, %r5, 0x0a000000;\nld.shared::cluster.u32 %r8, [%r7];\nret;"),
      "shared.cluster-rank");
  // A peer's address for an operand that must be the CTA's own.
  expect_only(run(registers + next + "@%p1 mbarrier.init.shared.b64 [smem], 1;\n" + meet +
                  "mapa.shared::cluster.u32 %r7, %r5, %r6;\nst.shared.u32 [%r7+8], %r1;\n" + meet + "ret;"),
              "shared.cluster-rank");
  expect_only(run(registers + next + meet +
                  "mapa.shared::cluster.u32 %r7, %r5, %r6;\nst.shared::cluster.u32 [%r7+4096], %r1;\n" +
                  meet + "ret;"),
              "shared.out-of-bounds");
}

TEST_CASE("asynchronous copies between CTAs with illegal operands are reported") {
  const std::string init = "@%p1 mbarrier.init.shared.b64 [smem], 1;\n" + meet;
  SECTION("the mbarrier is in another CTA than the data") {
    expect_only(run(registers + next + init +
                        "mapa.shared::cluster.u32 %r7, %r5, %r6;\n"
                        "st.async.shared::cluster.mbarrier::complete_tx::bytes.u32 [%r7+64], %r1, [%r5];\n" +
                        meet + "ret;",
                    {.block = 1}),
                "mbarrier.other-cta");
  }
  SECTION("a cluster of one") {
    expect_only(
        run(registers + init +
                "st.async.shared::cluster.mbarrier::complete_tx::bytes.u32 [%r5+64], %r1, [%r5];\nret;",
            {.cluster = 1, .block = 1}),
        "cluster.size");
  }
  SECTION("a bulk copy within one CTA") {
    expect_only(run(registers + init +
                        "mapa.shared::cluster.u32 %r7, %r5, %r2;\n"
                        "cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%r7+64], "
                        "[%r5+128], 16, [%r7];\nret;",
                    {.block = 1}),
                "copy.own-cta");
  }
  SECTION("a state of a remote mbarrier") {
    expect_only(run(registers + next + init +
                        "mapa.shared::cluster.u32 %r7, %r5, %r6;\n"
                        "mbarrier.arrive.shared::cluster.b64 %rd9, [%r7];\n" +
                        meet + "ret;",
                    {.block = 1}),
                "mbarrier.remote-state");
  }
}

TEST_CASE("a wait without arrival and a second arrival at the cluster's barrier are reported") {
  expect_only(run(registers + "barrier.cluster.wait.aligned;\nret;"), "cluster-barrier.not-arrived");
  expect_only(run(registers + "barrier.cluster.arrive.aligned;\nbarrier.cluster.arrive.aligned;\nret;"),
              "cluster-barrier.arrived-twice");
}

TEST_CASE("the report of a deadlock in a cluster names the waits of all its CTAs") {
  // Rank 0 waits for an arrival that never comes; the other ranks wait for rank 0 at the barrier.
  const Outcome outcome = run(registers + "@%p1 mbarrier.init.shared.b64 [smem], 2;\n" + meet +
                              "setp.ne.u32 %p3, %r2, 0;\n@%p3 bra E;\n"
                              "W:\nmbarrier.try_wait.parity.shared.b64 %p2, [smem], 0;\n@!%p2 bra W;\nE:\n" +
                              meet + "ret;");
  expect_only(outcome, "deadlock");
  CHECK_THAT(outcome.reports[0].found,
             ContainsSubstring("CTA 0 of the cluster, threads 0 to 31 at PTX line") &&
                 ContainsSubstring("2 of 2 arrivals pending") &&
                 ContainsSubstring("CTA 3 of the cluster, threads 0 to 31") &&
                 ContainsSubstring("the cluster's barrier: 96 of 128 threads have arrived"));
}

}  // namespace cluster_test
