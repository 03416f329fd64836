#include "reference/moves.hpp"

#include <array>
#include <cmath>
#include <cstring>
#include <numeric>
#include <stdexcept>
#include <vector>

#include <catch2/catch_test_macros.hpp>

using namespace tmajit;
using reference::HostView, reference::Scalar;

namespace {

/// i32 elements 0, 1, 2, … and a view of them.
struct Ints {
  std::vector<std::int32_t> values;
  TensorView view;

  Ints(std::vector<std::uint64_t> shape, std::vector<std::int64_t> strides, std::size_t count)
      : values(count), view{.type = ElementType::i32, .rank = static_cast<std::uint32_t>(shape.size())} {
    std::iota(values.begin(), values.end(), 0);
    std::copy(shape.begin(), shape.end(), view.shape.begin());
    std::copy(strides.begin(), strides.end(), view.strides.begin());
  }
  HostView host(std::size_t first = 0) { return {view, reinterpret_cast<std::byte*>(values.data() + first)}; }
};

using Values = std::vector<std::int32_t>;

}  // namespace

TEST_CASE("reference moves by hand") {
  Ints from({2, 3}, {3, 1}, 6);
  SECTION("copy repeats what has one element or lacks a dimension") {
    Ints to({2, 2, 3}, {6, 3, 1}, 12);
    reference::copy(to.host(), from.host());
    CHECK(to.values == Values{0, 1, 2, 3, 4, 5, 0, 1, 2, 3, 4, 5});
    Ints column({2, 1}, {1, 1}, 2);
    reference::copy(to.host(), column.host());
    CHECK(to.values == Values{0, 0, 0, 1, 1, 1, 0, 0, 0, 1, 1, 1});
    CHECK_THROWS_AS(reference::copy(from.host(), to.host()), std::invalid_argument);
    CHECK_THROWS_AS(reference::copy(Ints({3, 2}, {2, 1}, 6).host(), from.host()), std::invalid_argument);
  }
  SECTION("gaps stay, negative strides walk back") {
    Ints to({2, 3}, {-4, 1}, 8);
    to.values.assign(8, -1);
    reference::copy(to.host(4), from.host());
    CHECK(to.values == Values{3, 4, 5, -1, 0, 1, 2, -1});
  }
  SECTION("permute") {
    Ints to({3, 2}, {2, 1}, 6);
    reference::permute(to.host(), from.host(), std::array{1U, 0U});
    CHECK(to.values == Values{0, 3, 1, 4, 2, 5});
    Ints cube({2, 3, 4}, {12, 4, 1}, 24);
    Ints turned({4, 2, 3}, {6, 3, 1}, 24);
    reference::permute(turned.host(), cube.host(), std::array{2U, 0U, 1U});
    CHECK(turned.values[1 * 6 + 1 * 3 + 2] == 1 * 12 + 2 * 4 + 1);
  }
  SECTION("flip") {
    Ints to({2, 3}, {3, 1}, 6);
    reference::flip(to.host(), from.host(), 1);
    CHECK(to.values == Values{2, 1, 0, 5, 4, 3});
  }
  SECTION("slice") {
    Ints ten({10}, {1}, 10);
    Ints to({3}, {1}, 3);
    reference::slice(to.host(), ten.host(), std::array{Slice{-3, {}, -3}});
    CHECK(to.values == Values{7, 4, 1});
    reference::slice(to.host(), ten.host(), std::array{Slice{1, 7, 2}});
    CHECK(to.values == Values{1, 3, 5});
    CHECK_THROWS_AS(reference::slice(to.host(), ten.host(), std::array{Slice{1, 8, 2}}),
                    std::invalid_argument);
  }
  SECTION("pad and crop") {
    Ints to({3, 4}, {4, 1}, 12);
    reference::pad(to.host(), from.host(), std::array<std::int64_t, 2>{1, -1}, -7.9);
    CHECK(to.values == Values{-7, -7, -7, -7, 1, 2, -7, -7, 4, 5, -7, -7});
  }
  SECTION("concat and split, of nothing too") {
    Ints to({2, 4}, {4, 1}, 8);
    Ints none({2, 0}, {0, 1}, 1);
    Ints column({2, 1}, {1, 1}, 2);
    const std::array parts{none.host(), from.host(), none.host(), column.host()};
    reference::concat(to.host(), parts, 1);
    CHECK(to.values == Values{0, 1, 2, 0, 3, 4, 5, 1});
    Ints left({2, 1}, {1, 1}, 2);
    Ints right({2, 2}, {2, 1}, 4);
    const std::array pieces{left.host(), none.host(), right.host()};
    reference::split(pieces, from.host(), 1);
    CHECK(left.values == Values{0, 3});
    CHECK(right.values == Values{1, 2, 4, 5});
  }
  SECTION("cast and map") {
    std::array<double, 3> doubles{};
    HostView to{{.type = ElementType::f64, .rank = 2, .shape = {1, 3}, .strides = {3, 1}},
                reinterpret_cast<std::byte*>(doubles.data())};
    Ints row({3}, {1}, 4);
    reference::cast(to, row.host(1));
    CHECK(doubles == std::array{1.0, 2.0, 3.0});
    const std::array sources{to, row.host()};
    reference::map(to, sources, [](std::span<const Scalar> x, std::span<const std::uint64_t> g) {
      return reference::add(reference::add(x[0], x[1]), static_cast<double>(10 * g[1]));
    });
    CHECK(doubles == std::array{1.0, 13.0, 25.0});
  }
  SECTION("rank 0") {
    Ints one({}, {}, 1);
    Ints to({}, {}, 1);
    one.values = {42};
    reference::copy(to.host(), one.host());
    CHECK(to.values == Values{42});
  }
}

TEST_CASE("sums wrap as on the device") {
  CHECK(reference::add(std::int32_t{0x7fffffff}, std::int32_t{1}) == Scalar{std::int32_t{-0x7fffffff - 1}});
  CHECK(reference::add(std::uint8_t{200}, std::uint8_t{100}) == Scalar{std::int32_t{300}});
  CHECK(reference::add(std::int64_t{-1}, std::uint64_t{1}) == Scalar{std::uint64_t{0}});
  CHECK(reference::add(1.5F, std::int32_t{1}) == Scalar{2.5F});
}
