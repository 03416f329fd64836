#include "reference/random_maps.hpp"
#include "spec/rules.hpp"

#include <tmajit/tensor_map_spec.hpp>
#include <tmajit/validate.hpp>

#include <algorithm>
#include <array>
#include <optional>
#include <span>
#include <vector>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

using namespace tmajit;
using namespace reference;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::MessageMatches;

namespace {

using Map = std::array<std::uint64_t, max_map_rank>;

/// The rules by which making the map fails; empty if the map is made.
std::vector<std::string> broken_map(const TensorView& view, const Dims& box,
                                    Swizzle swizzle = Swizzle::none) {
  try {
    (void)TensorMapSpec::of(view, box, swizzle);
  } catch (const SpecError& error) {
    return rules(error.violations());
  }
  return {};
}

}  // namespace

TEST_CASE("a map of a view has the view's shape, its strides in bytes, and the box") {
  const TensorView view = TensorView::strided(ElementType::bf16, {120, 60}, {64, 1});
  const TensorMapSpec map = TensorMapSpec::of(view, {128, 64}, Swizzle::b128);
  CHECK(map == TensorMapSpec{.type = ElementType::bf16,
                             .rank = 2,
                             .swizzle = Swizzle::b128,
                             .shape = {120, 60},
                             .strides = {128, 2},
                             .box = {128, 64},
                             .element_strides = {1, 1}});
}

TEST_CASE("a dimension of extent 1 gets a legal stride, whatever the view's") {
  const TensorView row = TensorView::strided(ElementType::f32, {1, 5}, {5, 1});
  CHECK(TensorMapSpec::of(row, {1, 8}).strides == Map{32, 4});
  const TensorView one = TensorView::strided(ElementType::f32, {4, 1}, {16, 7});
  CHECK(TensorMapSpec::of(one, {4, 4}).strides == Map{64, 4});
}

TEST_CASE("a map takes all members of its options but type, rank, shape and strides") {
  const TensorMapSpec options{.type = ElementType::u8,
                              .rank = 1,
                              .interleave = Interleave::b16,
                              .swizzle = Swizzle::b32,
                              .oob_fill = OobFill::nan,
                              .shape = {7},
                              .box = {1, 1, 4, 8},
                              .element_strides = {0, 0, 2, 0}};
  // The innermost dimension counts slices of 16 bytes.
  const TensorView slices = TensorView::strided(ElementType::f16, {2, 4, 9, 8}, {2304, 576, 64, 8});
  TensorMapSpec wanted = options;
  wanted.type = ElementType::f16;
  wanted.rank = 4;
  wanted.shape = {2, 4, 9, 8};
  wanted.strides = {4608, 1152, 128, 16};
  wanted.element_strides = {1, 1, 2, 1};
  CHECK(TensorMapSpec::of(slices, options) == wanted);
  const TensorView one = TensorView::strided(ElementType::f16, {2, 4, 9, 1}, {2304, 576, 64, 8});
  CHECK(TensorMapSpec::of(one, options).strides == Map{4608, 1152, 128, 16});
  TensorMapSpec wrong = options;
  wrong.box = {1, 1, 4, 257};
  CHECK_THROWS_AS(TensorMapSpec::of(slices, wrong), SpecError);
  TensorMapSpec pixels = options;
  pixels.interleave = Interleave::none;
  pixels.mode = MapMode::im2col;
  pixels.box = {};
  pixels.element_strides = {};
  pixels.pixel_box = {.channels = 8, .pixels = 4};
  const TensorView images = TensorView::contiguous(ElementType::f16, {2, 9, 8, 16});
  CHECK(TensorMapSpec::of(images, pixels).strides == Map{2304, 256, 32, 2});
}

TEST_CASE("the error for a view that no tensor map can describe names the broken rules") {
  const auto f32 = ElementType::f32;
  CHECK(broken_map(TensorView::contiguous(f32, {}), {}) == std::vector<std::string>{"rank.range"});
  CHECK(broken_map(TensorView::contiguous(f32, {2, 2, 2, 2, 2, 4}), {1, 1, 1, 1, 1, 4}) ==
        std::vector<std::string>{"rank.range"});
  CHECK(broken_map(TensorView::contiguous(f32, {8, 5}), {8, 4}) ==
        std::vector<std::string>{"strides.multiple"});
  CHECK(broken_map(TensorView::strided(f32, {8, 8}, {-8, 1}), {8, 8}) ==
        std::vector<std::string>{"view.negative-stride"});
  CHECK(broken_map(TensorView::strided(f32, {8, 8}, {8, -1}), {8, 8}) ==
        std::vector<std::string>{"view.negative-stride"});
  CHECK(broken_map(TensorView::strided(f32, {8, 8}, {64, 2}), {8, 8}) ==
        std::vector<std::string>{"strides.innermost"});
  CHECK(broken_map(TensorView::strided(f32, {8, 0}, {4, 1}), {8, 8}) ==
        std::vector<std::string>{"shape.range"});
  CHECK(broken_map(TensorView::contiguous(f32, {8, 64}), {8, 64}, Swizzle::b128) ==
        std::vector<std::string>{"box.swizzle"});
  CHECK(broken_map(TensorView::contiguous(f32, {8, 64}), {0, 6}) ==
        std::vector<std::string>{"box.range", "box.inner-bytes"});
}

TEST_CASE("the error for an illegal box names the dimension and the value") {
  const TensorView view = TensorView::contiguous(ElementType::f32, {8, 64});
  const auto says = [](const char* text) { return MessageMatches(ContainsSubstring(text)); };
  CHECK_THROWS_MATCHES(TensorMapSpec::of(view, {8}), Error, says("a box of 1 dimension for a view of 2"));
  CHECK_THROWS_MATCHES(TensorMapSpec::of(view, {8, -4}), Error, says("box[1] is -4"));
  CHECK_THROWS_MATCHES(TensorMapSpec::of(view, {1LL << 40, 4}), Error, says("box[0] is 1099511627776"));
}

TEST_CASE("random legal maps, without interleaving and element strides, equal the maps of their views") {
  const auto seed_used = seed(7);
  Random random(seed_used);
  INFO("TMAJIT_SEED=" << seed_used);
  int checked = 0;
  for (int i = 0; i < 20000; ++i) {
    TensorMapSpec map = legal_map(random);
    if (map.interleave != Interleave::none) continue;
    for (std::uint32_t d = 0; d < map.rank; ++d) map.element_strides[d] = 1;
    const std::uint64_t size = size_of(map.type);
    // A view's strides are whole elements, and a stride of a dimension with extent 1 has no effect.
    if (std::ranges::any_of(map.strides, [&](std::uint64_t stride) { return stride % size != 0; })) continue;
    if (!validate(map).empty()) continue;
    TensorView view{.type = map.type, .rank = map.rank};
    for (std::uint32_t d = 0; d < map.rank; ++d) {
      view.shape[d] = map.shape[d];
      view.strides[d] = static_cast<std::int64_t>(map.strides[d] / size);
    }
    CAPTURE(describe(map));
    TensorMapSpec made = TensorMapSpec::of(view, std::span(map.box).first(map.rank), map.swizzle);
    made.l2_promotion = map.l2_promotion;
    made.oob_fill = map.oob_fill;
    for (std::uint32_t d = 0; d < map.rank; ++d) {
      if (map.shape[d] == 1) made.strides[d] = map.strides[d];
    }
    REQUIRE(made == map);
    ++checked;
  }
  CHECK(checked > 5000);
}
