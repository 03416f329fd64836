/// Matrices that a tensor load writes with one swizzle and a product reads with another.
#include "sim/text_kernel.hpp"

#include <catch2/matchers/catch_matchers_string.hpp>
#include <spdlog/fmt/fmt.h>

namespace wgmma_swizzle_test {

using namespace tmajit;
using namespace tests::text;
using Catch::Matchers::ContainsSubstring;

namespace {

/// Loads 64 rows of `row_bytes` bytes with the map's swizzle, and multiplies them by the first 8 of these
/// rows. The product reads with the descriptors' `layout` (bits 62 and 63). `between` is code after the wait
/// for the load.
Outcome multiply(std::uint32_t row_bytes, Swizzle swizzle, std::uint64_t layout,
                 const std::string& between = "") {
  TensorMapSpec spec;
  spec.type = ElementType::f16;
  spec.rank = 2;
  spec.shape = {64, row_bytes / 2};
  spec.strides = {row_bytes, 2};
  spec.box = {64, row_bytes / 2};
  spec.element_strides = {1, 1};
  spec.swizzle = swizzle;
  const std::uint32_t bytes = 64 * row_bytes;
  const std::uint64_t descriptor = layout << 62 | std::uint64_t{8 * row_bytes / 16} << 32 | 1 << 16;
  std::string d = "%d0";
  for (int i = 1; i < 4; ++i) d += fmt::format(", %d{}", i);
  const std::string body =
      registers + ".reg .b32 %d<4>;\n" +
      fmt::format(
          "@!%p1 bra I;\nmbarrier.init.shared.b64 [smem], 1;\nfence.mbarrier_init.release.cluster;\n"
          "mbarrier.arrive.expect_tx.shared.b64 _, [smem], {0};\nadd.u32 %r10, %r5, 1024;\n"
          "mov.u32 %r11, 0;\nld.param.u64 %rd2, [p1];\n"
          "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%r10], "
          "[%rd2, {{%r11, %r11}}], [%r5];\nI:\nbar.sync 0;\n"
          "W:\nmbarrier.try_wait.parity.shared::cta.b64 %p2, [smem], 0;\n@!%p2 bra W;\n{1}"
          "cvt.u64.u32 %rd6, %r5;\nadd.u64 %rd7, %rd6, 1024;\nshr.u64 %rd7, %rd7, 4;\n"
          "or.b64 %rd10, %rd7, {2};\nsetp.ne.u32 %p4, %r1, %r1;\n"
          "mov.b32 %d0, 0;\nmov.b32 %d1, 0;\nmov.b32 %d2, 0;\nmov.b32 %d3, 0;\nwgmma.fence.sync.aligned;\n"
          "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {{{3}}}, %rd10, %rd10, %p4, 1, 1, 0, 0;\n"
          "wgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;\nret;",
          bytes, between, descriptor, d);
  return run(body, {.grid = 1,
                    .cluster = 1,
                    .block = 128,
                    .options = {.mode = any_mode()},
                    .shared_bytes = 1024 + 8192,
                    .maps = {spec},
                    .words = std::vector<std::uint32_t>(bytes / 4)});
}

}  // namespace

TEST_CASE("a product that reads a matrix with the swizzle of its load has no report") {
  expect_clean(multiply(128, Swizzle::b128, 1));
  expect_clean(multiply(64, Swizzle::b64, 2));
  expect_clean(multiply(32, Swizzle::b32, 3));
}

TEST_CASE("a product that reads a matrix with another swizzle than its load is reported") {
  const Outcome outcome = multiply(128, Swizzle::none, 1);
  expect_only(outcome, "wgmma.swizzle");
  CHECK_THAT(outcome.reports[0].found, ContainsSubstring("reads by swizzle 128B what the load at PTX line") &&
                                           ContainsSubstring("writes by swizzle none"));
  expect_only(multiply(64, Swizzle::none, 2), "wgmma.swizzle");
  expect_only(multiply(32, Swizzle::none, 3), "wgmma.swizzle");
  // These descriptors also read past the matrix.
  expect_first(multiply(64, Swizzle::b64, 1), "wgmma.swizzle");
  expect_first(multiply(32, Swizzle::b32, 2), "wgmma.swizzle");
}

TEST_CASE("the swizzle of a load is not checked for words that threads have written since") {
  // Each thread writes 16 words, together all of the tile.
  std::string write = "shl.b32 %r12, %r1, 6;\nadd.u32 %r12, %r12, %r5;\n";
  for (int i = 0; i < 16; ++i) write += fmt::format("st.shared.u32 [%r12+{}], %r1;\n", 1024 + 4 * i);
  expect_clean(multiply(128, Swizzle::none, 1, write + "fence.proxy.async.shared::cta;\nbar.sync 0;\n"));
}

}  // namespace wgmma_swizzle_test
