#include "families/tiles.hpp"
#include "spec/brute_overlap.hpp"

#include <array>
#include <functional>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

using namespace tmajit;
using Catch::Matchers::ContainsSubstring;

namespace {

using ElementType::f32;

/// A map over these views with a small legal tile.
TileSpec map_of_views() {
  const auto view = dense(f32, {64, 64});
  const std::array box{8U, 16U};
  return map_spec(view, "x", {view}, {.box = box});
}

Rules broken_by(const TensorView& output, const TensorView& input) {
  const auto violations = broken(map_of_views(), std::array{output, input});
  CHECK(complete(violations));
  return rules(violations);
}

/// [64, 64] with `change` applied, as input and as output.
TensorView changed(const std::function<void(TensorView&)>& change) {
  auto view = dense(f32, {64, 64});
  change(view);
  return view;
}

}  // namespace

TEST_CASE("matching views are legal, padded ones too") {
  const auto view = dense(f32, {64, 64});
  CHECK(broken_by(view, view) == Rules{});
  CHECK(broken_by(changed([](auto& v) { v.strides[0] = 68; }), view) == Rules{});
}

TEST_CASE("each operand needs one view of its type and rank") {
  const auto view = dense(f32, {64, 64});
  CHECK(rules(broken(map_of_views(), std::array{view})) == Rules{"view.count"});
  CHECK(rules(broken(map_of_views(), std::span<const TensorView>{})) == Rules{"view.count"});
  CHECK(broken_by(view, dense(ElementType::i32, {64, 64})) == Rules{"view.type"});
  CHECK(broken_by(dense(f32, {64}), view) == Rules{"view.rank"});
  auto absurd = view;
  absurd.rank = 4000000000;
  CHECK(broken_by(absurd, view) == Rules{"view.rank"});
}

TEST_CASE("a map's output must have the input's shape") {
  const auto view = dense(f32, {64, 64});
  const auto violations = broken(map_of_views(), std::array{dense(f32, {60, 64}), view});
  CHECK(rules(violations) == Rules{"view.shape"});
  CHECK(violations[0].found == "[60, 64]");
  CHECK(violations[0].legal == "[64, 64]");
}

TEST_CASE("a copy's output must have the source's shape divided by the element strides, rounded up") {
  const auto source = dense(f32, {65, 64});
  const std::array steps{4U, 1U};
  const auto spec = copy_spec(source, source, {.element_strides = steps});
  CHECK(rules(broken(spec, std::array{source, source})) == Rules{"view.shape"});
  CHECK(rules(broken(spec, std::array{dense(f32, {17, 64}), source})) == Rules{});
}

TEST_CASE("strides must be positive multiples of 16 bytes and the innermost 1") {
  const auto view = dense(f32, {64, 64});
  CHECK(broken_by(view, changed([](auto& v) { v.strides[0] = 65; })) == Rules{"strides.multiple"});
  CHECK(broken_by(view, changed([](auto& v) { v.strides[0] = -64; })) == Rules{"view.negative-stride"});
  CHECK(broken_by(view, changed([](auto& v) { v.strides[1] = 2; })) == Rules{"strides.innermost"});
  CHECK(broken_by(view, changed([](auto& v) { v.strides[0] = 1LL << 38; })) == Rules{"strides.range"});
}

TEST_CASE("an input may overlap itself, an output may not") {
  const auto view = dense(f32, {64, 64});
  const auto broadcast = changed([](auto& v) { v.strides[0] = 0; });
  CHECK(broken_by(view, broadcast) == Rules{});
  CHECK(broken_by(broadcast, view) == Rules{"view.overlap"});
  const auto windows = changed([](auto& v) { v.strides[0] = 4; });
  CHECK(broken_by(view, windows) == Rules{});
  const auto violations = broken(map_of_views(), std::array{windows, view});
  CHECK(rules(violations) == Rules{"view.overlap"});
  CHECK(violations[0].subject == "output: strides");
  CHECK(violations[0].legal == "strides 64,1");
}

TEST_CASE("the rule for outputs that overlap themselves agrees with a loop over all elements") {
  const auto seed_used = reference::seed(8);
  reference::Random random(seed_used);
  INFO("TMAJIT_SEED=" << seed_used);
  int disjoint = 0;
  for (int i = 0; i < 4000; ++i) {
    // Rows of 16 bytes or less at multiples of 16 bytes break no other rule, except that a rank of 6 breaks
    // one of its own.
    const auto rank = static_cast<std::uint32_t>(reference::between(random, 1, 6));
    TensorView output = small_view(random, rank, 4, 30);
    output.shape[rank - 1] = reference::between(random, 1, 8);
    output.strides[rank - 1] = 1;
    const TensorView input = TensorView::contiguous(f32, std::span(output.shape).first(rank));
    TileRequest request{.family = "map", .destination = {output}, .sources = {{input}}, .expression = "x"};
    std::vector<std::uint32_t> box(rank, 1);
    box.back() = 4;
    request.tiles.box = box;
    const bool overlapping = overlaps_itself(output);
    CAPTURE(output.shape, output.strides, rank);
    REQUIRE((find(validate(request), "view.overlap").rule == "view.overlap") == overlapping);
    disjoint += overlapping ? 0 : 1;
  }
  CHECK(disjoint > 200);
  CHECK(disjoint < 3800);
}

TEST_CASE("the alignment of known addresses is checked; 0 stands for an unknown address") {
  const auto view = dense(f32, {64, 64});
  TileRequest request{.family = "copy", .destination = {view, 0x1008}, .sources = {{view, 0}}};
  CHECK(rules(validate(request)) == Rules{"address.alignment"});
  request.destination.address = 0;
  request.sources[0].address = 0x2004;
  CHECK(rules(validate(request)) == Rules{"address.alignment"});
  request.sources[0].address = 0x2000;
  CHECK(validate(request).empty());
}

TEST_CASE("extents must not be 0, and coordinates must fit 32 signed bits") {
  const auto wide = [](std::uint64_t columns) {
    auto view = dense(f32, {1, 1});
    view.shape[1] = columns;
    view.strides[1] = 1;
    return view;
  };
  CHECK(broken_by(wide(1ULL << 31), wide(1ULL << 31)) == Rules{});
  CHECK(broken_by(wide((1ULL << 31) + 1), wide((1ULL << 31) + 1)) ==
        Rules{"shape.coordinates", "shape.coordinates"});
  CHECK(broken_by(wide((1ULL << 32) + 1), wide((1ULL << 32) + 1)) == Rules{"shape.range", "shape.range"});
  CHECK(broken_by(wide(0), wide(0)) == Rules{"shape.range", "shape.range"});
}

TEST_CASE("a bulk kernel takes dense 1-D views of any length and nothing else") {
  const auto spec = bulk_spec(ElementType::f16, "x", f32);
  const auto broken_with = [&](const TensorView& input, const TensorView& output) {
    return rules(broken(spec, std::array{output, input}));
  };
  CHECK(broken_with(dense(f32, {1000003}), dense(ElementType::f16, {1000003})) == Rules{});
  CHECK(broken_with(dense(f32, {1ULL << 34}), dense(ElementType::f16, {1ULL << 34})) == Rules{});
  CHECK(broken_with(dense(f32, {0}), dense(ElementType::f16, {0})) == Rules{"shape.range", "shape.range"});
  CHECK(broken_with(dense(f32, {10}), dense(ElementType::f16, {11})) == Rules{"view.shape"});
  auto strided = dense(f32, {10});
  strided.strides[0] = 2;
  CHECK(broken_with(strided, dense(ElementType::f16, {10})) == Rules{"strides.innermost"});
  CHECK(broken_with(dense(f32, {5, 2}), dense(ElementType::f16, {10})) == Rules{"view.rank"});
}

TEST_CASE("a snapshot's output must be the view that output_view() returns") {
  const auto source = dense(f32, {64, 64});
  const auto spec = snapshot_spec(source);
  CHECK(rules(broken(spec, std::array{output_view(spec, source), source})) == Rules{});
  const auto violations = broken(spec, std::array{dense(ElementType::u8, {1, 5}), source});
  CHECK(rules(violations) == Rules{"snapshot.shape"});
  CHECK_THAT(violations[0].legal, ContainsSubstring("u8 [2, 8192]"));
}

TEST_CASE("views are not checked if the spec's number of inputs is out of range") {
  auto spec = map_of_views();
  spec.inputs = 200;
  const auto view = dense(f32, {64, 64});
  CHECK(rules(broken(spec, std::array{view, view})) == Rules{"inputs.range"});
}
