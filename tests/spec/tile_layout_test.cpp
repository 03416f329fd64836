#include <tmajit/tensor_map_spec.hpp>

#include <array>

#include <catch2/catch_test_macros.hpp>

using namespace tmajit;

TEST_CASE("a tile consists of rows along the innermost dimension") {
  const auto layout = tile_layout(ElementType::f16, std::array{2U, 8U, 64U}, Swizzle::none);
  CHECK(layout.rows == 16);
  CHECK(layout.row_bytes == 128);
  CHECK(layout.pitch_bytes == 128);
  CHECK(layout.bytes == 2048);
  CHECK(layout.transaction_bytes == 2048);
  CHECK(layout.alignment == 128);
}

TEST_CASE("a swizzle's period is the tile's alignment, and its span the distance of rows") {
  const auto wide = tile_layout(ElementType::f32, std::array{8U, 32U}, Swizzle::b128);
  CHECK(wide.alignment == 1024);
  CHECK(wide.pitch_bytes == 128);
  const auto narrow = tile_layout(ElementType::f32, std::array{8U, 4U}, Swizzle::b64);
  CHECK(narrow.alignment == 512);
  CHECK(narrow.row_bytes == 16);
  CHECK(narrow.pitch_bytes == 64);
  CHECK(narrow.bytes == 512);
  CHECK(narrow.transaction_bytes == 128);
  CHECK(tile_layout(ElementType::f32, std::array{8U, 4U}, Swizzle::b32).alignment == 256);
}

TEST_CASE("the extents of a map's tile are the box's divided by the element strides, rounded up") {
  TensorMapSpec map{.type = ElementType::u8,
                    .rank = 2,
                    .shape = {100, 100},
                    .strides = {112, 1},
                    .box = {10, 32},
                    .element_strides = {3, 1}};
  CHECK(tile_layout(map).rows == 4);
  CHECK(tile_layout(map).bytes == 128);
  map.element_strides[1] = 2;  // ignored, like by the copy engine
  CHECK(tile_layout(map).bytes == 128);
}

TEST_CASE("an interleaved tile consists of consecutive slices of 16 or 32 bytes") {
  TensorMapSpec map{.type = ElementType::f16,
                    .rank = 3,
                    .interleave = Interleave::b32,
                    .swizzle = Swizzle::b32,
                    .shape = {4, 4, 16},
                    .strides = {2048, 512, 32},
                    .box = {2, 2, 10},
                    .element_strides = {1, 1, 1}};
  CHECK(tile_layout(map).row_bytes == 320);
  CHECK(tile_layout(map).transaction_bytes == 2ULL * 320);  // one slice in dimension 1
  map.interleave = Interleave::b16;
  map.swizzle = Swizzle::b128;
  map.box[2] = 1;
  CHECK(tile_layout(map).pitch_bytes == 16);
}

TEST_CASE("the bytes of a tile that is larger than 2^64 saturate") {
  constexpr auto huge = ~0U;
  const auto layout = tile_layout(ElementType::f64, std::array{huge, huge, huge, huge, huge}, Swizzle::b128);
  CHECK(layout.row_bytes == ~0U);
  CHECK(layout.bytes == ~0ULL);
  CHECK(tile_layout(ElementType::f64, {}, Swizzle::b128).bytes == 0);
  CHECK(tile_layout(static_cast<ElementType>(99), std::array{4U}, static_cast<Swizzle>(99)).bytes == 16);
}
