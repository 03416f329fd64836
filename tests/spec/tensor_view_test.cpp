#include <tmajit/error.hpp>
#include <tmajit/tensor_view.hpp>

#include <array>
#include <limits>

#include <catch2/catch_test_macros.hpp>

using namespace tmajit;

namespace {

constexpr auto max_elements = std::numeric_limits<std::uint64_t>::max();

TensorView dense_view(const Dims& shape) {
  return TensorView::contiguous(ElementType::f32, shape);
}

}  // namespace

TEST_CASE("a contiguous view has row-major strides in elements") {
  const auto view = dense_view({2, 3, 4});
  CHECK(view.rank == 3);
  CHECK(view.strides == std::array<std::int64_t, max_view_rank>{12, 4, 1});
  CHECK(view.elements() == 24);
  CHECK(view.span_bytes() == 96);
}

TEST_CASE("a view of rank 0 has one element") {
  CHECK(dense_view({}).elements() == 1);
  CHECK(dense_view({}).span_bytes() == 4);
}

TEST_CASE("a strided view has the given strides, and its span includes gaps") {
  const std::array<std::uint64_t, 2> shape{3, 4};
  const std::array<std::int64_t, 2> strides{10, 1};
  const auto view = TensorView::strided(ElementType::f16, shape, strides);
  CHECK(view.elements() == 12);
  CHECK(view.span_bytes() == 2ULL * (2 * 10 + 3 + 1));
  CHECK_THROWS_AS(TensorView::strided(ElementType::f16, shape, std::span(strides).first(1)), Error);
}

TEST_CASE("a view with an extent of 0 has 0 elements and a span of 0, whatever its other extents") {
  CHECK((TensorView{.rank = 3, .shape = {max_elements, max_elements, 0}}).elements() == 0);
  CHECK(dense_view({0, 5}).span_bytes() == 0);
}

TEST_CASE("the numbers of elements and bytes saturate") {
  CHECK(dense_view({1ULL << 40, 1ULL << 40}).elements() == max_elements);
  CHECK((TensorView{.rank = 1, .shape = {1ULL << 63}, .strides = {1}}).span_bytes() == max_elements);
}

TEST_CASE("views of nine dimensions are refused") {
  const std::array<std::uint64_t, 9> shape{1, 1, 1, 1, 1, 1, 1, 1, 1};
  CHECK_THROWS_AS(TensorView::contiguous(ElementType::f32, shape), Error);
  CHECK(TensorView::contiguous(ElementType::f32, std::span(shape).first(8)).rank == 8);
}
