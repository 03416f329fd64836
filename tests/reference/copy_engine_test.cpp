#include "reference/copy_engine.hpp"

#include "reference/random_maps.hpp"

#include <algorithm>
#include <array>
#include <set>
#include <vector>

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>

using namespace reference;
using namespace tmajit;

namespace {

constexpr std::byte poison{0xab};

/// A dense u8 matrix whose element (r, c) is r · columns + c.
TensorMapSpec matrix(std::uint64_t rows, std::uint64_t columns, std::uint32_t box_rows,
                     std::uint32_t box_columns) {
  return {.type = ElementType::u8,
          .rank = 2,
          .shape = {rows, columns},
          .strides = {columns, 1},
          .box = {box_rows, box_columns},
          .element_strides = {1, 1}};
}

std::vector<std::byte> numbered(std::uint64_t bytes) {
  std::vector<std::byte> tensor(bytes);
  for (std::uint64_t i = 0; i < bytes; ++i) tensor[i] = static_cast<std::byte>(i);
  return tensor;
}

std::vector<std::byte> loaded(const TensorMapSpec& map, std::span<const std::byte> tensor,
                              std::vector<std::int64_t> at) {
  std::vector<std::byte> image(image_bytes(map), poison);
  load(map, tensor, at, image);
  return image;
}

}  // namespace

TEST_CASE("a tile without swizzle is stored row by row") {
  const auto map = matrix(4, 64, 2, 16);
  const auto tensor = numbered(256);
  const auto image = loaded(map, tensor, {1, 32});
  REQUIRE(image.size() == 32);
  CHECK(std::equal(image.begin(), image.begin() + 16, tensor.begin() + 96));
  CHECK(std::equal(image.begin() + 16, image.end(), tensor.begin() + 160));
}

TEST_CASE("elements outside the tensor are loaded as zeros, on every side") {
  const auto map = matrix(4, 64, 2, 16);
  const auto image = loaded(map, numbered(256), {-1, 56});
  CHECK(std::all_of(image.begin(), image.begin() + 16, [](auto b) { return b == std::byte{0}; }));
  for (std::size_t i = 0; i < 8; ++i) CHECK(image[16 + i] == std::byte(56 + i));
  for (std::size_t i = 8; i < 16; ++i) CHECK(image[16 + i] == std::byte{0});
}

TEST_CASE("elements outside the tensor are loaded as NaN if the map's fill is NaN") {
  TensorMapSpec map{.type = ElementType::f16,
                    .rank = 1,
                    .oob_fill = OobFill::nan,
                    .shape = {4},
                    .strides = {2},
                    .box = {8},
                    .element_strides = {1}};
  const auto image = loaded(map, numbered(8), {0});
  CHECK(image[7] == std::byte{7});
  CHECK(image[8] == std::byte{0xf7});
  CHECK(image[9] == std::byte{0x7f});
}

TEST_CASE("the 128-byte swizzle permutes 16-byte chunks by their row") {
  auto map = matrix(8, 128, 8, 128);
  map.swizzle = Swizzle::b128;
  std::vector<std::byte> tensor(1024);
  for (std::size_t i = 0; i < 1024; ++i)
    tensor[i] = static_cast<std::byte>(i / 16);  // number of the 16-byte chunk
  const auto image = loaded(map, tensor, {0, 0});
  for (std::size_t row = 0; row < 8; ++row) {
    for (std::size_t chunk = 0; chunk < 8; ++chunk) {
      CHECK(image[row * 128 + (chunk ^ row) * 16] == std::byte(row * 8 + chunk));
    }
  }
}

TEST_CASE("the patterns of the 32-byte and 64-byte swizzles repeat after 256 and 512 bytes") {
  CHECK(swizzled(0x80, Swizzle::b32) == 0x90);
  CHECK(swizzled(0x100, Swizzle::b32) == 0x100);
  CHECK(swizzled(0x180, Swizzle::b64) == 0x1b0);
  CHECK(swizzled(0x200, Swizzle::b64) == 0x200);
  CHECK(swizzled(0x3f0, Swizzle::none) == 0x3f0);
}

TEST_CASE("rows narrower than the swizzle's span occupy the whole span, whose rest is not written") {
  auto map = matrix(2, 32, 2, 32);
  map.swizzle = Swizzle::b128;
  const auto image = loaded(map, numbered(64), {0, 0});
  REQUIRE(image.size() == 256);
  CHECK(std::count(image.begin(), image.end(), poison) == 192);
  CHECK(image[0] == std::byte{0});
  CHECK(image[128 + 16] == std::byte{32});  // row 1's first chunk, moved by the swizzle
}

TEST_CASE("element strides skip rows") {
  auto map = matrix(8, 16, 6, 16);
  map.element_strides = {3, 1};
  const auto image = loaded(map, numbered(128), {1, 0});
  REQUIRE(image.size() == 32);
  CHECK(image[0] == std::byte{16});
  CHECK(image[16] == std::byte{64});
}

TEST_CASE("a store of a loaded tile restores its elements and writes nothing outside the tensor") {
  Random random(seed(7));
  const std::array shapes{std::array<std::uint64_t, 3>{5, 7, 48}, std::array<std::uint64_t, 3>{1, 9, 16}};
  for (int i = 0; i < 300; ++i) {
    auto map = legal_map(random);
    if (map.rank != 3 || map.interleave != Interleave::none || can_fill_nan(map.type)) continue;
    const auto shape = one_of(random, shapes);
    const std::uint64_t size = size_of(map.type);
    map.shape = {shape[0], shape[1], shape[2]};
    map.strides = {shape[1] * shape[2] * size, shape[2] * size, size};
    const auto tensor = numbered(shape[0] * map.strides[0]);
    std::vector<std::byte> copy(tensor.size(), poison);
    std::vector<std::byte> image(image_bytes(map));
    map.element_strides = {1, 1, 1};
    image.resize(image_bytes(map));
    for (std::int64_t a = 0; a < static_cast<std::int64_t>(shape[0]); a += map.box[0]) {
      for (std::int64_t b = 0; b < static_cast<std::int64_t>(shape[1]); b += map.box[1]) {
        for (std::int64_t c = 0; c < static_cast<std::int64_t>(shape[2]); c += map.box[2]) {
          load(map, tensor, std::array{a, b, c}, image);
          store(map, copy, std::array{a, b, c}, image);
        }
      }
    }
    INFO(describe(map));
    REQUIRE(copy == tensor);
  }
}

TEST_CASE("an element stride that does not divide the box rounds the number of rows up") {
  auto map = matrix(16, 16, 16, 16);
  map.element_strides = {3, 1};
  const auto image = loaded(map, numbered(256), {0, 0});
  REQUIRE(image.size() == 6ULL * 16);
  CHECK(image[5ULL * 16] == std::byte{15 * 16});
}

TEST_CASE("a store writes the whole 16-byte chunk that a row ends in, and clips other dimensions exactly") {
  auto map = matrix(2, 17, 4, 32);
  map.strides = {48, 1};
  std::vector<std::byte> image(image_bytes(map), std::byte{7});
  std::vector<std::byte> tensor(48ULL * 3, poison);
  store(map, tensor, std::array<std::int64_t, 2>{0, 0}, image);
  for (std::size_t i = 0; i < tensor.size(); ++i) {
    const bool written = i < 96 && i % 48 < 32;
    CHECK(tensor[i] == (written ? std::byte{7} : poison));
  }
}

TEST_CASE("an interleaved layout counts slices, and groups of slices follow each other in shared memory") {
  TensorMapSpec map{.type = ElementType::u8,
                    .rank = 3,
                    .interleave = Interleave::b32,
                    .swizzle = Swizzle::b32,
                    .shape = {1, 1, 8},
                    .strides = {256, 256, 32},
                    .box = {1, 1, 8},
                    .element_strides = {1, 1, 1}};
  const auto tensor = numbered(256);
  const auto image = loaded(map, tensor, {0, 0, 2});
  REQUIRE(image.size() == 256);
  CHECK(image[0] == std::byte{64});
  CHECK(image[128 + 16] == std::byte{192});  // the second group of slices, whose halves the swizzle exchanges
  CHECK(image[192] == std::byte{0});         // slice 8 lies outside
  map.swizzle = Swizzle::none;
  CHECK(loaded(map, tensor, {0, 0, 0}) == tensor);
}

TEST_CASE("a load of an interleaved image moves one slice of each pixel") {
  const TensorMapSpec map{.type = ElementType::u8,
                          .rank = 4,
                          .interleave = Interleave::b16,
                          .mode = MapMode::im2col,
                          .shape = {2, 4, 5, 6},
                          .strides = {1920, 480, 96, 16},
                          .element_strides = {1, 1, 1, 1},
                          .pixel_box = {.channels = 32, .pixels = 8}};
  std::vector<std::byte> tensor(2ULL * 1920);
  for (std::size_t i = 0; i < tensor.size(); ++i) tensor[i] = static_cast<std::byte>(i / 16);
  const auto image = loaded(map, tensor, {0, 1, 2, 3});
  REQUIRE(image.size() == 8ULL * 16);
  // Three pixels of one row and five of the next.
  for (std::size_t pixel = 0; pixel < 8; ++pixel)
    CHECK(image[16 * pixel] == static_cast<std::byte>((1 * 5 + 2) * 6 + 3 + pixel));
}

TEST_CASE("a swizzle maps the bytes of a tile one to one") {
  const auto swizzle = GENERATE(Swizzle::b32, Swizzle::b64, Swizzle::b128);
  std::set<std::uint64_t> reached;
  for (std::uint64_t offset = 0; offset < 4096; ++offset) reached.insert(swizzled(offset, swizzle));
  CHECK(reached.size() == 4096);
  CHECK(*reached.rbegin() == 4095);
}

TEST_CASE("an image that is too small is refused") {
  const auto map = matrix(4, 64, 2, 16);
  std::vector<std::byte> image(31);
  CHECK_THROWS_AS(load(map, numbered(256), std::array<std::int64_t, 2>{0, 0}, image), std::invalid_argument);
}
