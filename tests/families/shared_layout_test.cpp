#include "families/tiles.hpp"

#include <array>

#include <catch2/catch_test_macros.hpp>

using namespace tmajit;

namespace {

TileSpec map_kernel() {
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

TEST_CASE("the rings of inputs come before the output's, each aligned to its swizzle's period") {
  const auto layout = shared_layout(map_kernel());
  CHECK(layout.inputs[0].offset == 0);
  CHECK(layout.inputs[0].tile_bytes == 512);
  CHECK(layout.inputs[0].stage_bytes == 512);
  CHECK(layout.inputs[1].offset == 1536);
  CHECK(layout.inputs[1].tile_bytes == 128);
  CHECK(layout.output.offset == 2048);  // 1920, aligned to 1024
  CHECK(layout.output.tile_bytes == 1024);
  CHECK(layout.barriers == 4096);
  CHECK(layout.bytes == 4096 + 2 * 3 * 8 + 1024);
}

TEST_CASE("a stage is padded to the alignment of the next") {
  auto spec = map_kernel();
  spec.tile = {3, 16};
  const auto layout = shared_layout(spec);
  CHECK(layout.inputs[0].tile_bytes == 192);
  CHECK(layout.inputs[0].stage_bytes == 512);
  CHECK(layout.inputs[1].tile_bytes == 48);
  CHECK(layout.inputs[1].stage_bytes == 128);
}

TEST_CASE("copy and snapshot store from the input ring") {
  auto spec = map_kernel();
  spec.traits = &copy_traits;
  spec.inputs = 1;
  spec.output_stages = 0;
  const auto layout = shared_layout(spec);
  CHECK(layout.output.tile_bytes == 0);
  CHECK(layout.barriers == 3 * 512);
  CHECK(threads(spec) == 32);
}

TEST_CASE("bulk chunks ignore the swizzle in both rings") {
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
  CHECK(layout.inputs[0].tile_bytes == 400);
  CHECK(layout.inputs[0].stage_bytes == 512);
  CHECK(layout.output.offset == 1024);
  CHECK(layout.output.tile_bytes == 200);
}

TEST_CASE("a kernel that computes has one more warp, which loads") {
  auto spec = map_kernel();
  CHECK(threads(spec) == 32 * 9);
  spec.traits = &bulk_traits;
  CHECK(threads(spec) == 32 * 9);
  spec.warps = 255;
  CHECK(threads(spec) == 32 * 256);
}

TEST_CASE("a layout of out-of-range numbers saturates instead of overflowing") {
  TileSpec spec = map_kernel();
  spec.rank = 255;
  spec.inputs = 255;
  spec.stages = 255;
  spec.tile = {~0U, ~0U, ~0U, ~0U, ~0U};
  const auto layout = shared_layout(spec);
  CHECK(layout.bytes == ~0ULL);
  CHECK(layout.inputs[7].offset == ~0U);
}
