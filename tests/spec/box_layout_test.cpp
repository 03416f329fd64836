#include "reference/copy_engine.hpp"
#include "reference/random_maps.hpp"

#include <tmajit/box_layout.hpp>
#include <tmajit/error.hpp>

#include <algorithm>
#include <array>
#include <vector>

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/generators/catch_generators_range.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

using namespace tmajit;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::MessageMatches;

namespace {

/// Returns the bytes of a tensor that is one tile. Its strides are the smallest that the rules allow.
std::vector<std::byte> tensor_of_one_tile(TensorMapSpec& map, const BoxLayout& layout) {
  const std::uint32_t unit = map.interleave == Interleave::b32 ? 32 : 16;
  std::uint64_t stride = map.interleave == Interleave::none ? layout.element_bytes() : unit;
  for (std::uint32_t d = map.rank; d-- > 0;) {
    map.shape[d] = map.box[d];
    map.strides[d] = stride;
    stride = (stride * map.box[d] + unit - 1) / unit * unit;
  }
  return std::vector<std::byte>(stride);
}

/// Offset in the tensor of the element with the tile's index `index`.
std::uint64_t place_in_tensor(const TensorMapSpec& map, std::span<const std::uint32_t> index,
                              std::uint32_t element_bytes) {
  std::uint64_t at = 0;
  for (std::uint32_t d = 0; d < map.rank; ++d)
    at += std::uint64_t{index[d]} * map.element_strides[d] * map.strides[d];
  if (index.size() > map.rank) at += std::uint64_t{index[map.rank]} * element_bytes;
  return at;
}

/// A type of the same size whose loads convert nothing.
ElementType unchanging(ElementType type) {
  return type == ElementType::tf32 || type == ElementType::tf32_ftz ? ElementType::u32 : type;
}

}  // namespace

TEST_CASE("a layout's elements are exactly the bytes that the copy engine writes") {
  const auto seed_used = reference::seed(20261122);
  INFO("TMAJIT_SEED=" << seed_used);
  reference::Random random(seed_used);
  // Only two maps for each case: under AddressSanitizer each takes 0.15 s.
  const std::uint64_t maps = 2 * reference::from_environment("TMAJIT_CASES", 750);
  for (std::uint64_t i = 0; i < maps; ++i) {
    auto map = reference::legal_map(random);
    map.type = unchanging(map.type);
    map.oob_fill = OobFill::zero;
    map.strides[map.rank - 1U] = map.interleave == Interleave::none  ? size_of(map.type)
                                 : map.interleave == Interleave::b16 ? 16
                                                                     : 32;
    const BoxLayout layout(map);
    auto tensor = tensor_of_one_tile(map, layout);
    CAPTURE(reference::describe(map));
    for (auto& byte : tensor) byte = static_cast<std::byte>(random());
    // The tile is loaded over two different contents: bytes that differ afterwards were not written.
    const std::size_t room = layout.bytes() + 1024U;
    std::vector<std::byte> image(room, std::byte{0x11});
    std::vector<std::byte> other(room, std::byte{0xee});
    const std::array<std::int64_t, max_map_rank> origin{};
    const auto coordinates = std::span(origin).first(map.rank);
    reference::load(map, tensor, coordinates, image);
    reference::load(map, tensor, coordinates, other);

    std::uint32_t wrong = 0;
    std::uint32_t end = 0;
    for (std::uint32_t offset = 0; offset < room; ++offset) {
      const bool written = image[offset] == other[offset];
      if (written) end = offset + 1;
      const auto element = layout.element(offset);
      if (element.has_value() != written) {
        ++wrong;
        continue;
      }
      if (!element) continue;
      const auto at = layout.index(*element);
      const auto index = std::span(at).first(layout.extents().size());
      const auto begin = layout.offset(index);
      const bool inverse =
          begin == layout.offset_of(*element) && begin <= offset && offset < begin + layout.element_bytes();
      const auto from = place_in_tensor(map, index, layout.element_bytes()) + (offset - begin);
      if (!inverse || image[offset] != tensor[from]) ++wrong;
    }
    REQUIRE(wrong == 0);
    CHECK(end <= layout.bytes());
    CHECK(layout.bytes() >= reference::image_bytes(map));
    CHECK(layout.alignment() == tile_layout(map).alignment);
  }
}

TEST_CASE("a 128-byte swizzle permutes the 16-byte units of a row by the row's index modulo 8") {
  const BoxLayout box(ElementType::bf16, std::array{64U, 64U}, Swizzle::b128);
  CHECK(box.offset({0, 0}) == 0);
  CHECK(box.offset({1, 0}) == 128 + 16);
  CHECK(box.offset({1, 8}) == 128);
  CHECK(box.offset({7, 1}) == 7 * 128 + 7 * 16 + 2);
  CHECK(box.offset({8, 0}) == 1024);
  CHECK(box.offset(std::array{9U, 63U}) == 9 * 128 + 6 * 16 + 14);
  CHECK(box.element(128) == BoxElement{1, 8});
  CHECK(box.element(131) == BoxElement{1, 9});
  CHECK_FALSE(box.element(64 * 128).has_value());
  CHECK(bank_of(box.offset({1, 0})) == 4);
}

TEST_CASE("rows narrower than the swizzle's span are followed by gaps") {
  const BoxLayout box(ElementType::f32, std::array{2U, 3U, 4U}, Swizzle::b64);
  CHECK(box.rows() == 6);
  CHECK(box.row_bytes() == 16);
  CHECK(box.pitch_bytes() == 64);
  CHECK(box.bytes() == 6 * 64);
  CHECK(box.offset(std::array{0U, 2U, 1U}) == 128 + 16 + 4);
  CHECK(box.element(128 + 16 + 4) == BoxElement{2, 1});
  CHECK_FALSE(box.element(128).has_value());
  CHECK(box.index({5, 3}) == std::array{1U, 2U, 3U, 0U, 0U, 0U});
}

TEST_CASE("the layout of an interleaved tile has one more dimension, the elements of a slice") {
  const BoxLayout box(ElementType::f16, std::array{1U, 3U, 8U}, Swizzle::b32, Interleave::b32);
  // There is one slice of channels, whatever the box.
  CHECK(std::ranges::equal(box.extents(), std::array{1U, 1U, 8U, 16U}));
  CHECK(box.rows() == 8);
  CHECK(box.row_bytes() == 32);
  CHECK(box.offset(std::array{0U, 0U, 4U, 0U}) == 128 + 16);
  CHECK(box.offset(std::array{0U, 0U, 4U, 8U}) == 128);
  // The last line is incomplete, and the swizzle moves its chunks beyond the unswizzled end.
  const BoxLayout odd(ElementType::f64, std::array{9U, 1U, 2U}, Swizzle::b64, Interleave::b16);
  CHECK(odd.rows() * odd.pitch_bytes() == 2 * 128 + 32);
  CHECK(odd.offset(std::array{8U, 0U, 0U, 0U}) == 2 * 128 + 32);
  CHECK(odd.bytes() == 2 * 128 + 64);
}

TEST_CASE("a box that no tensor map can have is refused with the rules that it breaks") {
  struct Illegal {
    std::vector<std::uint32_t> box;
    Swizzle swizzle;
    Interleave interleave;
    std::vector<std::string> rules;
  };
  const auto illegal = GENERATE(values<Illegal>({
      {{}, Swizzle::none, Interleave::none, {"rank.range"}},
      {{1, 1, 1, 1, 1, 4}, Swizzle::none, Interleave::none, {"rank.range"}},
      {{8, 3}, Swizzle::none, Interleave::none, {"box.inner-bytes"}},
      {{8, 64}, Swizzle::b128, Interleave::none, {"box.swizzle"}},
      {{0, 64}, Swizzle::none, Interleave::none, {"box.range"}},
      {{257, 4}, Swizzle::none, Interleave::none, {"box.range"}},
      {{256, 256}, Swizzle::none, Interleave::none, {"box.bytes"}},
      {{8, 4}, Swizzle::none, Interleave::b16, {"rank.interleave"}},
      {{8, 4}, static_cast<Swizzle>(7), Interleave::none, {"swizzle.known"}},
  }));
  try {
    const BoxLayout box(ElementType::f32, illegal.box, illegal.swizzle, illegal.interleave);
    FAIL("a layout of " << box.bytes() << " bytes");
  } catch (const SpecError& error) {
    std::vector<std::string> rules;
    for (const auto& violation : error.violations()) rules.push_back(violation.rule);
    CHECK(rules == illegal.rules);
  }
}

TEST_CASE("an index outside the tile, or of another rank, is refused") {
  const BoxLayout box(ElementType::f32, std::array{8U, 4U});
  CHECK_THROWS_MATCHES(box.offset(std::array{1U}), Error,
                       MessageMatches(ContainsSubstring("1 number into a tile of 2 dimensions")));
  CHECK_THROWS_MATCHES(box.offset(std::array{8U, 0U}), Error,
                       MessageMatches(ContainsSubstring("index 8 of dimension 0: the tile has 8")));
  CHECK_THROWS_AS(box.offset(std::array{0U, 4U}), Error);
}
