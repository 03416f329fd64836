#include "families/tiles.hpp"
#include "reference/random_maps.hpp"
#include "spec/limits.hpp"

#include <algorithm>
#include <array>

#include <catch2/catch_test_macros.hpp>

using namespace tmajit;

namespace {

using Tile = std::array<std::uint32_t, max_map_rank>;

}  // namespace

TEST_CASE("by default a large tensor's tile has about 8 KiB, with rows of up to 256 elements") {
  const auto big = dense(ElementType::f32, {4096, 4096});
  const auto spec = copy_spec(big, big);
  CHECK(spec.tile == Tile{8, 256});
  CHECK(spec.stages == 2);
  CHECK(spec.tiles_per_cta == 2);
  CHECK(spec.ctas_per_sm == 3);  // 48 KiB in flight
  const auto map = map_spec(big, "x", {big});
  CHECK(map.tile == Tile{8, 256});
  CHECK(map.stages == 2);
  CHECK(map.ctas_per_sm == 4);
  const auto bytes = dense(ElementType::u8, {4096, 4096});
  CHECK(copy_spec(bytes, bytes).tile == Tile{32, 256});
}

TEST_CASE("a small tensor has a CTA for each tile, and smaller tiles") {
  const auto small = dense(ElementType::f32, {64, 4096});
  const auto copy = copy_spec(small, small);
  CHECK(copy.tile == Tile{4, 256});  // 256 of them
  CHECK(copy.stages == 1);
  CHECK(copy.tiles_per_cta == 1);
  CHECK(copy.ctas_per_sm == 12);  // 48 KiB in flight
  const auto map = map_spec(small, "x", {small});
  CHECK(map.tile == Tile{4, 256});
  CHECK(map.stages == 1);
  CHECK(map.tiles_per_cta == 1);
  CHECK(map.ctas_per_sm == 6);  // 960 threads
  const auto bytes = dense(ElementType::u8, {256, 4096});
  CHECK(copy_spec(bytes, bytes).tile == Tile{16, 256});

  // The largest tensor with small tiles has 512 of them.
  const auto largest = dense(ElementType::f32, {128, 4096});
  CHECK(copy_spec(largest, largest).tile == Tile{4, 256});
  const auto more = dense(ElementType::f32, {129, 4096});
  CHECK(copy_spec(more, more).tile == Tile{8, 256});
}

TEST_CASE("each tile has its own CTA up to 2048 tiles of 8 KiB, or up to fewer tiles if they are small") {
  const auto largest = dense(ElementType::f32, {1024, 4096});  // 16 MiB
  const auto spec = copy_spec(largest, largest);
  CHECK(spec.tile == Tile{8, 256});
  CHECK(spec.tiles_per_cta == 1);
  CHECK(spec.stages == 1);
  CHECK(spec.ctas_per_sm == 6);  // 48 KiB in flight
  const auto more = dense(ElementType::f32, {1025, 4096});
  CHECK(copy_spec(more, more).tile == Tile{8, 256});
  CHECK(copy_spec(more, more).tiles_per_cta == 2);
  // Tiles of 256 bytes: up to 512 of them have a CTA each, 513 share CTAs.
  const auto row = dense(ElementType::u8, {512 * 256});
  CHECK(copy_spec(row, row).tiles_per_cta == 1);
  const auto longer = dense(ElementType::u8, {513 * 256});
  CHECK(copy_spec(longer, longer).tiles_per_cta > 1);
}

TEST_CASE("a small tensor's pipeline has the stages that the caller's options ask for") {
  const auto small = dense(ElementType::f32, {64, 4096});
  const std::array<std::uint32_t, 2> box{8, 256};
  CHECK(copy_spec(small, small, {.box = box}).stages == 2);
  CHECK(copy_spec(small, small, {.stages = 3}).stages == 3);
  CHECK(copy_spec(small, small, {.tiles_per_cta = 0}).stages == 2);
  const auto alone = copy_spec(small, small, {.ctas_per_sm = 2});
  CHECK(alone.tiles_per_cta == 1);
  CHECK(alone.ctas_per_sm == 2);
}

TEST_CASE("a swizzle limits a tile's rows to the swizzle span") {
  const auto big = dense(ElementType::f32, {4096, 4096});
  CHECK(copy_spec(big, big, {.swizzle = Swizzle::b128}).tile == Tile{64, 32});
  CHECK(copy_spec(big, big, {.swizzle = Swizzle::b32}).tile == Tile{256, 8});
}

TEST_CASE("a tile is not much larger than the tensor") {
  const auto small = dense(ElementType::f32, {3, 5, 7});
  CHECK(copy_spec(small, small).tile == Tile{3, 5, 8});
  const auto one = dense(ElementType::u8, {1});
  CHECK(copy_spec(one, one).tile == Tile{16});
}

TEST_CASE("a tile spans outer dimensions if the inner ones have too few rows") {
  const auto view = dense(ElementType::f32, {64, 64, 4, 64});
  CHECK(copy_spec(view, view).tile == Tile{1, 8, 4, 64});
}

TEST_CASE("a tile's rows have at least 16 bytes of the smallest type of a map") {
  const std::array inputs{dense(ElementType::f64, {100, 3}), dense(ElementType::u8, {100, 3})};
  const auto spec = map_spec(dense(ElementType::f32, {100, 3}), "x0 + x1", inputs);
  CHECK(spec.tile[1] == 16);
  CHECK(broken(spec).empty());
}

TEST_CASE("a map of many inputs takes smaller tiles and fits into shared memory") {
  const auto view = dense(ElementType::f64, {4096, 4096});
  const std::vector<TensorView> inputs(8, view);
  const auto spec = map_spec(view, "x0 + x7", inputs);
  CHECK(broken(spec).empty());
  CHECK(spec.stages >= 2);
  CHECK(spec.warps == 4);
  CHECK(spec.output_stages == 2);
}

TEST_CASE("a box from the caller determines the number of stages") {
  const auto view = dense(ElementType::f32, {4096, 4096});
  const std::array large{128U, 256U};  // 128 KiB: one fits
  const auto spec = copy_spec(view, view, {.box = large});
  CHECK(spec.stages == 1);
  CHECK(spec.ctas_per_sm == 1);
  CHECK(broken(spec).empty());
}

TEST_CASE("a number of stages from the caller determines the tile") {
  const auto view = dense(ElementType::f32, {4096, 4096});
  const auto spec = copy_spec(view, view, {.stages = 32, .ctas_per_sm = 8});
  CHECK(broken(spec).empty());
  CHECK(spec.stages == 32);
  CHECK(spec.ctas_per_sm == 8);
}

TEST_CASE("the default number of warps leaves room for the CTAs per SM that the caller asks for") {
  const auto view = dense(ElementType::f32, {4096, 4096});
  const auto spec = map_spec(view, "x", {view}, {.ctas_per_sm = 8});
  CHECK(broken(spec).empty());
  CHECK(spec.warps == 4);
  const auto many = map_spec(view, "x", {view}, {.ctas_per_sm = 16});
  CHECK(broken(many).empty());
  CHECK(many.warps == 3);
}

TEST_CASE("the default tile is legal whenever any tile is") {
  const auto seed = reference::seed(20240101);
  reference::Random random(seed);
  using reference::between, reference::one_in, reference::one_of;
  INFO("TMAJIT_SEED=" << seed);
  for (int i = 0; i < 4000; ++i) {
    const auto rank = between(random, 1, max_map_rank);
    std::vector<std::uint64_t> shape;
    for (std::uint64_t d = 0; d < rank; ++d)
      shape.push_back(between(random, 1, 1ULL << between(random, 0, 31)));
    std::vector<std::uint32_t> steps(rank, 1);
    for (std::uint64_t d = 0; d + 1 < rank; ++d) {
      if (one_in(random, 4)) steps[d] = static_cast<std::uint32_t>(between(random, 1, 8));
    }
    TileOptions options{.element_strides = steps};
    options.swizzle = static_cast<Swizzle>(between(random, 0, 3));
    if (one_in(random, 4)) options.stages = static_cast<std::uint32_t>(between(random, 1, 32));
    if (one_in(random, 4)) options.ctas_per_sm = static_cast<std::uint32_t>(between(random, 1, 8));
    if (one_in(random, 4)) options.output_stages = static_cast<std::uint32_t>(between(random, 2, 8));

    std::vector<TensorView> inputs;
    std::uint32_t smallest = 8;
    std::uint32_t largest = 1;
    for (auto n = between(random, 1, 8); n > 0; --n) {
      inputs.push_back(TensorView::contiguous(one_of(random, all_element_types), shape));
    }
    const auto output = TensorView::contiguous(one_of(random, all_element_types), shape);
    auto all = inputs;
    all.push_back(output);
    for (const auto& view : all) {
      smallest = std::min(smallest, size_of(view.type));
      largest = std::max(largest, size_of(view.type));
    }
    // 16 bytes of the smallest type must fit the span of the largest.
    if (options.swizzle != Swizzle::none && 16 / smallest * largest > span_bytes(options.swizzle)) continue;

    const auto spec = map_spec(output, "x0", inputs, options);
    const auto violations = broken(spec);
    // Even the smallest tile takes one swizzle period of each operand for each stage, which may be too much.
    auto least = spec;
    least.tile = {};
    std::fill_n(least.tile.begin(), rank, 1U);
    least.tile[rank - 1] = 16 / smallest;
    if (options.stages == 0) least.stages = 1;
    if (options.ctas_per_sm == 0) least.ctas_per_sm = 1;
    CAPTURE(rules(violations), i);
    REQUIRE((violations.empty() || !fits(least)));

    const auto copy = copy_spec(inputs[0], inputs[0], {.swizzle = options.swizzle, .stages = options.stages});
    REQUIRE(broken(copy).empty());
    REQUIRE(broken(bulk_spec(output.type, "x", inputs[0].type, {.stages = options.stages})).empty());
  }
}
