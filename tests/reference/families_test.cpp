#include "reference/families.hpp"

#include <cstring>
#include <numeric>

#include <catch2/catch_test_macros.hpp>

using namespace reference;
using namespace tmajit;

namespace {

TensorView dense(ElementType type, std::uint64_t rows, std::uint64_t columns) {
  return {
      .type = type, .rank = 2, .shape = {rows, columns}, .strides = {static_cast<std::int64_t>(columns), 1}};
}

/// A tensor of f32 or i32 whose elements are 0, 1, 2, ….
template <typename T>
Tensor counting(const TensorView& view) {
  Tensor tensor(view);
  std::vector<T> values(tensor.bytes.size() / sizeof(T));
  std::iota(values.begin(), values.end(), T{});
  std::memcpy(tensor.bytes.data(), values.data(), tensor.bytes.size());
  return tensor;
}

template <typename T>
T value(const Tensor& tensor, std::uint64_t row, std::uint64_t column) {
  T result;
  std::memcpy(&result, tensor.at(std::array{row, column}), sizeof(T));
  return result;
}

}  // namespace

TEST_CASE("map: an expression can use an element's index in the tile") {
  const Tiling tiling{.tile = {4, 4}};
  const std::array inputs{counting<float>(dense(ElementType::f32, 8, 8))};
  Tensor output(inputs[0].view);
  map(tiling, output, inputs, [](std::span<const Scalar> x, const Element& e) {
    return scalar(std::get<float>(x[0]) + static_cast<float>(e.tile_index));
  });
  // The first row of the last tile: 36 37 38 39 and 0 1 2 3.
  for (std::uint64_t c = 0; c < 4; ++c)
    CHECK(value<float>(output, 4, 4 + c) == 36.0F + 2 * static_cast<float>(c));
}

TEST_CASE("map: an expression can combine inputs of different types and the output's coordinates") {
  const Tiling tiling{.tile = {2, 4}};
  const std::array inputs{counting<std::int32_t>(dense(ElementType::i32, 4, 4)),
                          counting<float>(dense(ElementType::f32, 4, 4))};
  Tensor output(inputs[0].view);
  map(tiling, output, inputs, [](std::span<const Scalar> x, const Element&) {
    return scalar(static_cast<float>(std::get<std::int32_t>(x[0])) + std::get<float>(x[1]));
  });
  CHECK(value<std::int32_t>(output, 3, 3) == 30);
  map(tiling, output, inputs,
      [](std::span<const Scalar>, const Element& e) { return scalar(e.g[0] * 100 + e.t[0]); });
  CHECK(value<std::int32_t>(output, 3, 0) == 301);
}

TEST_CASE("map: binary() passes two inputs of one type to a generic callable") {
  const Tiling tiling{.tile = {2, 4}};
  const std::array inputs{counting<std::int32_t>(dense(ElementType::i32, 4, 4)),
                          counting<std::int32_t>(dense(ElementType::i32, 4, 4))};
  Tensor output(inputs[0].view);
  map(tiling, output, inputs, binary([](auto a, auto b) { return a * b; }));
  CHECK(value<std::int32_t>(output, 3, 3) == 225);
}

TEST_CASE("copy: element strides skip source elements, and views may be padded") {
  const Tiling tiling{.tile = {2, 4}, .element_strides = {2, 1}};
  const auto source = counting<std::int32_t>(dense(ElementType::i32, 5, 4));
  auto view = dense(ElementType::i32, 3, 4);
  view.strides[0] = 8;
  Tensor output(view, std::byte{0xff});
  copy(tiling, output, source);
  CHECK(value<std::int32_t>(output, 2, 3) == 19);
  std::int32_t padding = 0;
  std::memcpy(&padding, output.bytes.data() + 16, 4);
  CHECK(padding == -1);
}

TEST_CASE("bulk: a length that is no multiple of the chunk is computed to its end") {
  const Tiling tiling{.tile = {4}};
  const TensorView view{.type = ElementType::i32, .rank = 1, .shape = {7}, .strides = {1}};
  const auto input = counting<std::int32_t>(view);
  Tensor output(view);
  bulk(tiling, output, input, unary([](auto x) { return x + 1; }));
  std::vector<std::int32_t> values(7);
  std::memcpy(values.data(), output.bytes.data(), 28);
  CHECK(values == std::vector<std::int32_t>{1, 2, 3, 4, 5, 6, 7});
}

TEST_CASE("snapshot: each tile has an image, in which elements outside the tensor are filled") {
  const Tiling tiling{.tile = {2, 4}};
  const auto source = counting<std::int32_t>(dense(ElementType::i32, 3, 8));
  const auto images = snapshot(tiling, source, std::byte{0xab});
  CHECK(images.view.shape[0] == 4);
  CHECK(images.view.shape[1] == 32);
  std::int32_t last[8];
  std::memcpy(last, images.at(std::array<std::uint64_t, 2>{3, 0}), 32);
  CHECK(last[0] == 20);
  CHECK(last[4] == 0);
}

TEST_CASE("the first difference is found, and NaNs count as equal") {
  auto a = counting<float>(dense(ElementType::f32, 2, 4));
  auto b = a;
  std::vector<std::uint64_t> index;
  CHECK_FALSE(first_difference(a, b, index));
  b.bytes[20] = std::byte{1};
  REQUIRE(first_difference(a, b, index));
  CHECK(index == std::vector<std::uint64_t>{1, 1});
}
