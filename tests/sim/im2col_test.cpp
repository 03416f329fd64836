/// Copies of pixels through im2col maps, and their errors. Random copies are tested by src/conformance.
#include "sim/text_kernel.hpp"

#include <catch2/generators/catch_generators_all.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

namespace im2col_test {

using namespace tmajit;
using namespace tests::text;
using Catch::Matchers::ContainsSubstring;

namespace {

/// A map of the words as two images of 4 × 8 pixels with 16 words each. A copy loads 6 pixels. The filter has
/// 3 × 5 taps, and its lower corner is (-1, -2).
TensorMapSpec images() {
  return TensorMapSpec::im2col(TensorView::contiguous(ElementType::u32, {2, 4, 8, 16}),
                               {.lower = {-1, -2}, .upper = {-1, -2}, .channels = 16, .pixels = 6});
}

const std::string load =
    "cp.async.bulk.tensor.4d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes [%r5+1024], "
    "[%rd5, {%r8, %r9, %r10, %r11}], [%r5], {%rs1, %rs2};\n";
const std::string multicast =
    "cp.async.bulk.tensor.4d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes.multicast::cluster "
    "[%r5+1024], [%rd5, {%r8, %r9, %r10, %r11}], [%r5], {%rs1, %rs2}, %rs3;\n";

/// The parts of a kernel with one cluster of two CTAs. Each CTA loads for itself or, with multicast, the
/// first CTA loads for both. CTA 0 writes its 96 loaded words to the words from 512 on, CTA 1 to the words
/// from 640 on.
struct Parts {
  std::string copy = load;
  std::string w = "-2";
  std::string h = "0";
  std::string offset_w = "3";
  std::string offset_h = "1";
  std::string bytes = "384";
};

Outcome pixels(const Parts& parts, const TensorMapSpec& map = images()) {
  const bool both = parts.copy.find("multicast") != std::string::npos;
  const std::string body =
      registers + ".reg .b16 %rs<4>;\nld.param.u64 %rd5, [p1];\nmov.u32 %r8, 0;\nmov.u32 %r9, " + parts.w +
      ";\nmov.u32 %r10, " + parts.h + ";\nmov.u32 %r11, 0;\nmov.u16 %rs1, " + parts.offset_w +
      ";\nmov.u16 %rs2, " + parts.offset_h +
      ";\nmov.u16 %rs3, 3;\n@!%p1 bra A;\nmbarrier.init.shared.b64 [smem], 1;\n"
      "fence.mbarrier_init.release.cluster;\nmbarrier.arrive.expect_tx.shared.b64 %rd9, [smem], " +
      parts.bytes + ";\nA:\n" + meet + "setp.eq.and.u32 %p3, %r2, 0, %p1;\n" +
      (both ? "@!%p3 bra B;\n" : "@!%p1 bra B;\n") + parts.copy +
      "B:\nW:\nmbarrier.try_wait.parity.shared.b64 %p2, [smem], 0;\n@!%p2 bra W;\n"
      "shl.b32 %r12, %r1, 2;\nadd.u32 %r13, %r12, %r5;\nld.shared.u32 %r14, [%r13+1024];\n"
      "mad.lo.u32 %r15, %r2, 512, %r12;\ncvt.u64.u32 %rd6, %r15;\nadd.u64 %rd3, %rd1, %rd6;\n"
      "bar.sync 0;\nst.global.u32 [%rd3+2048], %r14;\n" +
      meet + "ret;";
  return run(body, {.grid = 2, .cluster = 2, .block = 96, .options = {.mode = any_mode()}, .maps = {map}});
}

}  // namespace

TEST_CASE("a load of pixels iterates over the bounding box, and reads each pixel at the offsets") {
  const Outcome outcome = pixels({.copy = GENERATE(load, multicast)});
  expect_clean(outcome);
  for (std::uint32_t cta = 0; cta < 2; ++cta) {
    for (std::uint32_t i = 0; i < 96; ++i) {
      // The corners are (0, -2), (0, -1), …. The tap is at offset (1, 3) from a corner.
      const std::uint32_t h = 0 + 1;
      const std::uint32_t w = 1 + i / 16;
      CHECK(outcome.words[512 + 128 * cta + i] == (h * 8 + w) * 16 + i % 16);
    }
  }
}

TEST_CASE("a load continues at the next row's lower corner, and pixels outside the image are zero") {
  const Outcome outcome = pixels({.w = "3", .offset_w = "0", .offset_h = "0"});
  expect_clean(outcome);
  for (std::uint32_t i = 0; i < 96; ++i) {
    // Corners (0, 3), (0, 4), (0, 5), then (1, -2), (1, -1), (1, 0).
    constexpr std::array<int, 6> places{3, 4, 5, -1, -1, 8};
    const int place = places.at(i / 16);
    CHECK(outcome.words[512 + i] == (place < 0 ? 0 : static_cast<std::uint32_t>(place) * 16 + i % 16));
  }
}

TEST_CASE("a corner outside the bounding box and offsets too large for the rank are reported") {
  expect_first(pixels({.w = "-3"}), "im2col.corner");
  expect_first(pixels({.w = "6"}), "im2col.corner");
  expect_first(pixels({.h = "-2"}), "im2col.corner");
  expect_first(pixels({.offset_w = "256"}), "im2col.offset");
  expect_clean(pixels({.offset_w = "255"}));
  const std::string one =
      "cp.async.bulk.tensor.4d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes "
      "[%r5+1024], [%rd5, {%r8, %r9, %r10, %r11}], [%r5], {%rs1};\n";
  CHECK_THROWS_WITH(pixels({.copy = one}), ContainsSubstring("1 offsets for 4 coordinates"));
  CHECK_THROWS_WITH(pixels({.copy = one.substr(0, one.size() - 10) + ";\n"}),
                    ContainsSubstring("0 offsets for 4 coordinates"));
}

TEST_CASE("a store of pixels is reported if the map's bounding box extends beyond the image") {
  const std::string store =
      "cp.async.bulk.tensor.4d.global.shared::cta.im2col_no_offs.bulk_group [%rd5, {%r8, %r9, %r10, %r11}], "
      "[%r5+1024];\n";
  const std::string sum =
      "cp.reduce.async.bulk.tensor.4d.global.shared::cta.add.im2col_no_offs.bulk_group "
      "[%rd5, {%r8, %r9, %r10, %r11}], [%r5+1024];\n";
  const std::string copy = GENERATE_COPY(store, sum);
  TensorMapSpec map = images();
  const auto refused = [&](const std::string& corner) {
    const Outcome outcome = pixels({.copy = copy, .w = "0"}, map);
    expect_first(outcome, "im2col.store-corner");
    CHECK_THAT(outcome.reports.at(0).found, ContainsSubstring(corner));
  };
  // As on an H200, a store by each of these maps fails, although all its pixels are inside the image.
  map.pixel_box.lower = {0, 0};
  map.pixel_box.upper = {-1, 1};
  refused("upper corner is 1 in dimension 1");
  map.pixel_box.upper = {1, 0};
  refused("upper corner is 1 in dimension 0");
  map.pixel_box.lower = {0, -1};
  map.pixel_box.upper = {0, 0};
  refused("lower corner is -1 in dimension 1");
  map.pixel_box.lower = map.pixel_box.upper = {-1, -1};
  refused("lower corner is -1 in dimension 0");
}

TEST_CASE("a copy instruction with another mode than its map is reported") {
  expect_first(
      pixels({.copy = "cp.async.bulk.tensor.4d.shared::cluster.global.tile.mbarrier::complete_tx::bytes "
                      "[%r5+1024], [%rd5, {%r8, %r9, %r10, %r11}], [%r5];\n"}),
      "tensormap.mode");
  expect_first(
      pixels({}, TensorMapSpec::of(TensorView::contiguous(ElementType::u32, {2, 4, 8, 16}), {1, 1, 6, 16})),
      "tensormap.mode");
  expect_first(
      pixels({.copy = "cp.async.bulk.prefetch.tensor.4d.L2.global.tile [%rd5, {%r8, %r9, %r10, %r11}];\n" +
                      load}),
      "tensormap.mode");
  expect_first(
      pixels({.copy = "tensormap.replace.tile.global_address.global.b1024.b64 [%rd5], %rd1;\n" + load}),
      "tensormap.mode");
}

TEST_CASE("an mbarrier that expects other bytes than those of all pixels is reported") {
  expect_first(pixels({.bytes = "368"}), "mbarrier.expected-bytes");
  expect_first(pixels({.bytes = "400"}), "mbarrier.expected-bytes");
}

TEST_CASE("set_address() changes an im2col map's address and nothing else") {
  const auto sim = make_sim_device({});
  EncodedTensorMap moved = sim->maps().encode(images(), 0x1000);
  sim->maps().set_address(moved, images(), 0x2000);
  CHECK(moved.opaque == sim->maps().encode(images(), 0x2000).opaque);
}

}  // namespace im2col_test
