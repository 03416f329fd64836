#include "rules.hpp"

#include <tmajit/error.hpp>
#include <tmajit/validate.hpp>

#include <array>
#include <cstring>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

using namespace tmajit;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::MessageMatches;

namespace {

TensorView dense(ElementType type, std::initializer_list<std::uint64_t> shape) {
  return TensorView::contiguous(type, {shape.begin(), shape.size()});
}

}  // namespace

TEST_CASE("a copy takes its tile, element strides and modes from the options") {
  const auto source = dense(ElementType::f16, {100, 256});
  const auto destination = dense(ElementType::f16, {50, 256});
  const std::array box{32U, 64U};
  const std::array steps{2U, 1U};
  const auto spec = copy_spec(source, destination,
                              {.box = box, .element_strides = steps, .swizzle = Swizzle::b128, .stages = 5});
  CHECK(spec.family == Family::copy);
  CHECK(spec.rank == 2);
  CHECK(spec.tile == std::array<std::uint32_t, max_map_rank>{16, 64});
  CHECK(spec.stages == 5);
  CHECK(spec.output_stages == 0);
  CHECK(spec.warps == 1);
  CHECK(spec.input(0).element_strides[0] == 2);
  CHECK(spec.output().element_strides[0] == 1);
  CHECK(spec.output().swizzle == Swizzle::b128);
  CHECK(validate(spec, std::array{source, destination}).empty());

  const auto map = tensor_map(spec, 0, source);
  CHECK(map.box == std::array<std::uint32_t, max_map_rank>{32, 64});
  CHECK(map.strides == std::array<std::uint64_t, max_map_rank>{512, 2});
  CHECK(map.shape == std::array<std::uint64_t, max_map_rank>{100, 256});
  CHECK(map.l2_promotion == L2Promotion::none);
  CHECK(tensor_map(spec, 1, destination).box == std::array<std::uint32_t, max_map_rank>{16, 64});
}

TEST_CASE("what a spec does not use is zero bytes") {
  const auto view = dense(ElementType::f32, {64, 64});
  const auto spec = copy_spec(view, view);
  auto cleared = spec;
  for (std::size_t i = 2; i < cleared.operands.size(); ++i) {
    std::memset(static_cast<void*>(&cleared.operands[i]), 0, sizeof(OperandSpec));
  }
  CHECK(spec == cleared);
  CHECK(spec.tile[2] == 0);
  CHECK(spec.input(0).element_strides[2] == 0);
}

TEST_CASE("the same request makes the same bytes") {
  const auto view = dense(ElementType::f32, {64, 64});
  CHECK(map_spec("x + 1", std::array{view}, view) == map_spec("x + 1", std::array{view}, view));
  CHECK_FALSE(map_spec("x + 1", std::array{view}, view) == map_spec("x + 2", std::array{view}, view));
}

TEST_CASE("a map may have eight inputs of different types") {
  const std::array inputs{dense(ElementType::f32, {64, 64}), dense(ElementType::u8, {64, 64})};
  const auto spec = map_spec("x0 * x1", inputs, dense(ElementType::bf16, {64, 64}));
  CHECK(spec.inputs == 2);
  CHECK(spec.input(1).type == ElementType::u8);
  CHECK(spec.output().type == ElementType::bf16);
  CHECK(spec.expression_text() == "x0 * x1");
}

TEST_CASE("a bulk kernel has one dimension and no tensor maps") {
  const auto spec = bulk_spec("x + 1", ElementType::i32, ElementType::i32);
  CHECK(spec.rank == 1);
  CHECK(spec.tile[0] == 1024);
  CHECK(validate(spec).empty());
  CHECK_THROWS_MATCHES(tensor_map(spec, 0, dense(ElementType::i32, {64})), Error,
                       MessageMatches(ContainsSubstring("no tensor map")));
}

TEST_CASE("a snapshot writes u8 rows, one a tile") {
  const auto source = dense(ElementType::f32, {10, 40});
  const std::array box{4U, 16U};
  const auto spec = snapshot_spec(source, {.box = box, .swizzle = Swizzle::b128});
  CHECK(spec.output().type == ElementType::u8);
  const auto output = output_view(spec, source);
  CHECK(output == dense(ElementType::u8, {9, 4 * 128}));
  CHECK(validate(spec, std::array{source, output}).empty());
}

TEST_CASE("a copy's output is the source's shape over its element strides, rounded up") {
  const auto source = dense(ElementType::f16, {101, 256});
  const std::array steps{4U, 1U};
  const auto spec = copy_spec(source, source, {.element_strides = steps});
  CHECK(output_view(spec, source) == dense(ElementType::f16, {26, 256}));
  CHECK_THROWS_AS(output_view(spec, dense(ElementType::f16, {101})), Error);
}

TEST_CASE("the stride of a dimension that is never walked becomes a legal one") {
  const auto row = dense(ElementType::f32, {1, 5});
  const auto spec = copy_spec(row, row);
  CHECK(tensor_map(spec, 0, row).strides[0] == 32);
  CHECK(validate(spec, std::array{row, row}).empty());

  auto odd = dense(ElementType::f32, {8, 1});
  odd.strides = {4, 77};
  CHECK(validate(spec, std::array{odd, odd}).empty());
}

TEST_CASE("where no spec can be built, the reason is given") {
  const auto a = dense(ElementType::f32, {64, 64});
  const auto b = dense(ElementType::f32, {64});
  const auto six = dense(ElementType::f32, {1, 1, 1, 1, 1, 64});
  const std::array odd{10U, 64U};
  const std::array steps{3U, 1U};
  const auto says = [](const char* text) { return MessageMatches(ContainsSubstring(text)); };
  CHECK_THROWS_MATCHES(copy_spec(a, b), Error, says("2 dimensions, the destination 1"));
  CHECK_THROWS_MATCHES(copy_spec(six, six), Error, says("at most 5"));
  CHECK_THROWS_MATCHES(map_spec("x", {}, a), Error, says("1 to 8"));
  CHECK_THROWS_MATCHES(map_spec("x", std::array{a, b}, a), Error, says("input 1 has 1"));
  CHECK_THROWS_MATCHES(map_spec(std::string(1024, 'x'), std::array{a}, a), Error, says("at most 1023"));
  CHECK_THROWS_MATCHES(map_spec(std::string_view("x\0y", 3), std::array{a}, a), Error, says("NUL"));
  CHECK_THROWS_MATCHES(copy_spec(b, b, {.box = odd}), Error, says("box has 2 entries"));
  CHECK_THROWS_MATCHES(copy_spec(a, a, {.box = odd, .element_strides = steps}), Error,
                       says("9 or 12 would be"));
  CHECK_THROWS_MATCHES(copy_spec(a, a, {.stages = 256}), Error, says("at most 32"));
  CHECK_THROWS_MATCHES(tensor_map(copy_spec(a, a), 2, a), Error, says("2 operands have one"));
  CHECK_THROWS_MATCHES(tensor_map(copy_spec(a, a), 0, b), Error, says("must agree"));
  CHECK(map_spec(std::string(1023, 'x'), std::array{a}, a).expression_text().size() == 1023);
}

TEST_CASE("what a spec can hold is left to validate()") {
  const auto view = dense(ElementType::f32, {64, 64});
  const std::array none{0U, 0U};
  CHECK(rules(validate(copy_spec(view, view, {.stages = 200}))) == Rules{"stages.range"});
  CHECK_FALSE(validate(copy_spec(view, view, {.box = none})).empty());
}
