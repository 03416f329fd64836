#include "families/tiles.hpp"

#include <array>

#include <catch2/catch_test_macros.hpp>

using namespace tmajit;

namespace {

/// A map kernel with tiles of 8 x 16 elements: an f64 output is computed from an f32 and a u8 input.
TileSpec small_map_spec() {
  TileSpec spec;
  spec.traits = &map_traits;
  spec.rank = 2;
  spec.inputs = 2;
  spec.stages = 3;
  spec.output_stages = 2;
  spec.warps = 8;
  spec.ctas_per_sm = 1;
  spec.tile = {8, 16};
  spec.output() = {.type = ElementType::f64, .swizzle = Swizzle::b128, .element_strides = {1, 1}};
  spec.operands[1] = {.type = ElementType::f32, .swizzle = Swizzle::b64, .element_strides = {1, 1}};
  spec.operands[2] = {.type = ElementType::u8, .element_strides = {1, 1}};
  return spec;
}

}  // namespace

TEST_CASE("the input rings precede the output ring, and each ring is aligned as its swizzle requires") {
  const auto layout = shared_layout(small_map_spec());
  CHECK(layout.inputs[0].offset == 0);
  CHECK(layout.inputs[0].tile_bytes == 8 * 16 * 4);
  CHECK(layout.inputs[0].stage_bytes == 512);
  CHECK(layout.inputs[1].offset == 3 * 512);
  CHECK(layout.inputs[1].tile_bytes == 8 * 16);
  CHECK(layout.output.offset == 2048);  // the input rings end at 1920; swizzle 128B aligns to 1024
  CHECK(layout.output.tile_bytes == 8 * 16 * 8);
  CHECK(layout.barriers == 2048 + 2 * 1024);
  CHECK(layout.bytes == 4096 + 2 * 3 * 8 + 1024);  // two mbarriers a stage, and slack to align the base
}

TEST_CASE("a stage is padded so that the next stage is aligned") {
  auto spec = small_map_spec();
  spec.tile = {3, 16};
  const auto layout = shared_layout(spec);
  CHECK(layout.inputs[0].tile_bytes == 3 * 16 * 4);
  CHECK(layout.inputs[0].stage_bytes == 512);  // swizzle 64B
  CHECK(layout.inputs[1].tile_bytes == 3 * 16);
  CHECK(layout.inputs[1].stage_bytes == 128);  // no swizzle
}

TEST_CASE("kernels that only copy have no output ring and a single warp: they store from the input ring") {
  for (const TileTraits* traits : {&copy_traits, &snapshot_traits}) {
    CAPTURE(traits->name);
    auto spec = small_map_spec();
    spec.traits = traits;
    spec.inputs = 1;
    spec.output_stages = 0;
    const auto layout = shared_layout(spec);
    CHECK(layout.output.tile_bytes == 0);
    CHECK(layout.barriers == 3 * 512);  // after the three stages of the input ring
    CHECK(threads(spec) == 32);
  }
}

TEST_CASE("bulk kernels ignore the swizzles of their operands: a chunk has one dimension") {
  TileSpec spec;
  spec.traits = &bulk_traits;
  spec.rank = 1;
  spec.inputs = 1;
  spec.stages = 2;
  spec.output_stages = 2;
  spec.warps = 4;
  spec.ctas_per_sm = 1;
  spec.tile = {100};
  spec.output() = {.type = ElementType::f16, .element_strides = {1}};
  spec.operands[1] = {.type = ElementType::f32, .swizzle = Swizzle::b128, .element_strides = {1}};
  const auto layout = shared_layout(spec);
  CHECK(layout.inputs[0].tile_bytes == 100 * 4);
  CHECK(layout.inputs[0].stage_bytes == 512);  // a multiple of 128
  CHECK(layout.output.offset == 2 * 512);
  CHECK(layout.output.tile_bytes == 100 * 2);
}

TEST_CASE("a kernel that computes has a warp that loads besides the warps that compute") {
  auto spec = small_map_spec();
  CHECK(threads(spec) == 32 * 9);
  spec.traits = &bulk_traits;
  CHECK(threads(spec) == 32 * 9);
  spec.warps = 255;
  CHECK(threads(spec) == 32 * 256);
}

TEST_CASE("sizes and offsets of an illegal spec saturate instead of overflowing") {
  TileSpec spec = small_map_spec();
  spec.rank = 255;
  spec.inputs = 255;
  spec.stages = 255;
  spec.tile = {~0U, ~0U, ~0U, ~0U, ~0U};
  const auto layout = shared_layout(spec);
  CHECK(layout.bytes == ~0ULL);
  CHECK(layout.inputs[7].offset == ~0U);
}
