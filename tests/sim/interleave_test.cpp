/// Tiles of interleaved layouts, of which a copy moves one slice of channels. Random copies are tested by
/// src/conformance.
#include "sim/text_kernel.hpp"

#include <string>

#include <catch2/catch_test_macros.hpp>

namespace interleave_test {

using namespace tmajit;
using namespace tests::text;

namespace {

/// A map of the first half of the words as 2 images of 4 x 16 slices. A slice has four words, and a box 2 x 3
/// x 4 slices.
TensorMapSpec slices() {
  return {.type = ElementType::u32,
          .rank = 3,
          .interleave = Interleave::b16,
          .shape = {2, 4, 16},
          .strides = {1024, 256, 16},
          .box = {2, 3, 4},
          .element_strides = {1, 1, 1}};
}

/// One warp loads slice 1 of row 1 with an mbarrier that expects `bytes` bytes, waits for them, and writes 32
/// of the loaded words to the words from 512 on.
Outcome load(const std::string& bytes) {
  const std::string body =
      registers +
      "ld.param.u64 %rd5, [p1];\nmov.u32 %r8, 1;\nmov.u32 %r9, 1;\nmov.u32 %r10, 0;\n@!%p1 bra A;\n"
      "mbarrier.init.shared.b64 [smem], 1;\nfence.mbarrier_init.release.cluster;\n"
      "mbarrier.arrive.expect_tx.shared.b64 %rd9, [smem], " +
      bytes +
      ";\ncp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%r5+1024], "
      "[%rd5, {%r8, %r9, %r10}], [%r5];\n"
      "A:\nbar.sync 0;\nW:\nmbarrier.try_wait.parity.shared.b64 %p2, [smem], 0;\n@!%p2 bra W;\n"
      "shl.b32 %r12, %r1, 2;\nadd.u32 %r13, %r12, %r5;\nld.shared.u32 %r14, [%r13+1024];\n"
      "cvt.u64.u32 %rd6, %r12;\nadd.u64 %rd3, %rd1, %rd6;\nst.global.u32 [%rd3+2048], %r14;\nret;";
  return run(body, {.grid = 1, .cluster = 1, .options = {.mode = any_mode()}, .maps = {slices()}});
}

}  // namespace

TEST_CASE("a load of an interleaved tile moves one slice of channels, whatever the box") {
  const Outcome outcome = load("128");
  expect_clean(outcome);
  for (std::uint32_t i = 0; i < 32; ++i) CHECK(outcome.words[512 + i] == i / 16 * 256 + 64 + 4 + i % 16);
}

TEST_CASE("an mbarrier that expects the bytes of an interleaved tile's whole box is reported") {
  expect_first(load("384"), "mbarrier.expected-bytes");
}

}  // namespace interleave_test
