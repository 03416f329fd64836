/// Canonical nests of views: known views have the expected nest, and the nests of random views have the same
/// accesses.
#include "spec/canonical.hpp"

#include "reference/random_maps.hpp"

#include <tmajit/error.hpp>

#include <algorithm>
#include <numeric>
#include <vector>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

using namespace tmajit;
using Catch::Matchers::ContainsSubstring;

namespace {

using Shape = std::vector<std::uint64_t>;
using Strides = std::vector<std::int64_t>;

TensorView contiguous_view(const Shape& shape) {
  return TensorView::contiguous(ElementType::f32, shape);
}
TensorView strided(const Shape& shape, const Strides& strides) {
  return TensorView::strided(ElementType::f32, shape, strides);
}

/// Dimension d of the result is dimension axes[d] of `view`.
TensorView permuted(const TensorView& view, const std::vector<std::uint32_t>& axes) {
  TensorView result = view;
  for (std::size_t d = 0; d < axes.size(); ++d) {
    result.shape[d] = view.shape[axes[d]];
    result.strides[d] = view.strides[axes[d]];
  }
  return result;
}

/// The nest of a dense destination and its source, which is a permutation of a dense tensor of `shape`.
CanonicalNest permutation(const Shape& shape, const std::vector<std::uint32_t>& axes) {
  const TensorView source = permuted(contiguous_view(shape), axes);
  const TensorView destination =
      contiguous_view(Shape(source.shape.begin(), source.shape.begin() + source.rank));
  return canonical(std::vector{destination, source});
}

std::string refusal(const std::vector<TensorView>& views) {
  try {
    (void)canonical(views);
  } catch (const Error& error) {
    CHECK(error.code() == ErrorCode::invalid_argument);
    return error.what();
  }
  return {};
}

using Accesses =
    std::vector<std::vector<std::int64_t>>;  // for each access, the element offset of each operand

template <class StrideOf>
Accesses walk(std::uint32_t rank, const std::uint64_t* shape, std::uint32_t operands,
              const std::vector<std::int64_t>& offsets, StrideOf stride_of) {
  Accesses all;
  std::vector<std::uint64_t> at(rank, 0);
  for (;;) {
    std::vector<std::int64_t> access = offsets;
    for (std::uint32_t i = 0; i < operands; ++i) {
      for (std::uint32_t d = 0; d < rank; ++d)
        access[i] += static_cast<std::int64_t>(at[d]) * stride_of(i, d);
    }
    all.push_back(access);
    std::uint32_t d = rank;
    while (d > 0 && ++at[d - 1] == shape[d - 1]) at[--d] = 0;
    if (d == 0) break;
  }
  std::ranges::sort(all);
  return all;
}

}  // namespace

TEST_CASE("contiguous views merge into one dimension") {
  const CanonicalNest nest =
      canonical(std::vector{contiguous_view({4, 1, 5, 6}), contiguous_view({4, 1, 5, 6})});
  CHECK(nest.text() == "120: 1 <- 1");
}

TEST_CASE("a permutation keeps only the dimensions that cannot merge") {
  CHECK(permutation({3, 4}, {1, 0}).text() == "4x3: 3,1 <- 1,4");
  CHECK(permutation({2, 3, 4, 5}, {0, 2, 1, 3}).text() == "2x4x3x5: 60,15,5,1 <- 60,5,20,1");
  CHECK(permutation({2, 3, 4, 5}, {0, 3, 1, 2}).text() == "2x5x12: 60,12,1 <- 60,1,5");
  CHECK(permutation({2, 3, 4, 5}, {2, 3, 0, 1}).text() == "20x6: 6,1 <- 1,20");
}

TEST_CASE("broadcast dimensions merge with each other only") {
  const TensorView out = contiguous_view({6, 5, 4});
  CHECK(canonical(std::vector{out, strided({6, 5, 4}, {0, 0, 1})}).text() == "30x4: 4,1 <- 0,1");
  CHECK(canonical(std::vector{out, strided({6, 5, 4}, {0, 0, 0})}).text() == "120: 1 <- 0");
}

TEST_CASE("dimensions with a negative stride in the destination are reversed") {
  const CanonicalNest both = canonical(std::vector{strided({8}, {-1}), strided({8}, {-2})});
  CHECK(both.text() == "8: 1-7 <- 2-14");
  const CanonicalNest one = canonical(std::vector{contiguous_view({3, 8}), strided({3, 8}, {8, -1})});
  CHECK(one.text() == "3x8: 8,1 <- 8,-1");
}

TEST_CASE("views without elements and views of one element have a nest without dimensions") {
  CHECK(canonical(std::vector{contiguous_view({3, 0, 2}), contiguous_view({3, 0, 2})}).empty());
  const CanonicalNest one = canonical(std::vector{contiguous_view({1, 1}), contiguous_view({1, 1})});
  CHECK(one.rank == 0);
  CHECK(one.elements() == 1);
  CHECK_FALSE(one.empty());
  CHECK(canonical(std::vector{contiguous_view({}), contiguous_view({})}) == one);
}

TEST_CASE("the strides of the primary operand order the nest; others may be broadcast, the destination too") {
  const TensorView destination = strided({6, 4}, {0, -1});
  const TensorView source = strided({6, 4}, {1, -8});
  CHECK(canonical(std::vector{destination, source}, {.primary = 1}).text() == "4x6: 1,0-3 <- 8,1-24");
  CHECK(canonical(std::vector{strided({6, 4}, {0, 0}), contiguous_view({6, 4})}, {.primary = 1}).text() ==
        "24: 0 <- 1");
}

TEST_CASE("views without a canonical form are rejected") {
  CHECK_THAT(refusal({contiguous_view({3, 4}), contiguous_view({4, 3})}),
             ContainsSubstring("source 0 has the shape 4x3"));
  CHECK_THAT(refusal({strided({3, 4}, {0, 1}), contiguous_view({3, 4})}),
             ContainsSubstring("stride 0 in dimension 0"));
  CHECK_THAT(refusal({}), ContainsSubstring("0 views"));
  CHECK_THAT(refusal(std::vector<TensorView>(17, contiguous_view({2}))), ContainsSubstring("17 views"));
  CHECK(refusal({strided({1, 4}, {0, 1}), contiguous_view({1, 4})}).empty());
}

TEST_CASE(
    "random views: the nest has the same accesses, no mergeable neighbours, and is its own canonical form") {
  const auto seed = reference::seed(20261121);
  reference::Random random(seed);
  INFO("TMAJIT_SEED=" << seed);
  for (int n = 0; n < 3000; ++n) {
    const auto rank = static_cast<std::uint32_t>(reference::between(random, 0, max_view_rank));
    const auto operands = static_cast<std::uint32_t>(reference::between(random, 1, 4));
    Shape shape(rank);
    for (auto& extent : shape) extent = reference::between(random, 1, 3);
    std::vector<TensorView> views;
    for (std::uint32_t i = 0; i < operands; ++i) {
      // A dense view in a random order of dimensions, some of them reversed. Sources may be broadcast.
      std::vector<std::uint32_t> order(rank);
      std::iota(order.begin(), order.end(), 0U);
      if (reference::one_in(random, 2)) std::shuffle(order.begin(), order.end(), random);
      Strides strides(rank);
      std::int64_t stride = 1;
      for (std::uint32_t k = rank; k-- > 0;) {
        strides[order[k]] = reference::one_in(random, 8) ? -stride : stride;
        stride *= static_cast<std::int64_t>(shape[order[k]]);
        if (reference::one_in(random, 8)) ++stride;
        if (i > 0 && reference::one_in(random, 8)) strides[order[k]] = 0;
      }
      views.push_back(strided(shape, strides));
    }
    const CanonicalNest nest = canonical(views);
    CAPTURE(n, nest.text());
    std::vector<std::int64_t> offsets;
    for (std::uint32_t i = 0; i < operands; ++i) offsets.push_back(nest.operand[i].offset);
    const auto got = walk(nest.rank, nest.shape.data(), operands, offsets,
                          [&](std::uint32_t i, std::uint32_t d) { return nest.operand[i].strides[d]; });
    const auto want = walk(rank, shape.data(), operands, std::vector<std::int64_t>(operands, 0),
                           [&](std::uint32_t i, std::uint32_t d) { return views[i].strides[d]; });
    REQUIRE(got == want);

    std::vector<TensorView> again;
    for (std::uint32_t i = 0; i < operands; ++i) {
      again.push_back(
          strided(Shape(nest.shape.begin(), nest.shape.begin() + nest.rank),
                  Strides(nest.operand[i].strides.begin(), nest.operand[i].strides.begin() + nest.rank)));
    }
    CanonicalNest repeated = canonical(again);
    for (std::uint32_t i = 0; i < operands; ++i) repeated.operand[i].offset = nest.operand[i].offset;
    REQUIRE(repeated == nest);
  }
}
