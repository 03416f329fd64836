#include "ops/addresses.hpp"
#include "reference/random_maps.hpp"

#include <tmajit/error.hpp>
#include <tmajit/tensor.hpp>

#include <algorithm>
#include <limits>
#include <numeric>
#include <optional>
#include <vector>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

using namespace tmajit;
using Catch::Matchers::ContainsSubstring;
using reference::between, reference::one_in, reference::one_of, reference::Random;
using tests::address_of, tests::addresses, tests::indices, tests::shape_of;

namespace {

using Shape = std::vector<std::uint64_t>;
using Strides = std::vector<std::int64_t>;
using Axes = std::vector<std::uint32_t>;
using Slices = std::vector<Slice>;

constexpr std::int64_t least = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t max_index = std::numeric_limits<std::int64_t>::max();

Tensor strided_tensor(const Shape& shape, const Strides& strides, ElementType type = ElementType::f32) {
  return {TensorView::strided(type, shape, strides), 0x10000};
}
Tensor dense_tensor(const Shape& shape, ElementType type = ElementType::f32) {
  return {TensorView::contiguous(type, shape), 0x10000};
}

Tensor any_tensor(Random& random) {
  Shape shape(between(random, 0, 4));
  Strides strides(shape.size());
  for (std::size_t d = 0; d < shape.size(); ++d) {
    shape[d] = one_in(random, 10) ? 0 : between(random, 1, 4);
    strides[d] = static_cast<std::int64_t>(between(random, 0, 12)) - 4;
  }
  if (one_in(random, 2)) {  // dense in a random order, so that reshaping is often possible
    Tensor result = dense_tensor(shape, one_of(random, all_element_types));
    for (std::size_t d = 0; d < shape.size(); ++d) {
      if (one_in(random, 4)) result = flipped(result, static_cast<std::uint32_t>(d));
    }
    return result;
  }
  return strided_tensor(shape, strides, one_of(random, all_element_types));
}

/// Returns the elements of Python's range() over a slice's indices.
std::vector<std::uint64_t> selected(const Slice& slice, std::int64_t extent) {
  // Python's reference, "Sequence types", note 5: an omitted position is an end, whose side depends on the
  // step's sign; a given position counts from the end if it is negative.
  const auto from_end = [extent](std::int64_t position) {
    return position < 0 ? position + extent : position;
  };
  std::vector<std::uint64_t> result;
  if (slice.step > 0) {
    const std::int64_t stop = slice.stop ? from_end(*slice.stop) : extent;
    for (std::int64_t i = std::max<std::int64_t>(slice.start ? from_end(*slice.start) : 0, 0);
         i < std::min(stop, extent); i += slice.step) {
      result.push_back(static_cast<std::uint64_t>(i));
    }
  } else {
    const std::int64_t stop = slice.stop ? std::max<std::int64_t>(from_end(*slice.stop), -1) : -1;
    for (std::int64_t i = std::min(slice.start ? from_end(*slice.start) : extent - 1, extent - 1); i > stop;
         i += slice.step) {
      result.push_back(static_cast<std::uint64_t>(i));
    }
  }
  return result;
}

std::uint64_t seed() {
  return reference::seed(20261121);
}

}  // namespace

TEST_CASE("permuted(): dimension d of the result is dimension axes[d] of the tensor") {
  const Tensor t = permuted(dense_tensor({2, 3, 5}), Axes{2, 0, 1});
  CHECK(t.view == TensorView::strided(ElementType::f32, Shape{5, 2, 3}, Strides{1, 15, 5}));
  CHECK(t.address == 0x10000);
  CHECK(permuted(dense_tensor({}), Axes{}) == dense_tensor({}));

  Random random(seed());
  for (int n = 0; n < 300; ++n) {
    const Tensor from = any_tensor(random);
    Axes axes(from.view.rank);
    std::iota(axes.begin(), axes.end(), 0U);
    std::ranges::shuffle(axes, random);
    const Tensor to = permuted(from, axes);
    REQUIRE(to.view.rank == from.view.rank);
    for (const auto& index : indices(shape_of(to))) {
      Shape at(index.size());
      for (std::size_t d = 0; d < index.size(); ++d) at[axes[d]] = index[d];
      REQUIRE(address_of(to, index) == address_of(from, at));
    }
  }
}

TEST_CASE("a negative axis counts from the end") {
  Random random(seed());
  for (int n = 0; n < 300; ++n) {
    const Tensor from = any_tensor(random);
    const auto rank = static_cast<std::int64_t>(from.view.rank);
    std::vector<std::int64_t> axes(from.view.rank);
    std::iota(axes.begin(), axes.end(), 0);
    std::ranges::shuffle(axes, random);
    std::vector<std::int64_t> some_negative = axes;
    for (std::int64_t& axis : some_negative) axis -= one_in(random, 2) ? rank : 0;
    REQUIRE(permuted(from, some_negative) == permuted(from, axes));
    for (std::int64_t axis = 0; axis < rank; ++axis)
      REQUIRE(flipped(from, axis - rank) == flipped(from, axis));
  }
  CHECK_THROWS_WITH(permuted(dense_tensor({2, 3}), {1, -1}),
                    ContainsSubstring("axes 1,-1") && ContainsSubstring("axis -1 is there twice"));
  CHECK_THROWS_WITH(permuted(dense_tensor({2, 3}), {0, -3}), ContainsSubstring("axis -3 does not exist"));
  CHECK_THROWS_WITH(flipped(dense_tensor({2, 3}), -3), ContainsSubstring("0 to 1, or -1 to -2 from the end"));
  CHECK_THROWS_WITH(flipped(dense_tensor({2, 3}), INT64_MIN), ContainsSubstring("legal: 0 to 1"));
}

TEST_CASE("permuted() refuses axes that are not a permutation") {
  CHECK_THROWS_WITH(permuted(dense_tensor({2, 3}), Axes{0}),
                    ContainsSubstring("1 axis") && ContainsSubstring("2"));
  CHECK_THROWS_WITH(permuted(dense_tensor({2, 3}), Axes{0, 0}), ContainsSubstring("axis 0 is there twice"));
  CHECK_THROWS_WITH(permuted(dense_tensor({2, 3}), Axes{0, 2}),
                    ContainsSubstring("axis 2 does not exist") && ContainsSubstring("0 to 1"));
}

TEST_CASE("sliced() selects the elements of Python's slices") {
  const Tensor ten = dense_tensor({10});
  const auto taken = [&](const Slice& slice) {
    std::vector<std::uint64_t> result;
    for (const std::uint64_t address : addresses(sliced(ten, Slices{slice}))) {
      result.push_back((address - ten.address) / 4);
    }
    return result;
  };
  using Indices = std::vector<std::uint64_t>;
  // The output of CPython 3 for list(range(10))[…].
  CHECK(taken({2, 7, 2}) == Indices{2, 4, 6});
  CHECK(taken({-3, {}, 1}) == Indices{7, 8, 9});
  CHECK(taken({{}, {}, -3}) == Indices{9, 6, 3, 0});
  CHECK(taken({100, 2, -4}) == Indices{9, 5});
  CHECK(taken({-100, 100, 5}) == Indices{0, 5});
  CHECK(taken({5, 5, 1}).empty());
  CHECK(taken({2, 7, -1}).empty());
  CHECK(taken({{}, -11, -9}) == Indices{9, 0});
  CHECK(taken({least, max_index, max_index}) == Indices{0});
  CHECK(taken({max_index, least, least}) == Indices{9});

  for (const std::uint64_t extent : {0U, 1U, 2U, 5U}) {
    for (std::int64_t start = -8; start <= 8; ++start) {
      for (std::int64_t stop = -8; stop <= 8; ++stop) {
        for (const std::int64_t step : {1, 2, 3, 7, -1, -2, -3, -7}) {
          // 8 stands for an omitted position.
          const Slice slice{start == 8 ? std::optional<std::int64_t>() : start,
                            stop == 8 ? std::optional<std::int64_t>() : stop, step};
          const Tensor from = strided_tensor({extent, 3}, {-5, 1});
          const Tensor to = sliced(from, Slices{slice});
          const auto expected = selected(slice, static_cast<std::int64_t>(extent));
          CAPTURE(extent, start, stop, step);
          REQUIRE(to.view.shape[0] == expected.size());
          REQUIRE(to.view.shape[1] == 3);
          for (std::size_t i = 0; i < expected.size(); ++i) {
            for (std::uint64_t j = 0; j < 3; ++j) {
              REQUIRE(address_of(to, Shape{i, j}) == address_of(from, Shape{expected[i], j}));
            }
          }
        }
      }
    }
  }
}

TEST_CASE("sliced() does not move an empty tensor, and refuses steps of 0 and extents that are too large") {
  CHECK(sliced(dense_tensor({10}), Slices{{4, 4}}).address == 0x10000);
  CHECK(sliced(dense_tensor({10, 10}), Slices{{4, 5}, {3, 3}}).address == 0x10000);
  CHECK_THROWS_WITH(sliced(dense_tensor({2}), Slices{{}, {}}), ContainsSubstring("2 slices"));
  CHECK_THROWS_WITH(sliced(dense_tensor({2}), Slices{{0, 1, 0}}), ContainsSubstring("step of 0"));
  CHECK_THROWS_WITH(sliced(TensorView{.rank = 1, .shape = {1ULL << 63}}, Slices{{}}),
                    ContainsSubstring("2^63 - 1"));
  CHECK_THROWS_WITH(sliced(strided_tensor({3}, {max_index}), Slices{{{}, {}, 2}}),
                    ContainsSubstring("past 2^63"));
  CHECK(sliced(strided_tensor({2}, {max_index}), Slices{{{}, {}, 2}}).view.shape[0] == 1);
}

TEST_CASE("flipped() reverses one dimension, and applied twice gives the original tensor") {
  const Tensor t = flipped(dense_tensor({2, 3}), 1);
  CHECK(t.view == TensorView::strided(ElementType::f32, Shape{2, 3}, Strides{3, -1}));
  CHECK(t.address == 0x10000 + 8);
  Random random(seed());
  for (int n = 0; n < 300; ++n) {
    const Tensor from = any_tensor(random);
    if (from.view.rank == 0) continue;
    const auto axis = static_cast<std::uint32_t>(between(random, 0, from.view.rank - 1));
    const Tensor to = flipped(from, axis);
    REQUIRE(flipped(to, axis) == from);
    for (auto index : indices(shape_of(to))) {
      const std::uint64_t address = address_of(to, index);
      index[axis] = from.view.shape[axis] - 1 - index[axis];
      REQUIRE(address == address_of(from, index));
    }
  }
  CHECK_THROWS_WITH(flipped(dense_tensor({2, 3}), 2), ContainsSubstring("legal: 0 to 1"));
  CHECK_THROWS_WITH(flipped(dense_tensor({}), 0), ContainsSubstring("none"));
  CHECK_THROWS_WITH(flipped(strided_tensor({2}, {least}), 0), ContainsSubstring("past 2^63"));
}

TEST_CASE("broadcast() follows NumPy's rules") {
  CHECK(broadcast(dense_tensor({3, 1}), Shape{2, 3, 4}).view ==
        TensorView::strided(ElementType::f32, Shape{2, 3, 4}, Strides{0, 1, 0}));
  CHECK(broadcast(dense_tensor({}), Shape{2}).view ==
        TensorView::strided(ElementType::f32, Shape{2}, Strides{0}));
  CHECK(broadcast(dense_tensor({1}), Shape{0}).view.elements() == 0);
  CHECK(broadcast(dense_tensor({3}), Shape{3}) == dense_tensor({3}));

  Random random(seed());
  for (int n = 0; n < 300; ++n) {
    const Tensor from = any_tensor(random);
    Shape shape(from.view.rank + between(random, 0, 2));
    const std::size_t missing = shape.size() - from.view.rank;
    for (std::size_t d = 0; d < shape.size(); ++d) {
      const std::uint64_t extent = d < missing ? 1 : from.view.shape[d - missing];
      shape[d] = extent == 1 ? between(random, 0, 3) : extent;
    }
    const Tensor to = broadcast(from, shape);
    REQUIRE(std::ranges::equal(shape_of(to), shape));
    for (const auto& index : indices(shape)) {
      Shape at(index.begin() + static_cast<std::ptrdiff_t>(missing), index.end());
      for (std::size_t d = 0; d < at.size(); ++d) at[d] = from.view.shape[d] == 1 ? 0 : at[d];
      REQUIRE(address_of(to, index) == address_of(from, at));
    }
  }
}

TEST_CASE("broadcast() refuses mismatching extents") {
  CHECK_THROWS_WITH(broadcast(dense_tensor({3, 2}), Shape{3, 4}),
                    ContainsSubstring("3x2") && ContainsSubstring("3x4") &&
                        ContainsSubstring("dimension 1 has 2 elements, where 1 or 4 would fit"));
  CHECK_THROWS_WITH(broadcast(dense_tensor({3}), Shape{1}), ContainsSubstring("where 1 would fit"));
  CHECK_THROWS_WITH(broadcast(dense_tensor({3, 3}), Shape{3}), ContainsSubstring("1 dimension; 2 to 8"));
  CHECK_THROWS_WITH(broadcast(dense_tensor({1}), Shape(9, 1)), ContainsSubstring("9 dimensions"));
}

TEST_CASE("reshaped() keeps the row-major order of the elements") {
  CHECK(reshaped(dense_tensor({4, 6}), Shape{2, 3, 4}) == dense_tensor({2, 3, 4}));
  CHECK(reshaped(permuted(dense_tensor({2, 3, 4}), Axes{2, 0, 1}), Shape{2, 2, 6}).view ==
        TensorView::strided(ElementType::f32, Shape{2, 2, 6}, Strides{2, 1, 4}));
  CHECK(reshaped(flipped(dense_tensor({6}), 0), Shape{2, 3}).view ==
        TensorView::strided(ElementType::f32, Shape{2, 3}, Strides{-3, -1}));
  CHECK(reshaped(dense_tensor({0, 5}), Shape{7, 0}).view.elements() == 0);
  CHECK(reshaped(dense_tensor({1, 1}), Shape{}) == dense_tensor({}));
  CHECK_THROWS_WITH(reshaped(dense_tensor({4, 6}), Shape{5, 5}), ContainsSubstring("24 elements, not 25"));
  CHECK_THROWS_WITH(reshaped(permuted(dense_tensor({2, 3}), Axes{1, 0}), Shape{6}),
                    ContainsSubstring("copy it to a contiguous tensor"));
  CHECK_THROWS_WITH(reshaped(dense_tensor({2}), Shape{1ULL << 40, 1ULL << 40}), ContainsSubstring("2^64"));
  CHECK_THROWS_WITH(reshaped(dense_tensor({2}), Shape(9, 1)), ContainsSubstring("9 dimensions"));
}

TEST_CASE("reshaped() succeeds whenever there are strides for the new shape") {
  Random random(seed());
  int possible = 0;
  int impossible = 0;
  for (int n = 0; n < 4000; ++n) {
    const Tensor from = any_tensor(random);
    const std::uint64_t count = from.view.elements();
    // A random factorization of the count.
    Shape shape;
    for (std::uint64_t left = count; shape.size() < 5 && left > 1;) {
      const std::uint64_t factor = between(random, 1, left);
      if (left % factor != 0) continue;
      shape.push_back(factor);
      left /= factor;
    }
    const std::uint64_t product =
        std::accumulate(shape.begin(), shape.end(), std::uint64_t{1}, std::multiplies{});
    if (product != count) {
      if (product == 0 || count % product != 0) continue;
      shape.push_back(count / product);
    }
    const auto expected = addresses(from);
    // The only possible strides: the distance from the first element to the next one in each dimension.
    Tensor wanted{TensorView::contiguous(from.view.type, shape), from.address};
    if (count != 0) {
      std::uint64_t step = 1;
      for (std::size_t d = shape.size(); d-- > 0; step *= shape[d]) {
        if (shape[d] == 1) continue;
        wanted.view.strides[d] = static_cast<std::int64_t>(expected[step] - expected[0]) /
                                 static_cast<std::int64_t>(size_of(from.view.type));
      }
    }
    if (addresses(wanted) == expected) {
      ++possible;
      REQUIRE(addresses(reshaped(from, shape)) == expected);
    } else {
      ++impossible;
      REQUIRE_THROWS_AS(reshaped(from, shape), Error);
    }
  }
  CHECK(possible > 500);
  CHECK(impossible > 200);
}

TEST_CASE("reinterpreted() takes a type of the same size") {
  CHECK(reinterpreted(dense_tensor({3}), ElementType::u32).view.type == ElementType::u32);
  CHECK_THROWS_WITH(reinterpreted(dense_tensor({3}), ElementType::u8), ContainsSubstring("4 bytes"));
  CHECK_THROWS_AS(reinterpreted(dense_tensor({3}), static_cast<ElementType>(200)), Error);
}

TEST_CASE("all functions refuse views of more than 8 dimensions") {
  Tensor bad = dense_tensor({2});
  bad.view.rank = 9;
  const auto too_many = ContainsSubstring("9 dimensions; the most is 8");
  CHECK_THROWS_WITH(permuted(bad, Axes(9)), too_many);
  CHECK_THROWS_WITH(sliced(bad, Slices{}), too_many);
  CHECK_THROWS_WITH(flipped(bad, 0), too_many);
  CHECK_THROWS_WITH(broadcast(bad, Shape(8, 1)), too_many);
  CHECK_THROWS_WITH(reshaped(bad, Shape{2}), too_many);
}
