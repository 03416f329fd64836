#include "families/tiles.hpp"

#include <tmajit/error.hpp>

#include <array>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

using namespace tmajit;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::MessageMatches;

TEST_CASE("a copy takes its tile, element strides and modes from the options") {
  const auto source = dense(ElementType::f16, {100, 256});
  const auto destination = dense(ElementType::f16, {50, 256});
  const std::array box{32U, 64U};
  const std::array steps{2U, 1U};
  const auto spec = copy_spec(destination, source,
                              {.box = box, .element_strides = steps, .swizzle = Swizzle::b128, .stages = 5});
  CHECK(spec.traits == &copy_traits);
  CHECK(spec.rank == 2);
  CHECK(spec.tile == std::array<std::uint32_t, max_map_rank>{16, 64});
  CHECK(spec.stages == 5);
  CHECK(spec.output_stages == 0);
  CHECK(spec.warps == 1);
  CHECK(spec.input(0).element_strides[0] == 2);
  CHECK(spec.output().element_strides[0] == 1);
  CHECK(spec.output().swizzle == Swizzle::b128);
  CHECK(broken(spec, std::array{destination, source}).empty());

  const auto map = tensor_map(spec, 1, source);
  CHECK(map.box == std::array<std::uint32_t, max_map_rank>{32, 64});
  CHECK(map.strides == std::array<std::uint64_t, max_map_rank>{512, 2});
  CHECK(map.shape == std::array<std::uint64_t, max_map_rank>{100, 256});
  CHECK(map.l2_promotion == L2Promotion::none);
  CHECK(tensor_map(spec, 0, destination).box == std::array<std::uint32_t, max_map_rank>{16, 64});
}

TEST_CASE("unused fields of a spec keep their defaults") {
  const auto view = dense(ElementType::f32, {64, 64});
  const auto spec = copy_spec(view, view);
  for (std::size_t i = 2; i < spec.operands.size(); ++i) CHECK(spec.operands[i] == OperandSpec{});
  CHECK(spec.tile[2] == 0);
  CHECK(spec.input(0).element_strides[2] == 0);
}

TEST_CASE("row_tails is set if and only if the output's rows are not a multiple of 16 bytes") {
  const auto tails = [](const TensorView& view) { return copy_spec(view, view).row_tails; };
  CHECK(tails(dense(ElementType::f32, {64, 64})) == 0);
  CHECK(tails(dense(ElementType::f32, {64, 62})) == 1);
  CHECK(tails(dense(ElementType::u8, {64, 40})) == 1);
  CHECK(tails(dense(ElementType::u8, {64, 48})) == 0);
  // Only rows of the output count, not those of inputs.
  const auto odd = dense(ElementType::u8, {64, 40});
  CHECK(map_spec(dense(ElementType::f32, {64, 40}), "x", {odd}).row_tails == 0);
  CHECK(bulk_spec(ElementType::u8, "x", ElementType::u8).row_tails == 0);
  CHECK(snapshot_spec(odd).row_tails == 0);
}

TEST_CASE("a map may have inputs of different types") {
  const std::array inputs{dense(ElementType::f32, {64, 64}), dense(ElementType::u8, {64, 64})};
  const auto spec = map_spec(dense(ElementType::bf16, {64, 64}), "x0 * x1", inputs);
  CHECK(spec.inputs == 2);
  CHECK(spec.input(1).type == ElementType::u8);
  CHECK(spec.output().type == ElementType::bf16);
  CHECK(spec.expression == "x0 * x1");
}

TEST_CASE("a bulk kernel has one dimension and no tensor maps") {
  const auto spec = bulk_spec(ElementType::i32, "x + 1", ElementType::i32);
  CHECK(spec.rank == 1);
  CHECK(spec.tile[0] == 1024);
  CHECK(broken(spec).empty());
  CHECK_THROWS_MATCHES(tensor_map(spec, 0, dense(ElementType::i32, {64})), Error,
                       MessageMatches(ContainsSubstring("no tensor map")));
}

TEST_CASE("a snapshot writes one row of u8 for each tile") {
  const auto source = dense(ElementType::f32, {10, 40});
  const std::array box{4U, 16U};
  const auto spec = snapshot_spec(source, {.box = box, .swizzle = Swizzle::b128});
  CHECK(spec.output().type == ElementType::u8);
  const auto output = output_view(spec, source);
  CHECK(output == dense(ElementType::u8, {9, 4 * 128}));
  CHECK(broken(spec, std::array{output, source}).empty());
}

TEST_CASE("a copy's output has the source's shape divided by the element strides, rounded up") {
  const auto source = dense(ElementType::f16, {101, 256});
  const std::array steps{4U, 1U};
  const auto spec = copy_spec(source, source, {.element_strides = steps});
  CHECK(output_view(spec, source) == dense(ElementType::f16, {26, 256}));
  CHECK_THROWS_AS(output_view(spec, dense(ElementType::f16, {101})), Error);
}

TEST_CASE("the stride of a dimension of extent 1 is replaced by a legal one") {
  const auto row = dense(ElementType::f32, {1, 5});
  const auto spec = copy_spec(row, row);
  CHECK(tensor_map(spec, 1, row).strides[0] == 32);
  CHECK(broken(spec, std::array{row, row}).empty());

  auto odd = dense(ElementType::f32, {8, 1});
  odd.strides = {4, 77};
  CHECK(broken(spec, std::array{odd, odd}).empty());
}

TEST_CASE("if no spec can be built, the error names the reason") {
  const auto a = dense(ElementType::f32, {64, 64});
  const auto b = dense(ElementType::f32, {64});
  TensorView nine = a;
  nine.rank = 9;
  const std::array odd{10U, 64U};
  const auto says = [](const char* text) { return MessageMatches(ContainsSubstring(text)); };
  CHECK_THROWS_MATCHES(copy_spec(b, a), Error, says("2 dimensions, the output 1"));
  CHECK_THROWS_MATCHES(copy_spec(nine, nine), Error, says("the most is 8"));
  CHECK_THROWS_MATCHES(map_spec(a, "x", {}), Error, says("1 to 8"));
  CHECK_THROWS_MATCHES(map_spec(a, "x", std::vector<TensorView>(9, a)), Error, says("1 to 8"));
  CHECK_THROWS_MATCHES(map_spec(a, "x", {a, b}), Error, says("input 1 has 1"));
  CHECK_THROWS_MATCHES(copy_spec(b, b, {.box = odd}), Error, says("box has 2 numbers"));
  CHECK_THROWS_MATCHES(tensor_map(copy_spec(a, a), 2, a), Error,
                       says("operand 2 of a copy kernel has no tensor map"));
  CHECK_THROWS_MATCHES(tensor_map(copy_spec(a, a), 0, b), Error, says("must agree"));
}

TEST_CASE("a box not divisible by the element strides loads the number of rows rounded up") {
  const auto source = dense(ElementType::f32, {64, 64});
  const auto destination = dense(ElementType::f32, {22, 64});
  const std::array steps{3U, 1U};
  const auto rows_of = [&](std::uint32_t rows) {
    const std::array box{rows, 32U};
    return copy_spec(destination, source, {.box = box, .element_strides = steps});
  };
  for (const std::uint32_t rows : {4U, 5U, 6U}) {
    const auto spec = rows_of(rows);
    CHECK(spec.tile == std::array<std::uint32_t, max_map_rank>{2, 32});
    CHECK(tensor_map(spec, 1, source).box[0] == rows);
    CHECK(tile_layout(tensor_map(spec, 1, source)).rows == 2);
    CHECK(broken(spec, std::array{destination, source}).empty());
  }
  // With a step of 3 a box of 256 loads 86 rows, the last of which has index 255. Rounding 3 · 86 would give
  // 258.
  CHECK(broken(rows_of(256), std::array{destination, source}).empty());
  CHECK(rules(broken(rows_of(257))) == Rules{"box.range"});
  CHECK(find(broken(rows_of(257)), "box.range").found == "257");
}

TEST_CASE("a value too large for a spec's byte is reported as the caller gave it") {
  const auto view = dense(ElementType::f32, {64, 64});
  const std::array steps{300U, 1U};
  const auto violations = broken(copy_spec(view, view,
                                           {.element_strides = steps,
                                            .stages = 256,
                                            .output_stages = 257,
                                            .warps = 1U << 31U,
                                            .ctas_per_sm = 70000,
                                            .tiles_per_cta = 256}));
  const auto found = [&](const char* rule) { return find(violations, rule).found; };
  CHECK(found("stages.range") == "256");
  CHECK(found("output-stages.range") == "257");
  CHECK(found("warps.range") == "2147483648");
  CHECK(found("ctas-per-sm.range") == "70000");
  CHECK(found("tiles-per-cta.range") == "256");
  CHECK(found("element-strides.range") == "300");
}

TEST_CASE("a value that fits a spec's byte is checked by the rules") {
  const auto view = dense(ElementType::f32, {64, 64});
  const std::array none{0U, 0U};
  CHECK(rules(broken(copy_spec(view, view, {.stages = 200}))) == Rules{"stages.range"});
  CHECK_FALSE(broken(copy_spec(view, view, {.box = none})).empty());
}
