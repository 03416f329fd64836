// Operations created by name and computed by their references, compared with results written by hand.
#include "operations/reduce/reference.hpp"
#include "operations/references.hpp"
#include "operations/shared/source_values_reference.hpp"

#include <tmajit/error.hpp>
#include <tmajit/operations.hpp>

#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include <catch2/catch_test_macros.hpp>

using namespace tmajit;

namespace {

/// i32 elements 0, 1, 2, … and a view of them.
struct Ints {
  std::vector<std::int32_t> values;
  TensorView view;

  Ints(const Dims& shape, const Dims& strides, std::size_t count)
      : values(count), view(TensorView::strided(ElementType::i32, shape, strides)) {
    std::iota(values.begin(), values.end(), 0);
  }
  Tensor host(std::size_t first = 0) { return {view, reinterpret_cast<DevicePtr>(values.data() + first)}; }
};

using Values = std::vector<std::int32_t>;

void run(std::string_view operation, const std::vector<Tensor>& to, const std::vector<Tensor>& from,
         const Arguments& arguments = {}) {
  for (const Move& move : make_operation(operation, to, from, arguments).moves) reference::compute(move);
}

}  // namespace

TEST_CASE("sums and means of zeros may have either sign, however many there are") {
  for (const ReductionOp op : {ReductionOp::sum, ReductionOp::mean}) {
    for (const std::uint64_t count : {1, 2, 3, 1000}) {
      reference::Reducer reducer(op);
      for (std::uint64_t i = 0; i < count; ++i) reducer.add(reference::Scalar(-0.0), i);
      CHECK(reducer.result().error == reference::either_zero);
    }
  }
}

TEST_CASE("the references of operations give results computed by hand") {
  Ints from({2, 3}, {3, 1}, 6);
  SECTION("copy broadcasts extents of 1 and missing dimensions") {
    Ints to({2, 2, 3}, {6, 3, 1}, 12);
    run("copy", {to.host()}, {from.host()});
    CHECK(to.values == Values{0, 1, 2, 3, 4, 5, 0, 1, 2, 3, 4, 5});
    Ints column({2, 1}, {1, 1}, 2);
    run("broadcast", {to.host()}, {column.host()}, {{"shape", Dims{2, 2, 3}}});
    CHECK(to.values == Values{0, 0, 0, 1, 1, 1, 0, 0, 0, 1, 1, 1});
    CHECK_THROWS_AS(run("copy", {from.host()}, {to.host()}), Error);
    CHECK_THROWS_AS(run("copy", {Ints({3, 2}, {2, 1}, 6).host()}, {from.host()}), Error);
  }
  SECTION("gaps are unchanged, and negative strides reverse a dimension") {
    Ints to({2, 3}, {-4, 1}, 8);
    to.values.assign(8, -1);
    run("copy", {to.host(4)}, {from.host()});
    CHECK(to.values == Values{3, 4, 5, -1, 0, 1, 2, -1});
  }
  SECTION("rowwise") {
    Ints centred({2, 3}, {3, 1}, 6);
    Ints most({2}, {1}, 2);
    run("rowwise", {centred.host(), most.host()}, {from.host()},
        {{"steps", "s = sum(x); y0 = 10 * x + i + n - s; y1 = max(x)"}});
    CHECK(centred.values == Values{0, 11, 22, 21, 32, 43});
    CHECK(most.values == Values{2, 5});
    Ints first({1, 3}, {3, 1}, 3);
    run("rowwise", {first.host()}, {from.host()}, {{"steps", "y = arg_min(0 - x)"}, {"axes", Dims{0}}});
    CHECK(first.values == Values{1, 1, 1});
  }
  SECTION("stencil") {
    Ints edges({2, 3}, {3, 1}, 6);
    run("stencil", {edges.host()}, {from.host(), number(10), number(0.5F)},
        {{"expression", "p0 * x(1) - x(-1) + p1 * x"}});
    CHECK(edges.values == Values{10, 20, 0, 41, 49, -1});
  }
  SECTION("reduce") {
    Ints sums({2}, {1}, 2);
    run("reduce", {sums.host()}, {from.host(), number(10), number(2.5F)},
        {{"op", "sum"}, {"axes", Dims{1}}, {"expression", "x + p0"}, {"epilogue", "x * p1 + n - p0"}});
    CHECK(sums.values == Values{75, 98});
    run("reduce", {sums.host()}, {from.host(), number(3)},
        {{"op", "max"}, {"axes", Dims{1}}, {"epilogue", "p0 - x"}});
    CHECK(sums.values == Values{1, -2});
  }
  SECTION("cast_transpose") {
    std::vector<float> numbers{1, -2, 2.5F, 300, 0.5F, -1000};
    const Tensor x{TensorView::contiguous(ElementType::f32, {2, 3}),
                   reinterpret_cast<DevicePtr>(numbers.data())};
    std::vector<std::int8_t> plain(6);
    std::vector<std::int8_t> turned(6);
    float amax = 0;
    const auto bytes = [](std::vector<std::int8_t>& values, const Dims& shape) {
      return Tensor{TensorView::contiguous(ElementType::i8, shape),
                    reinterpret_cast<DevicePtr>(values.data())};
    };
    const Tensor most{TensorView::contiguous(ElementType::f32, {1}), reinterpret_cast<DevicePtr>(&amax)};
    const std::vector<Tensor> all{bytes(plain, {2, 3}), bytes(turned, {3, 2}), most};
    run("cast_transpose", all, {x});
    // Halves are rounded to even; what is too great is clamped.
    CHECK(plain == std::vector<std::int8_t>{1, -2, 2, 127, 0, -128});
    CHECK(turned == std::vector<std::int8_t>{1, 127, -2, 0, 2, -128});
    CHECK(amax == 1000);
    run("cast_transpose", {all[1]}, {x, number(0.5F)}, {{"orders", "transposed"}, {"amax", "no"}});
    CHECK(turned == std::vector<std::int8_t>{0, 127, -1, 0, 1, -128});
    float scale = 3;
    numbers[4] = std::nanf("");
    const Tensor factor{TensorView::contiguous(ElementType::f32, {}), reinterpret_cast<DevicePtr>(&scale)};
    run("cast_transpose", {all[0], most}, {x, factor}, {{"orders", "plain"}, {"to", "i8"}});
    CHECK(plain == std::vector<std::int8_t>{3, -6, 8, 127, 0, -128});
    CHECK(std::isnan(amax));
  }
  SECTION("top_k") {
    from.values = {4, 7, 7, -1, 0, -3};
    Ints values({2, 2}, {2, 1}, 4);
    Ints index({2, 2}, {2, 1}, 4);
    run("top_k", {values.host(), index.host()}, {from.host()}, {{"k", std::int64_t{2}}});
    CHECK(values.values == Values{7, 7, 0, -1});
    CHECK(index.values == Values{1, 2, 1, 0});
    run("top_k", {values.host(), index.host()}, {from.host()},
        {{"k", std::int64_t{2}}, {"largest", "no"}, {"index", "i32"}});
    CHECK(values.values == Values{4, 7, -3, -1});
    CHECK(index.values == Values{0, 1, 2, 0});
    Ints most({1, 3}, {3, 1}, 3);
    run("top_k", {most.host()}, {from.host()},
        {{"k", std::int64_t{1}}, {"axis", std::int64_t{0}}, {"index", "no"}});
    CHECK(most.values == Values{4, 7, 7});
    // NaN is the greatest; zeros of both signs are equal.
    std::vector<float> numbers{-0.0F, std::nanf(""), 0, INFINITY};
    std::vector<float> sorted(4);
    std::vector<std::int64_t> places(4);
    const std::vector<Tensor> to{
        {TensorView::contiguous(ElementType::f32, {4}), reinterpret_cast<DevicePtr>(sorted.data())},
        {TensorView::contiguous(ElementType::i64, {4}), reinterpret_cast<DevicePtr>(places.data())}};
    const Tensor x{TensorView::contiguous(ElementType::f32, {4}),
                   reinterpret_cast<DevicePtr>(numbers.data())};
    run("top_k", to, {x}, {{"k", std::int64_t{4}}});
    CHECK(places == std::vector<std::int64_t>{1, 3, 0, 2});
    CHECK((std::isnan(sorted[0]) && std::signbit(sorted[2]) && !std::signbit(sorted[3])));
    run("top_k", to, {x}, {{"k", std::int64_t{4}}, {"largest", "no"}});
    CHECK(places == std::vector<std::int64_t>{0, 2, 3, 1});
  }
  SECTION("gather") {
    Ints rows({3}, {1}, 3);
    rows.values = {1, -2, 1};
    Ints taken({3, 3}, {3, 1}, 9);
    run("gather", {taken.host()}, {from.host(), rows.host()});
    CHECK(taken.values == Values{3, 4, 5, 0, 1, 2, 3, 4, 5});
    rows.values = {2, 0, -3};
    run("gather", {taken.host()}, {from.host(), rows.host()}, {{"value", 7.0}});
    CHECK(taken.values == Values{7, 7, 7, 0, 1, 2, 7, 7, 7});
    run("gather", {taken.host()}, {from.host(), rows.host()}, {{"out_of_range", "clamp"}});
    CHECK(taken.values == Values{3, 4, 5, 0, 1, 2, 0, 1, 2});
    rows.values = {2, 0, 1};
    Ints turned({2, 3}, {3, 1}, 6);
    run("gather", {turned.host()}, {from.host(), rows.host()}, {{"axes", Dims{-1}}});
    CHECK(turned.values == Values{2, 0, 1, 5, 3, 4});
    // Index tensors of two axes are broadcast to each other.
    Ints outer({2, 1}, {1, 1}, 2);
    Ints inner({3}, {1}, 3);
    inner.values = {2, 0, -2};
    Ints picked({2, 3}, {3, 1}, 6);
    run("gather", {picked.host()}, {from.host(), outer.host(), inner.host()}, {{"axes", Dims{0, 1}}});
    CHECK(picked.values == Values{2, 0, 1, 5, 3, 4});
    Ints place({2, 1}, {1, 1}, 2);
    place.values = {2, 1};
    Ints along({2, 1}, {1, 1}, 2);
    run("gather", {along.host()}, {from.host(), place.host()}, {{"axes", Dims{1}}, {"along", "yes"}});
    CHECK(along.values == Values{2, 4});
  }
  SECTION("gather with an expression") {
    std::vector<float> table{0.5F, -1.25F, 2, 3.75F};
    const Tensor x{TensorView::contiguous(ElementType::f32, {4}), reinterpret_cast<DevicePtr>(table.data())};
    Ints rows({5}, {1}, 5);
    rows.values = {3, -1, 0, 7, 1};  // 7 is out of range
    Ints taken({5}, {1}, 5);
    // The value is stored without the expression.
    run("gather", {taken.host()}, {x, rows.host(), number(2.0F)},
        {{"expression", "x * p0 + 0.5f"}, {"value", 9.0}});
    CHECK(taken.values == Values{8, 8, 1, 9, -2});
    run("gather", {taken.host()}, {x, rows.host()}, {{"expression", "-x0"}, {"out_of_range", "clamp"}});
    CHECK(taken.values == Values{-3, -3, 0, -3, 1});
  }
  SECTION("flat axes") {
    Ints place({4}, {1}, 4);
    place.values = {4, 0, -1, 6};  // the last one is out of range
    Ints taken({4}, {1}, 4);
    run("gather", {taken.host()}, {from.host(), place.host()},
        {{"axes", Dims{0, 1}}, {"flat", "yes"}, {"value", -1.0}});
    CHECK(taken.values == Values{4, 0, 5, -1});
    // The same axes of a transposed view are not one dimension in memory.
    Tensor turned = from.host();
    turned.view = TensorView::strided(ElementType::i32, {3, 2}, {1, 3});
    run("gather", {taken.host()}, {turned, place.host()}, {{"axes", Dims{0, 1}}, {"flat", "yes"}});
    CHECK(taken.values == Values{2, 0, 5, 0});
    Ints to({2, 3}, {3, 1}, 6);
    Ints added({4}, {1}, 4);
    run("scatter_add", {to.host()}, {added.host(), place.host()}, {{"axes", Dims{0, 1}}, {"flat", "yes"}});
    CHECK(to.values == Values{1, 1, 2, 3, 4, 7});
  }
  SECTION("gather_sum") {
    Ints rows({2, 2}, {2, 1}, 4);
    rows.values = {1, -2, 1, 2};  // the last one is out of range
    Ints sums({2, 3}, {3, 1}, 6);
    run("gather_sum", {sums.host()}, {from.host(), rows.host()});
    CHECK(sums.values == Values{3, 5, 7, 3, 4, 5});
    run("gather_sum", {sums.host()}, {from.host(), rows.host()}, {{"out_of_range", "clamp"}});
    CHECK(sums.values == Values{3, 5, 7, 6, 8, 10});
    std::vector<float> factors{2, -1, 0.5F, 100};
    const Tensor weights{TensorView::contiguous(ElementType::f32, {2, 2}),
                         reinterpret_cast<DevicePtr>(factors.data())};
    run("gather_sum", {sums.host()}, {from.host(), rows.host(), weights});
    CHECK(sums.values == Values{6, 7, 8, 1, 2, 2});  // 1.5, 2 and 2.5 are truncated
    Ints flat({1}, {1}, 1);
    Ints places({1, 3}, {3, 1}, 3);
    places.values = {5, 1, -6};
    run("gather_sum", {flat.host()}, {from.host(), places.host()}, {{"axes", Dims{0, 1}}, {"flat", "yes"}});
    CHECK(flat.values == Values{6});
  }
  SECTION("gather_sum of ragged bags") {
    Ints list({5}, {1}, 5);
    list.values = {1, -2, 1, 2, 0};  // 2 is out of range
    Ints offsets({5}, {1}, 5);
    offsets.values = {0, 2, 2, 4, 5};  // the second bag is empty
    Ints sums({4, 3}, {3, 1}, 12);
    run("gather_sum", {sums.host()}, {from.host(), list.host(), offsets.host()}, {{"ragged", "yes"}});
    CHECK(sums.values == Values{3, 5, 7, 0, 0, 0, 3, 4, 5, 0, 1, 2});
    std::vector<float> factors{2, -1, 0.5F, 100, 3};
    const Tensor weights{TensorView::contiguous(ElementType::f32, {5}),
                         reinterpret_cast<DevicePtr>(factors.data())};
    run("gather_sum", {sums.host()}, {from.host(), list.host(), weights, offsets.host()},
        {{"ragged", "yes"}, {"out_of_range", "clamp"}});
    CHECK(sums.values == Values{6, 7, 8, 0, 0, 0, 301, 402, 502, 0, 3, 6});  // 402.0 and 502.5
    // Offsets are clamped to 0 to 5. The third bag ends before it begins.
    offsets.values = {-7, 1, 99, 3, 1 << 30};
    run("gather_sum", {sums.host()}, {from.host(), list.host(), offsets.host()}, {{"ragged", "yes"}});
    CHECK(sums.values == Values{3, 4, 5, 3, 6, 9, 0, 0, 0, 0, 1, 2});
    // The bags are the last dimension if that is indexed.
    Ints few({3}, {1}, 3);
    few.values = {2, 0, 1};
    Ints ends({3}, {1}, 3);
    ends.values = {0, 2, 3};
    Ints turned({2, 2}, {2, 1}, 4);
    run("gather_sum", {turned.host()}, {from.host(), few.host(), ends.host()},
        {{"ragged", "yes"}, {"axes", Dims{1}}});
    CHECK(turned.values == Values{2, 1, 8, 4});
  }
  SECTION("scatter and scatter_add") {
    Ints rows({2}, {1}, 2);
    rows.values = {2, -4};
    Ints to({4, 3}, {3, 1}, 12);
    run("scatter", {to.host()}, {from.host(), rows.host()});
    CHECK(to.values == Values{3, 4, 5, 3, 4, 5, 0, 1, 2, 9, 10, 11});
    rows.values = {4, 1};  // the first one is out of range
    run("scatter", {to.host()}, {from.host(), rows.host()});
    CHECK(to.values == Values{3, 4, 5, 3, 4, 5, 0, 1, 2, 9, 10, 11});
    run("scatter", {to.host()}, {from.host(), rows.host()}, {{"out_of_range", "clamp"}});
    CHECK(to.values == Values{3, 4, 5, 3, 4, 5, 0, 1, 2, 0, 1, 2});
    rows.values = {1, 1};
    run("scatter_add", {to.host()}, {from.host(), rows.host()});
    CHECK(to.values == Values{3, 4, 5, 6, 9, 12, 0, 1, 2, 0, 1, 2});
    Ints place({2, 1}, {1, 1}, 2);
    place.values = {2, 0};
    Ints values({2, 1}, {1, 1}, 2);
    values.values = {50, 60};
    Ints along({2, 3}, {3, 1}, 6);
    run("scatter", {along.host()}, {values.host(), place.host()}, {{"axes", Dims{1}}, {"along", "yes"}});
    CHECK(along.values == Values{0, 1, 50, 60, 4, 5});
    run("scatter_add", {along.host()}, {values.host(), place.host()}, {{"axes", Dims{1}}, {"along", "yes"}});
    CHECK(along.values == Values{0, 1, 100, 120, 4, 5});
  }
  SECTION("moe_permute") {
    Ints experts({3, 2}, {2, 1}, 6);
    experts.values = {1, 0, 3, 1, -1, 1};  // 3 and -1 are no experts
    Ints tokens({3, 2}, {2, 1}, 6);
    Ints rows({6, 2}, {2, 1}, 12);
    Ints positions({3, 2}, {1, 3}, 6);
    Ints counts({3}, {1}, 3);
    Ints offsets({4}, {1}, 4);
    const auto permute = [&](std::int64_t alignment) {
      rows.values.assign(12, -1);
      run("moe_permute", {rows.host(), positions.host(), counts.host(), offsets.host()},
          {tokens.host(), experts.host()}, {{"count", std::int64_t{3}}, {"alignment", alignment}});
    };
    constexpr std::int32_t none = std::numeric_limits<std::int32_t>::min();
    permute(1);
    CHECK(rows.values == Values{0, 1, 0, 1, 2, 3, 4, 5, -1, -1, -1, -1});
    CHECK(positions.values == Values{1, none, none, 0, 2, 3});  // column after column
    CHECK(counts.values == Values{1, 3, 0});
    CHECK(offsets.values == Values{0, 1, 4, 4});
    permute(4);  // the last row of expert 1 would be row 6, the first one beyond the destination
    CHECK(rows.values == Values{0, 1, -1, -1, -1, -1, -1, -1, 0, 1, 2, 3});
    CHECK(positions.values == Values{4, none, none, 0, 5, none});
    CHECK(counts.values == Values{1, 3, 0});
    CHECK(offsets.values == Values{0, 4, 8, 8});
  }
  SECTION("permute") {
    Ints to({3, 2}, {2, 1}, 6);
    run("permute", {to.host()}, {from.host()}, {{"axes", Dims{1, 0}}});
    CHECK(to.values == Values{0, 3, 1, 4, 2, 5});
    Ints cube({2, 3, 4}, {12, 4, 1}, 24);
    Ints turned({4, 2, 3}, {6, 3, 1}, 24);
    run("permute", {turned.host()}, {cube.host()}, {{"axes", Dims{2, 0, 1}}});
    CHECK(turned.values[1 * 6 + 1 * 3 + 2] == 1 * 12 + 2 * 4 + 1);
  }
  SECTION("flip") {
    Ints to({2, 3}, {3, 1}, 6);
    run("flip", {to.host()}, {from.host()}, {{"axes", Dims{1}}});
    CHECK(to.values == Values{2, 1, 0, 5, 4, 3});
  }
  SECTION("slice") {
    Ints ten({10}, {1}, 10);
    Ints to({3}, {1}, 3);
    const auto slice = [&](const Slice& one) {
      run("slice", {to.host()}, {ten.host()}, {{"slices", std::vector<Slice>{one}}});
    };
    slice({-3, {}, -3});
    CHECK(to.values == Values{7, 4, 1});
    slice({1, 7, 2});
    CHECK(to.values == Values{1, 3, 5});
    CHECK_THROWS_AS(slice({1, 8, 2}), Error);
  }
  SECTION("pad and crop") {
    Ints to({3, 4}, {4, 1}, 12);
    run("pad", {to.host()}, {from.host()}, {{"widths", PadWidths{{1, -1}, {0, 2}}}, {"value", -7.9}});
    CHECK(to.values == Values{-7, -7, -7, -7, 1, 2, -7, -7, 4, 5, -7, -7});
  }
  SECTION("concat and split, also of empty parts") {
    Ints to({2, 4}, {4, 1}, 8);
    Ints none({2, 0}, {0, 1}, 1);
    Ints column({2, 1}, {1, 1}, 2);
    const Arguments along{{"axis", std::int64_t{1}}};
    run("concat", {to.host()}, {none.host(), from.host(), none.host(), column.host()}, along);
    CHECK(to.values == Values{0, 1, 2, 0, 3, 4, 5, 1});
    Ints left({2, 1}, {1, 1}, 2);
    Ints right({2, 2}, {2, 1}, 4);
    run("split", {left.host(), none.host(), right.host()}, {from.host()},
        {{"axis", std::int64_t{1}}, {"parts", std::vector<std::int64_t>{1, 0, 2}}});
    CHECK(left.values == Values{0, 3});
    CHECK(right.values == Values{1, 2, 4, 5});
  }
  SECTION("concat along a new dimension") {
    Ints second({2, 3}, {1, 2}, 6);  // 0, 2, 4 and 1, 3, 5
    const std::vector<Tensor> both{from.host(), second.host()};
    const auto stack = [&](Ints& to, std::int64_t axis) {
      run("concat", {to.host()}, both, {{"axis", axis}, {"new_axis", "yes"}});
      return to.values;
    };
    Ints front({2, 2, 3}, {6, 3, 1}, 12);
    CHECK(stack(front, 0) == Values{0, 1, 2, 3, 4, 5, 0, 2, 4, 1, 3, 5});
    Ints middle({2, 2, 3}, {6, 3, 1}, 12);
    CHECK(stack(middle, -2) == Values{0, 1, 2, 0, 2, 4, 3, 4, 5, 1, 3, 5});
    Ints last({2, 3, 2}, {6, 2, 1}, 12);
    CHECK(stack(last, 2) == Values{0, 0, 1, 2, 2, 4, 3, 1, 4, 3, 5, 5});
    Ints scalar({}, {}, 1);
    scalar.values = {42};
    Ints pair({3}, {-1}, 3);
    run("concat", {pair.host(2)}, {scalar.host(), scalar.host(), scalar.host()},
        {{"axis", std::int64_t{0}}, {"new_axis", "yes"}});
    CHECK(pair.values == Values{42, 42, 42});
    Ints joined({4, 3}, {3, 1}, 12);
    run("concat", {joined.host()}, both, {{"axis", std::int64_t{0}}, {"new_axis", "no"}});
    CHECK(joined.values == front.values);
  }
  SECTION("split into the indices of a dimension") {
    Ints cube({2, 3, 2}, {6, 2, 1}, 12);
    const auto unstack = [&](std::vector<Ints> parts, std::int64_t axis, const Arguments& more = {}) {
      std::vector<Tensor> to;
      for (Ints& part : parts) to.push_back(part.host());
      Arguments arguments{{"axis", axis}, {"drop_axis", "yes"}};
      for (const auto& [name, value] : more.all()) arguments.set(name, value);
      run("split", to, {cube.host()}, arguments);
      std::vector<Values> values;
      for (const Ints& part : parts) values.push_back(part.values);
      return values;
    };
    const Ints matrix({3, 2}, {2, 1}, 6);
    CHECK(unstack({matrix, matrix}, 0) == std::vector<Values>{{0, 1, 2, 3, 4, 5}, {6, 7, 8, 9, 10, 11}});
    const Ints square({2, 2}, {2, 1}, 4);
    CHECK(unstack({square, square, square}, -2, {{"parts", std::vector<std::int64_t>{1, 1, 1}}}) ==
          std::vector<Values>{{0, 1, 6, 7}, {2, 3, 8, 9}, {4, 5, 10, 11}});
    const Ints wide({2, 3}, {3, 1}, 6);
    CHECK(unstack({wide, wide}, 2) == std::vector<Values>{{0, 2, 4, 6, 8, 10}, {1, 3, 5, 7, 9, 11}});
    Ints row({3}, {1}, 3);
    std::vector<Ints> scalars(3, Ints({}, {}, 1));
    run("split", {scalars[0].host(), scalars[1].host(), scalars[2].host()}, {row.host()},
        {{"axis", std::int64_t{0}}, {"drop_axis", "yes"}});
    CHECK((scalars[0].values == Values{0} && scalars[2].values == Values{2}));
    // Without drop_axis the parts keep the dimension.
    std::vector<Ints> rows(2, Ints({1, 3}, {3, 1}, 3));
    run("split", {rows[0].host(), rows[1].host()}, {from.host()},
        {{"axis", std::int64_t{0}}, {"drop_axis", "no"}});
    CHECK((rows[0].values == Values{0, 1, 2} && rows[1].values == Values{3, 4, 5}));
  }
  SECTION("cast and map") {
    std::vector<double> doubles(3);
    const Tensor to{TensorView::contiguous(ElementType::f64, {1, 3}),
                    reinterpret_cast<DevicePtr>(doubles.data())};
    Ints row({3}, {1}, 4);
    run("cast", {to}, {row.host(1)});
    CHECK(doubles == std::vector{1.0, 2.0, 3.0});
    run("map", {to}, {to, row.host()}, {{"expression", "x0 + x1 + 10.0 * int(g[1])"}});
    CHECK(doubles == std::vector{1.0, 13.0, 25.0});
  }
  SECTION("reduce, with and without the reduced dimensions") {
    Ints sums({2}, {1}, 2);
    run("reduce", {sums.host()}, {from.host()}, {{"op", "sum"}, {"axes", Dims{1}}});
    CHECK(sums.values == Values{3, 12});
    Ints with_dims({2, 1}, {1, 7}, 2);
    run("reduce", {with_dims.host()}, {from.host()},
        {{"op", "sum"}, {"axes", Dims{-1}}, {"keep_dims", "yes"}});
    CHECK(with_dims.values == Values{3, 12});
    Ints columns({1, 3}, {3, 1}, 3);
    run("reduce", {columns.host()}, {from.host()}, {{"op", "max"}, {"axes", Dims{0}}, {"keep_dims", "yes"}});
    CHECK(columns.values == Values{3, 4, 5});
    Ints all({1, 1}, {1, 1}, 1);
    run("reduce", {all.host()}, {from.host()}, {{"op", "sum"}, {"keep_dims", "yes"}});
    CHECK(all.values == Values{15});
  }
  SECTION("rank 0") {
    Ints one({}, {}, 1);
    Ints to({}, {}, 1);
    one.values = {42};
    run("copy", {to.host()}, {one.host()});
    CHECK(to.values == Values{42});
  }
}

TEST_CASE("a compensated sum is right to one unit in the last place, whatever the values and their order") {
  const auto sum_of = [](const std::vector<double>& values) {
    reference::CompensatedSum sum;
    for (const double value : values) sum.add(value);
    return sum.value();
  };
  CHECK(sum_of({1, 1e100, 1, -1e100}) == 2);
  CHECK(std::signbit(sum_of({-0.0, -0.0})));
  CHECK(sum_of({1, INFINITY}) == INFINITY);
  CHECK(std::isnan(sum_of({INFINITY, -INFINITY})));
  const std::vector<double> tenths(10'000'000, 0.1);  // a naive sum has an error of 1.6e-4
  CHECK(std::fabs(sum_of(tenths) - 1e6) <= 1e-9);
}
