#include "reference/random_maps.hpp"

#include <tmajit/dims.hpp>
#include <tmajit/error.hpp>
#include <tmajit/list.hpp>
#include <tmajit/tensor.hpp>

#include <algorithm>
#include <array>
#include <limits>
#include <numeric>
#include <span>
#include <string>
#include <vector>

#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

using namespace tmajit;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::MessageMatches;

namespace {

std::vector<std::int64_t> numbers(const Dims& dims) {
  return {dims.begin(), dims.end()};
}

auto says(const std::string& text) {
  return MessageMatches(ContainsSubstring(text));
}

static_assert(Dims{8, 512, 16, 64}.size() == 4 && Dims{8, 512}[1] == 512 && Dims{}.empty());
static_assert(!std::is_convertible_v<std::string, Dims> &&
              !std::is_convertible_v<std::vector<double>, Dims> &&
              !std::is_convertible_v<std::array<bool, 2>, Dims> && !std::is_convertible_v<int, Dims>);

}  // namespace

TEMPLATE_TEST_CASE("any contiguous range of integers converts to Dims with the same numbers", "", signed char,
                   unsigned char, short, unsigned short, int, unsigned, long, unsigned long, long long,
                   unsigned long long) {
  const std::uint64_t seed = reference::seed(41);
  INFO("TMAJIT_SEED=" << seed);
  reference::Random random(seed);
  for (int i = 0; i < 1000; ++i) {
    std::vector<TestType> values(reference::between(random, 0, max_view_rank));
    for (TestType& value : values) {
      constexpr bool fits = sizeof(TestType) < 8 || std::is_signed_v<TestType>;
      value = static_cast<TestType>(random() >> (fits ? 0 : 1));
    }
    const Dims dims = values;
    REQUIRE(std::ranges::equal(dims, values));
    REQUIRE(Dims(std::span(values)) == dims);
    REQUIRE(Dims(std::span<const TestType>(values)) == dims);
    std::array<TestType, 3> three{1, 2, 3};
    TestType plain[]{1, 2, 3};
    REQUIRE(Dims(three) == Dims{1, 2, 3});
    REQUIRE(Dims(plain) == Dims{TestType{1}, 2, 3UL});
  }
}

TEST_CASE("a list of integers of several types converts to Dims") {
  const std::size_t tokens = 100;
  const std::uint32_t heads = 6;
  const std::int8_t back = -1;
  CHECK(numbers({tokens, heads, back, 64}) == std::vector<std::int64_t>{100, 6, -1, 64});
  CHECK(numbers({}).empty());
  CHECK(numbers({7}) == std::vector<std::int64_t>{7});
}

TEST_CASE("Dims can be a list in braces or any contiguous range") {
  const auto sum = [](List<int> numbers) { return std::accumulate(numbers.begin(), numbers.end(), 0); };
  std::vector values{4, 5};
  const std::array three{1, 2, 3};
  CHECK(sum({1, 2, 3}) == 6);
  CHECK(sum({}) == 0);
  CHECK(sum(values) == 9);
  CHECK(sum(three) == 6);
  CHECK(sum(std::span(values).first(1)) == 4);
}

TEST_CASE("Dims are equal only if they have the same numbers in the same order") {
  CHECK(Dims{1, 2} == Dims(std::vector{1, 2}));
  CHECK(Dims{1, 2} != Dims{1, 2, 0});
  CHECK(Dims{1, 2} != Dims{2, 1});
}

TEST_CASE("numbers above 2^63 - 1, and more than eight numbers, are refused") {
  constexpr std::uint64_t most = std::numeric_limits<std::int64_t>::max();
  CHECK(Dims{most}[0] == std::numeric_limits<std::int64_t>::max());
  CHECK_THROWS_MATCHES(Dims({1ULL, most + 1}), Error, says("9223372036854775808 is past 2^63 - 1"));
  CHECK_THROWS_MATCHES(Dims(std::array{most + 1}), Error, says("past 2^63 - 1"));
  CHECK(Dims{1, 2, 3, 4, 5, 6, 7, 8}.size() == 8);
  CHECK_THROWS_MATCHES(Dims({1, 2, 3, 4, 5, 6, 7, 8, 9}), Error, says("9 dimensions; the most is 8"));
  CHECK_THROWS_MATCHES(Dims(std::vector<int>(1000)), Error, says("1000 dimensions; the most is 8"));
}

TEST_CASE("the error for a negative extent names its dimension and value") {
  CHECK_THROWS_MATCHES(TensorView::contiguous(ElementType::f32, {8, -4}), Error,
                       says("dimension 1 of the shape 8,-4 is -4"));
  CHECK_THROWS_MATCHES(TensorView::strided(ElementType::f32, {-1}, {1}), Error, says("dimension 0"));
  CHECK_THROWS_MATCHES(broadcast(TensorView::contiguous(ElementType::f32, {1}), {-2}), Error,
                       says("dimension 0 of the shape -2 is -2"));
  CHECK_THROWS_MATCHES(reshaped(TensorView::contiguous(ElementType::f32, {4}), {2, -2}), Error,
                       says("dimension 1 of the shape 2,-2 is -2"));
  CHECK_NOTHROW(TensorView::strided(ElementType::f32, {4}, {-1}));
}

TEST_CASE("a view converts to a tensor at address 0, and functions on tensors take views") {
  const TensorView view = TensorView::contiguous(ElementType::f32, {2, 3, 4});
  const Tensor tensor = view;
  CHECK(tensor == Tensor{view, 0});
  CHECK(Tensor::contiguous(ElementType::f32, {2, 3, 4}, 64) == Tensor(view, 64));
  CHECK(Tensor::strided(ElementType::f32, {2}, {-3}, 64).view.strides[0] == -3);
  CHECK(permuted(view, {2, 0, 1}).view.shape == std::array<std::uint64_t, max_view_rank>{4, 2, 3});
  CHECK(reshaped(view, {24}).view == TensorView::contiguous(ElementType::f32, {24}));
  CHECK(flipped(flipped(view, -1), 2) == tensor);
}
