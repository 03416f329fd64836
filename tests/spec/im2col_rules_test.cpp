// Rules that only im2col maps have, and rules whose messages are different for them.
#include "spec/rules.hpp"

#include <tmajit/box_layout.hpp>
#include <tmajit/validate.hpp>

#include <functional>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

using namespace tmajit;
using Catch::Matchers::ContainsSubstring;

namespace {

/// 8 images of 20 × 30 pixels with 64 channels of f32. legal() has a filter of 3 × 5 with padding of 1 and 2.
TensorView images() {
  return TensorView::contiguous(ElementType::f32, {8, 20, 30, 64});
}

TensorMapSpec legal() {
  return TensorMapSpec::im2col(images(), {.lower = {-1, -2}, .upper = {-1, -2}, .channels = 32, .pixels = 64},
                               Swizzle::b128);
}

struct Case {
  const char* rule;  ///< the only broken rule
  const char* subject;
  const char* legal;  ///< part of the suggested legal value
  std::function<void(TensorMapSpec&)> change;
};

void check(const Case& c) {
  auto map = legal();
  c.change(map);
  const auto violations = validate(map);
  CAPTURE(c.rule, rules(violations));
  CHECK(complete(violations));
  CHECK(rules(violations) == Rules{c.rule});
  CHECK(find(violations, c.rule).subject == c.subject);
  CHECK_THAT(find(violations, c.rule).legal, ContainsSubstring(c.legal));
}

}  // namespace

TEST_CASE("an im2col map is made from a view, corners, channels and pixels") {
  const auto map = legal();
  CHECK(map.mode == MapMode::im2col);
  CHECK(map.rank == 4);
  CHECK(map.shape == std::array<std::uint64_t, 5>{8, 20, 30, 64});
  CHECK(map.strides == std::array<std::uint64_t, 5>{153600, 7680, 256, 4});
  CHECK(map.element_strides == std::array<std::uint32_t, 5>{1, 1, 1, 1});
  CHECK(map.box == std::array<std::uint32_t, 5>{});
  CHECK(validate(map, 0x7f0000000000).empty());
  CHECK_FALSE(validate(map, 0x7f0000000008).empty());
}

TEST_CASE("making an im2col map that breaks rules throws an error with these rules") {
  try {
    (void)TensorMapSpec::im2col(TensorView::contiguous(ElementType::f32, {20, 64}),
                                {.channels = 3, .pixels = 0});
    FAIL("no error");
  } catch (const SpecError& error) {
    CHECK(rules(error.violations()) == Rules{"rank.im2col", "pixel-box.pixels", "box.inner-bytes"});
  }
}

TEST_CASE("the tile of an im2col map has one row for each pixel, whatever the traversal strides") {
  auto map = legal();
  map.element_strides = {1, 3, 2, 1};
  REQUIRE(validate(map).empty());
  const auto layout = tile_layout(map);
  CHECK(layout.rows == 64);
  CHECK(layout.row_bytes == 128);
  CHECK(layout.transaction_bytes == 64ULL * 128);
  CHECK(layout.alignment == 1024);
  map.pixel_box.channels = 16;
  CHECK(tile_layout(map).pitch_bytes == 128);
  CHECK(tile_layout(map).transaction_bytes == 64ULL * 64);
  const BoxLayout box(map);
  CHECK(box.rows() == 64);
  CHECK(box.columns() == 16);
  CHECK(box.offset({1, 0}) == 128 + 16);
}

TEST_CASE("the range of corners depends on the rank") {
  check({"pixel-box.corner", "pixel_box.lower[0]", "pixel_box.lower[0] = -128",
         [](auto& m) { m.pixel_box.lower[0] = -129; }});
  check({"pixel-box.corner", "pixel_box.upper[1]", "pixel_box.upper[1] = 127",
         [](auto& m) { m.pixel_box.upper[1] = 128; }});
  auto line = TensorMapSpec::im2col(TensorView::contiguous(ElementType::f32, {8, 30, 64}),
                                    {.lower = {-32768}, .upper = {32767}, .channels = 4, .pixels = 1024});
  line.pixel_box.lower[0] = -32769;
  CHECK(rules(validate(line)) == Rules{"pixel-box.corner"});
  auto solid = TensorMapSpec::im2col(TensorView::contiguous(ElementType::f32, {8, 9, 20, 30, 64}),
                                     {.lower = {-16, 0, 0}, .upper = {15, 0, 0}, .channels = 4, .pixels = 1});
  solid.pixel_box.upper[0] = 16;
  CHECK(rules(validate(solid)) == Rules{"pixel-box.corner"});
}

TEST_CASE("a bounding box must have at least one position") {
  auto map = legal();
  map.pixel_box.upper[0] = -20;  // one position: from -1 to -1
  CHECK(validate(map).empty());
  check({"pixel-box.area", "pixel_box.upper[0]", "pixel_box.upper[0] = -20",
         [](auto& m) { m.pixel_box.upper[0] = -21; }});
}

TEST_CASE("in an interleaved layout the last dimensions are those of the image") {
  // 8 images of 16 slices of 20 × 30 pixels.
  auto map = legal();
  map.interleave = Interleave::b16;
  map.shape = {8, 16, 20, 30};
  map.strides = {153600, 9600, 480, 16};
  map.pixel_box.upper = {-20, -31};
  CHECK(validate(map).empty());
  map.pixel_box.upper = {-21, -32};
  const auto violations = validate(map);
  CHECK(rules(violations) == Rules{"pixel-box.area", "pixel-box.area"});
  CHECK_THAT(violations.at(0).legal, ContainsSubstring("pixel_box.upper[0] = -20"));
  CHECK_THAT(violations.at(0).need, ContainsSubstring("last dimensions"));
  CHECK_THAT(violations.at(1).legal, ContainsSubstring("pixel_box.upper[1] = -31"));
  map.pixel_box.upper = {-1, -1};
  map.shape[1] = 1;
  CHECK(validate(map).empty());
  map.element_strides = {1, 1, 2, 3};
  CHECK(validate(map).empty());
  map.element_strides = {1, 2, 1, 1};
  CHECK(rules(validate(map)) == Rules{"element-strides.image"});
}

TEST_CASE("the tile of an interleaved im2col map has one slice of each pixel, whatever the channels") {
  auto map = legal();
  map.interleave = Interleave::b32;
  map.shape = {8, 16, 20, 30};
  map.strides = {307200, 19200, 960, 32};
  map.pixel_box.channels = 32;
  map.pixel_box.pixels = 50;
  REQUIRE(validate(map).empty());
  CHECK(tile_layout(map).transaction_bytes == 50ULL * 32);
  const BoxLayout layout(map);
  CHECK(layout.rows() == 50);
  CHECK(layout.columns() == 32 / size_of(map.type));
}

TEST_CASE("the sum of an extent and its upper corner must be less than 2^31") {
  auto map = legal();
  map.shape[2] = (1ULL << 31) - 1;
  map.pixel_box.upper[1] = 0;
  CHECK(validate(map).empty());
  check({"pixel-box.end", "pixel_box.upper[1]", "pixel_box.upper[1] = 0",
         [](auto& m) { m.shape[2] = (1ULL << 31) - 1, m.pixel_box.upper[1] = 127; }});
  check({"pixel-box.end", "pixel_box.upper[0]", "pixel_box.upper[0] = -1",
         [](auto& m) { m.shape[1] = 1ULL << 31, m.pixel_box.upper[0] = 0; }});
}

TEST_CASE("with an unknown mode neither the box nor the pixel box is checked") {
  auto map = legal();
  map.mode = static_cast<MapMode>(2);
  CHECK(rules(validate(map)) == Rules{"mode.known"});
}

TEST_CASE("channels and pixels must be in range and fit the swizzle and shared memory") {
  check({"pixel-box.pixels", "pixel_box.pixels", "pixel_box.pixels = 1",
         [](auto& m) { m.pixel_box.pixels = 0; }});
  check({"pixel-box.pixels", "pixel_box.pixels", "pixel_box.pixels = 1024",
         [](auto& m) { m.pixel_box.pixels = 1025; }});
  check({"pixel-box.channels", "pixel_box.channels", "pixel_box.channels = 4",
         [](auto& m) { m.pixel_box.channels = 0; }});
  check({"box.inner-bytes", "pixel_box.channels", "pixel_box.channels = 32",
         [](auto& m) { m.pixel_box.channels = 30; }});
  check({"box.swizzle", "pixel_box.channels", "pixel_box.channels = 32, or swizzle none",
         [](auto& m) { m.pixel_box.channels = 36; }});
  check({"pixel-box.channels", "pixel_box.channels", "pixel_box.channels = 256",
         [](auto& m) { m.pixel_box.channels = 260, m.swizzle = Swizzle::none; }});
  check({"box.shared-bytes", "pixel_box", "pixel_box.pixels = 227",
         [](auto& m) { m.pixel_box.channels = 256, m.pixel_box.pixels = 228, m.swizzle = Swizzle::none; }});
  check({"box.bytes", "pixel_box", "pixel_box.pixels = 227",
         [](auto& m) { m.pixel_box.channels = 256, m.pixel_box.pixels = 229, m.swizzle = Swizzle::none; }});
}

TEST_CASE("element strides other than 1 are legal only in the dimensions of an image") {
  check({"element-strides.image", "element_strides[0]", "element_strides[0] = 1",
         [](auto& m) { m.element_strides[0] = 2; }});
  check({"element-strides.range", "element_strides[1]", "element_strides[1] = 8",
         [](auto& m) { m.element_strides[1] = 9; }});
  check({"element-strides.innermost", "element_strides[3]", "element_strides[3] = 1",
         [](auto& m) { m.element_strides[3] = 2; }});
}

TEST_CASE("fields of the other mode must be zero") {
  check({"mode.unused", "box[2]", "box[2] = 0", [](auto& m) { m.box[2] = 1; }});
  check({"tail.zero", "pixel_box.lower[2]", "= 0", [](auto& m) { m.pixel_box.lower[2] = -1; }});
  auto tiled = TensorMapSpec::of(images(), {1, 1, 8, 32});
  tiled.pixel_box.pixels = 5;
  CHECK(rules(validate(tiled)) == Rules{"mode.unused"});
  tiled = TensorMapSpec::of(images(), {1, 1, 8, 32});
  tiled.pixel_box.upper[1] = 5;
  CHECK(rules(validate(tiled)) == Rules{"mode.unused"});
}

TEST_CASE("the source of a rule names the driver function that encodes the map") {
  auto map = legal();
  map.strides[0] += 4;
  CHECK(validate(map).at(0).source == "cuTensorMapEncodeIm2col, globalStrides");
}
