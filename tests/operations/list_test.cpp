// Properties of every operation in the list: complete descriptions, and equal results of creating an
// operation by name and by its function.
#include "operations/references.hpp"

#include <tmajit/combine.hpp>
#include <tmajit/error.hpp>
#include <tmajit/kernel_plan.hpp>
#include <tmajit/operations.hpp>

#include <algorithm>
#include <array>
#include <set>
#include <string_view>
#include <vector>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

using namespace tmajit;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::MessageMatches;

namespace {

/// The arguments of an operation with their descriptions' examples as values.
Arguments examples_of(const OperationInfo& info) {
  Arguments arguments;
  for (const Argument& one : info.arguments)
    arguments.set(one.name, parse_argument(one, one.example, one.option));
  return arguments;
}

template <class All>
std::vector<std::string_view> names_of(const All& all) {
  std::vector<std::string_view> names;
  names.reserve(std::size(all));
  for (const auto one : all) names.push_back(name(one));
  return names;
}

void check_choices(std::string_view operation, std::string_view argument,
                   const std::vector<std::string_view>& names) {
  const Argument* const described = find_operation(operation).find_argument(argument);
  REQUIRE(described != nullptr);
  CHECK(std::ranges::equal(described->choices, names));
}

}  // namespace

TEST_CASE("every operation and every argument has a complete description") {
  std::set<std::string_view> names;
  for (const OperationInfo& info : operations()) {
    INFO(info.name);
    CHECK(names.insert(info.name).second);
    CHECK_FALSE(info.summary.empty());
    CHECK(info.min_sources <= info.max_sources);
    std::set<std::string_view> arguments;
    for (const Argument& one : info.arguments) {
      INFO(one.name);
      CHECK(arguments.insert(one.name).second);
      CHECK(one.option.starts_with("--"));
      CHECK_FALSE(one.sentence.empty());
      // An argument is required if and only if it has no default.
      CHECK(one.fallback.empty() == one.required);
      CHECK(one.choices.empty() == (one.type != ArgumentType::choice));
      // The example is legal and survives a round trip.
      const ArgumentValue value = parse_argument(one, one.example, one.option);
      CHECK(parse_argument(one, text_of(value), one.option) == value);
    }
  }
}

TEST_CASE("arguments with the same command-line option have the same type") {
  for (const OperationInfo& info : operations()) {
    for (const Argument& one : info.arguments) {
      for (const OperationInfo& other : operations()) {
        for (const Argument& same : other.arguments) {
          if (same.option == one.option) CHECK(same.type == one.type);
        }
      }
    }
  }
}

TEST_CASE("the choices of an argument are the names of its enumeration") {
  check_choices("reduce", "op", names_of(all_reduction_ops));
  check_choices("scan", "op", names_of(all_scan_ops));
  check_choices("reduce_into", "op", names_of(all_combine_ops));
  check_choices("stencil", "boundary",
                {name(Boundary::zero), name(Boundary::constant), name(Boundary::clamp), name(Boundary::wrap),
                 name(Boundary::reflect)});
}

TEST_CASE("the error for a wrong name, number of sources or argument says what is legal") {
  CHECK_THROWS_MATCHES(find_operation("permut"), Error,
                       MessageMatches(ContainsSubstring("did you mean permute?")));
  const TensorView view = TensorView::contiguous(ElementType::f32, {4, 6});
  const auto shape_of = [&](std::string_view operation, const Arguments& arguments, std::size_t sources) {
    return destinations_of(operation, std::vector(sources, view), arguments);
  };
  CHECK_THROWS_MATCHES(shape_of("copy", {}, 2), Error,
                       MessageMatches(ContainsSubstring("takes 1 source, but 2 are given")));
  CHECK_THROWS_MATCHES(shape_of("permute", {}, 1), Error,
                       MessageMatches(ContainsSubstring("permute needs axes")));
  CHECK_THROWS_MATCHES(shape_of("concat", {{"axes", std::int64_t{0}}}, 1), Error,
                       MessageMatches(ContainsSubstring("did you mean axis?")));
  CHECK_THROWS_MATCHES(shape_of("concat", {{"axis", 1.0}}, 1), Error,
                       MessageMatches(ContainsSubstring("another type")));
}

TEST_CASE("shapes and types of destinations are derived from the sources") {
  const TensorView view = TensorView::contiguous(ElementType::bf16, {4, 6, 8});
  const auto made = [&](std::string_view operation, const Arguments& arguments, std::size_t sources = 1) {
    return destinations_of(operation, std::vector(sources, view), arguments);
  };
  const auto dense = [](ElementType type, const Dims& shape) { return TensorView::contiguous(type, shape); };
  const ElementType type = ElementType::bf16;
  CHECK(made("copy", {}).front() == view);
  CHECK(made("permute", {{"axes", Dims{2, 0, 1}}}).front() == dense(type, {8, 4, 6}));
  CHECK(made("slice", {{"slices", std::vector<Slice>{{1, 3, 1}}}}).front() == dense(type, {2, 6, 8}));
  CHECK(made("broadcast", {{"shape", Dims{5, 4, 6, 8}}}).front() == dense(type, {5, 4, 6, 8}));
  CHECK(made("pad", {{"widths", PadWidths{{1, 0, -2}, {2, 0, 0}}}}).front() == dense(type, {7, 6, 6}));
  CHECK(made("concat", {{"axis", std::int64_t{-2}}}, 3).front() == dense(type, {4, 18, 8}));
  const auto stacked = [&](std::int64_t axis) {
    return made("concat", {{"axis", axis}, {"new_axis", "yes"}}, 3).front();
  };
  CHECK(stacked(0) == dense(type, {3, 4, 6, 8}));
  CHECK(stacked(3) == dense(type, {4, 6, 8, 3}));
  CHECK(stacked(-2) == dense(type, {4, 6, 3, 8}));
  CHECK_THROWS_MATCHES(stacked(4), Error, MessageMatches(ContainsSubstring("axis")));
  const auto stack_of = [](const TensorView& first, const TensorView& second) {
    return destinations_of("concat", std::vector{first, second},
                           {{"axis", std::int64_t{0}}, {"new_axis", "yes"}});
  };
  CHECK_THROWS_MATCHES(
      stack_of(dense(type, {4, 6}), dense(type, {4, 1})), Error,
      MessageMatches(ContainsSubstring("source 1 of 4x1, source 0 of 4x6; all must have one shape")));
  CHECK_THROWS_MATCHES(stack_of(dense(type, {4}), dense(type, {})), Error,
                       MessageMatches(ContainsSubstring("source 1 of one element, source 0 of 4")));
  const TensorView deepest = dense(type, {1, 1, 1, 1, 1, 1, 1, 2});
  CHECK_THROWS_MATCHES(stack_of(deepest, deepest), Error,
                       MessageMatches(ContainsSubstring("source 0 has 8 dimensions; legal: at most 7")));
  const auto parts = made("split", {{"axis", std::int64_t{1}}, {"parts", std::vector<std::int64_t>{1, 5}}});
  CHECK((parts.size() == 2 && parts[1] == dense(type, {4, 5, 8})));
  const auto unstacked = [&](std::int64_t axis, const std::vector<std::int64_t>& extents = {}) {
    return made("split", {{"axis", axis}, {"drop_axis", "yes"}, {"parts", extents}});
  };
  CHECK(unstacked(0) == std::vector(4, dense(type, {6, 8})));
  CHECK(unstacked(-2, {1, 1, 1, 1, 1, 1}) == std::vector(6, dense(type, {4, 8})));
  CHECK(made("split", {{"axis", std::int64_t{2}}}) == std::vector(8, dense(type, {4, 6, 1})));
  const auto implied = [&](std::uint64_t extent) {
    return destinations_of("split", std::vector{dense(type, {extent, 2})}, {{"axis", std::int64_t{0}}});
  };
  CHECK(implied(65536).size() == 65536);
  CHECK_THROWS_MATCHES(
      implied(65537), Error,
      MessageMatches(ContainsSubstring("dimension 0 has 65537 elements; legal without parts")));
  CHECK_THROWS_MATCHES(unstacked(3), Error, MessageMatches(ContainsSubstring("axis")));
  CHECK_THROWS_MATCHES(unstacked(0, {2, 2}), Error,
                       MessageMatches(ContainsSubstring("parts 2,2 of a dropped axis; legal: 1 for each")));
  CHECK_THROWS_MATCHES(unstacked(0, {1, 1}), Error,
                       MessageMatches(ContainsSubstring("parts 1,1 must add up to 4")));
  CHECK(made("reduce", {{"op", "sum"}, {"axes", Dims{-1, 0}}}).front() == dense(type, {6}));
  CHECK(made("reduce", {{"op", "sum"}, {"axes", Dims{-1, 0}}, {"keep_dims", "yes"}}).front() ==
        dense(type, {1, 6, 1}));
  CHECK(made("reduce", {{"op", "sum"}, {"keep_dims", "yes"}}).front() == dense(type, {1, 1, 1}));
  CHECK(made("reduce", {{"op", "sum"}, {"keep_dims", "no"}}).front() == dense(type, {}));
  CHECK(made("reduce", {{"op", "arg_max"}}).front() == dense(ElementType::i64, {}));
  CHECK(made("reduce", {{"op", "any"}, {"axes", Dims{1}}}).front() == dense(ElementType::u8, {4, 8}));
  CHECK(made("im2col", {{"filter", Dims{3}}}).front() == dense(type, {16, 24}));
  CHECK(made("scan", {{"op", "sum"}}).front() == view);
  CHECK(made("map", {{"expression", "x * 2.5"}}).front() == view);
  const auto rows =
      made("rowwise", {{"steps", "m = max(x); y0 = x - m; y1 = m; y2 = arg_max(x)"}, {"axes", Dims{0}}});
  CHECK((rows.size() == 3 && rows[0] == view && rows[1] == dense(type, {6, 8}) &&
         rows[2] == dense(ElementType::i64, {6, 8})));
}

TEST_CASE("the destinations of cast_transpose are those that its arguments ask for") {
  const auto dense = [](ElementType type, const Dims& shape) { return TensorView::contiguous(type, shape); };
  const std::vector<TensorView> x{dense(ElementType::bf16, {4, 6, 8})};
  using enum ElementType;
  CHECK(destinations_of("cast_transpose", x, {}) ==
        std::vector{dense(e4m3, {4, 6, 8}), dense(e4m3, {4, 8, 6}), dense(f32, {})});
  CHECK(destinations_of("cast_transpose", x, {{"orders", "plain"}, {"to", "f16"}}) ==
        std::vector{dense(f16, {4, 6, 8}), dense(f32, {})});
  CHECK(destinations_of("cast_transpose", x, {{"orders", "transposed"}, {"amax", "no"}}) ==
        std::vector{dense(e4m3, {4, 8, 6})});
  const std::vector<TensorView> row{dense(bf16, {8})};
  CHECK_THROWS_MATCHES(destinations_of("cast_transpose", row, {}), Error,
                       MessageMatches(ContainsSubstring("x has 1 dimension; legal are 2 or more")));
  const std::vector<Tensor> to{{dense(e5m2, {4, 6}), 1 << 20}};
  CHECK_THROWS_MATCHES(make_operation("cast_transpose", to, {Tensor{dense(f32, {4, 6}), 1 << 16}},
                                      {{"orders", "plain"}, {"amax", "no"}, {"to", "i8"}}),
                       Error,
                       MessageMatches(ContainsSubstring("to is i8, but destination 0 has elements of e5m2")));
}

TEST_CASE("the destinations of top_k have k elements along the axis") {
  const auto dense = [](ElementType type, const Dims& shape) { return TensorView::contiguous(type, shape); };
  using enum ElementType;
  const std::vector<TensorView> x{dense(bf16, {4, 6, 8})};
  const Arguments three{{"k", std::int64_t{3}}};
  const auto with = [&](std::string_view name, const auto& value) {
    Arguments arguments = three;
    arguments.set(name, value);
    return arguments;
  };
  CHECK(destinations_of("top_k", x, three) == std::vector{dense(bf16, {4, 6, 3}), dense(i64, {4, 6, 3})});
  CHECK(destinations_of("top_k", x, with("index", std::string("no"))) == std::vector{dense(bf16, {4, 6, 3})});
  Arguments first = with("axis", std::int64_t{-3});
  first.set("index", std::string("i32"));
  CHECK(destinations_of("top_k", x, first) == std::vector{dense(bf16, {3, 6, 8}), dense(i32, {3, 6, 8})});
  const auto refuses = [&](const auto& call, const char* words) {
    CHECK_THROWS_MATCHES(call(), Error, MessageMatches(ContainsSubstring(words)));
  };
  refuses([&] { return destinations_of("top_k", x, with("axis", std::int64_t{3})); }, "axis 3 of x");
  refuses([&] { return destinations_of("top_k", std::vector{dense(f32, {})}, three); }, "x has no dimension");
  refuses([&] { return destinations_of("top_k", x, with("k", std::int64_t{9})); }, "k = 9 of rows of 8");
  refuses([&] { return destinations_of("top_k", x, with("k", std::int64_t{0})); }, "legal are 1 to 2048");
  const Tensor from{x.front(), 1 << 16};
  const std::vector<Tensor> to{{dense(bf16, {4, 6, 3}), 1 << 20}, {dense(i64, {4, 6, 3}), 1 << 21}};
  CHECK(make_operation("top_k", to, {from}, three).moves.size() == 2);
  refuses([&] { return make_operation("top_k", to, {from}, with("k", std::int64_t{2})); },
          "k = 2, but values has 3 elements");
  refuses([&] { return make_operation("top_k", to, {from}, with("index", std::string("i32"))); },
          "index is i32, but destination 1 has elements of i64");
  refuses([&] { return make_operation("top_k", to, {from}, with("index", std::string("no"))); },
          "2 destinations; needed is 1: values");
  refuses([&] { return make_operation("top_k", std::span(to).first(1), {from}, three); },
          "1 destination; needed are 2: values, index");
  refuses([&] { return operation::top_k({}, from); }, "0 destinations; top_k needs 1 or 2");
}

TEST_CASE("the destinations of indexed operations have the indices' dimensions") {
  const auto dense = [](ElementType type, const Dims& shape) { return TensorView::contiguous(type, shape); };
  const TensorView source = dense(ElementType::bf16, {4, 6, 8});
  const auto made = [&](std::string_view operation, const std::vector<TensorView>& index,
                        const Arguments& arguments) {
    std::vector<TensorView> sources{source};
    sources.insert(sources.end(), index.begin(), index.end());
    return destinations_of(operation, sources, arguments).front();
  };
  const auto index = [&](const Dims& shape) { return dense(ElementType::i64, shape); };
  CHECK(made("gather", {index({5, 3})}, {}) == dense(ElementType::bf16, {5, 3, 6, 8}));
  CHECK(made("gather", {index({})}, {{"axes", Dims{-2}}}) == dense(ElementType::bf16, {4, 8}));
  CHECK(made("gather", {index({5, 1}), index({2})}, {{"axes", Dims{1, 2}}}) ==
        dense(ElementType::bf16, {4, 5, 2}));
  CHECK(made("gather", {index({4, 9, 1})}, {{"axes", Dims{1}}, {"along", "yes"}}) ==
        dense(ElementType::bf16, {4, 9, 8}));
  // A scatter has room for as many elements as its indices can select.
  CHECK(made("scatter", {index({4})}, {}) == source);
  CHECK(made("scatter", {index({4, 6})}, {}) == dense(ElementType::bf16, {24, 8}));
  CHECK(made("scatter_add", {index({6}), index({6})}, {{"axes", Dims{1, 2}}}) ==
        dense(ElementType::bf16, {4, 6, 1, 8}));
  CHECK(made("scatter", {index({4, 6, 1})}, {{"axes", Dims{0}}, {"along", "yes"}}) == source);
  const Arguments flat{{"axes", Dims{0, 1}}, {"flat", "yes"}};
  CHECK(made("gather", {index({5, 3})}, flat) == dense(ElementType::bf16, {5, 3, 8}));
  // An expression's value has the type that a map's would have.
  const TensorView number = tmajit::number(2.0F).view;
  CHECK(made("gather", {index({5, 3})}, {{"expression", "x + 1"}}) == dense(ElementType::bf16, {5, 3, 6, 8}));
  CHECK(made("gather", {index({5}), number}, {{"expression", "double(x) * p0"}}) ==
        dense(ElementType::bf16, {5, 6, 8}));
  CHECK(destinations_of("gather", std::vector{dense(ElementType::i16, {4}), index({5}), number},
                        {{"expression", "x * p0"}})
            .front() == dense(ElementType::f32, {5}));
  CHECK(made("gather_sum", {index({5, 3})}, {}) == dense(ElementType::bf16, {5, 6, 8}));
  CHECK(made("gather_sum", {index({3})}, {{"axes", Dims{-1}}}) == dense(ElementType::bf16, {4, 6}));
  CHECK(made("gather_sum", {index({5, 3})}, flat) == dense(ElementType::bf16, {5, 8}));
  const auto sum_of = [&](ElementType type, std::optional<ElementType> weights) {
    std::vector<TensorView> sources{dense(type, {4}), index({3})};
    if (weights) sources.push_back(dense(*weights, {3}));
    return destinations_of("gather_sum", sources, {}).front().type;
  };
  CHECK(sum_of(ElementType::bf16, ElementType::f32) == ElementType::bf16);
  CHECK(sum_of(ElementType::e4m3, std::nullopt) == ElementType::f32);
  CHECK(sum_of(ElementType::i8, std::nullopt) == ElementType::i64);
  CHECK(sum_of(ElementType::u16, ElementType::bf16) == ElementType::f32);
  CHECK(sum_of(ElementType::u16, ElementType::f64) == ElementType::f64);
  const auto error = [&](const std::string& words) { return MessageMatches(ContainsSubstring(words)); };
  CHECK_THROWS_MATCHES(made("gather_sum", {index({5, 3})}, {{"axes", Dims{0, 1}}}), Error,
                       error("needed: one, and one axis unless the axes are flat"));
  CHECK_THROWS_MATCHES(made("gather_sum", {index({})}, {}), Error,
                       error("at least 1: the last one is summed"));
  CHECK_THROWS_MATCHES(made("gather_sum", {index({5, 3}), index({5, 3})}, {}), Error,
                       error("the weights: type: i64; needed: a floating-point type"));
  CHECK_THROWS_MATCHES(made("gather_sum", {index({5, 3}), dense(ElementType::f32, {3})}, {}), Error,
                       error("the weights: shape: 3; needed: 5x3"));
  const Arguments bags{{"ragged", "yes"}};
  CHECK(made("gather_sum", {index({7}), index({4})}, bags) == dense(ElementType::bf16, {3, 6, 8}));
  CHECK(made("gather_sum", {index({7}), dense(ElementType::f32, {7}), index({1})}, bags) ==
        dense(ElementType::bf16, {0, 6, 8}));
  CHECK_THROWS_MATCHES(made("gather_sum", {index({7})}, bags), Error,
                       error("1 tensor; needed: an index tensor, weights or none, and offsets"));
  CHECK_THROWS_MATCHES(made("gather_sum", {index({7, 2}), index({4})}, bags), Error,
                       error("the index tensor: dimensions: 2; needed: 1"));
  CHECK_THROWS_MATCHES(made("gather_sum", {index({7}), index({2, 2})}, bags), Error,
                       error("the offsets: shape: 2x2; needed: one dimension"));
  CHECK_THROWS_MATCHES(made("gather_sum", {index({7}), index({0})}, bags), Error,
                       error("the offsets: shape: 0; needed: one dimension"));
  CHECK_THROWS_MATCHES(made("gather_sum", {index({7}), dense(ElementType::u64, {4})}, bags), Error,
                       error("the offsets: type: u64; needed: a signed integer"));
  CHECK_THROWS_MATCHES(made("gather", {index({5}), index({5})}, flat), Error,
                       error("one for all axes together, because they are flat"));
  CHECK_THROWS_MATCHES(made("gather", {index({4, 6, 8})}, {{"along", "yes"}, {"flat", "yes"}}), Error,
                       error("along and flat"));
  CHECK_THROWS_MATCHES(made("gather", {index({5})}, {{"axes", Dims{3}}}), Error,
                       error("indexed axes: 3; needed: different neighbours"));
  CHECK_THROWS_MATCHES(made("gather", {index({5}), index({5})}, {{"axes", Dims{0, 2}}}), Error,
                       error("indexed axes: 0,2"));
  CHECK_THROWS_MATCHES(made("gather", {index({5})}, {{"axes", Dims{0, 1}}}), Error,
                       error("1 tensor for 2 indexed dimensions"));
  CHECK_THROWS_MATCHES(made("gather", {dense(ElementType::f32, {5})}, {}), Error,
                       error("the index tensor: type: f32; needed: integers of 4 or 8 bytes"));
  CHECK_THROWS_MATCHES(made("gather", {index({5}), dense(ElementType::i32, {5})}, {{"axes", Dims{0, 1}}}),
                       Error, error("index tensor 1: type: i32; needed: i64"));
  CHECK_THROWS_MATCHES(made("gather", {index({5}), index({4})}, {{"axes", Dims{0, 1}}}), Error,
                       error("index tensor 1: shape: 4; needed: a shape that can be broadcast to 5"));
  CHECK_THROWS_MATCHES(made("gather", {index({5})}, {{"along", "yes"}}), Error,
                       error("1 tensor, the first with 1 dimension; needed: one, of the rank of the source"));
  CHECK_THROWS_MATCHES(made("scatter", {index({1, 1, 1, 1})}, {}), Error,
                       error("the source needs the dimensions of the indices"));
}

TEST_CASE("the destinations of moe_permute have room for the padding of all experts") {
  const auto dense = [](ElementType type, const Dims& shape) { return TensorView::contiguous(type, shape); };
  const auto made = [&](const Dims& x, const Dims& experts, std::int64_t count, std::int64_t alignment) {
    return destinations_of("moe_permute",
                           std::vector{dense(ElementType::bf16, x), dense(ElementType::i64, experts)},
                           {{"count", count}, {"alignment", alignment}});
  };
  using enum ElementType;
  CHECK(made({10, 4, 6}, {10, 2}, 5, 8) ==
        std::vector{dense(bf16, {56, 4, 6}), dense(i32, {10, 2}), dense(i32, {5}), dense(i32, {6})});
  CHECK(made({3, 4}, {3}, 100, 8)[0] == dense(bf16, {24, 4}));
  CHECK(made({0, 4}, {0, 8}, 5, 128)[0] == dense(bf16, {0, 4}));
  const auto error = [&](const std::string& words) { return MessageMatches(ContainsSubstring(words)); };
  CHECK_THROWS_MATCHES(made({10}, {10, 2}, 5, 1), Error, error("x of shape 10 and experts of shape 10x2"));
  CHECK_THROWS_MATCHES(made({10, 4}, {9, 2}, 5, 1), Error, error("legal are tokens x a row"));
  CHECK_THROWS_MATCHES(made({10, 4}, {10, 2, 1}, 5, 1), Error, error("tokens x slots or tokens"));
  CHECK_THROWS_MATCHES(made({10, 4}, {10, 2}, 5, 0), Error, error("an alignment of 0 rows"));
  CHECK_THROWS_MATCHES(made({10, 4}, {10, 2}, 0, 1), Error, error("0 experts; legal are 1 to 4096"));
  CHECK_THROWS_MATCHES(made({10, 4}, {10, 2}, 4097, 1), Error, error("4097 experts; legal are 1 to 4096"));
  CHECK_THROWS_MATCHES(made({1 << 20, 4}, {1 << 20, 8}, 4096, 1 << 20), Error,
                       error("the most is 2147483647"));
  const Tensor x{dense(f32, {4, 8}), 1 << 20};
  const Tensor experts{dense(i32, {4}), 2 << 20};
  const std::vector<Tensor> to{{dense(f32, {4, 8}), 3 << 20},
                               {dense(i32, {4}), 4 << 20},
                               {dense(i32, {3}), 5 << 20},
                               {dense(i32, {4}), 6 << 20}};
  CHECK(make_operation("moe_permute", to, {x, experts}, {{"count", std::int64_t{3}}}).moves.size() == 4);
  CHECK_THROWS_MATCHES(make_operation("moe_permute", to, {x, experts}, {{"count", std::int64_t{4}}}), Error,
                       error("counts of 3 elements for 4 experts"));
  CHECK_THROWS_MATCHES(operation::moe_permute({to[0]}, x, experts), Error,
                       error("1 destination; moe_permute needs 4"));
}

TEST_CASE("an operation created by name equals the one that its function creates") {
  const Tensor from{TensorView::contiguous(ElementType::f32, {4, 6}), 0x10000};
  for (const OperationInfo& info : operations()) {
    INFO(info.name);
    if (info.name == "convolution" || info.name == "im2col" || info.name == "split" || info.has_indices ||
        !info.sources.empty())
      continue;  // these need sources of other shapes; recipes_test.cpp has the recipes
    if (info.name == "top_k") continue;           // it has two destinations
    if (info.name == "cast_transpose") continue;  // it has no bytes to convert
    Arguments arguments = examples_of(info);
    if (info.name == "permute") arguments.set("axes", Dims{1, 0});
    if (info.name == "slice") arguments.set("slices", std::vector<Slice>{{0, 2, 1}});
    if (arguments.has("axes") && info.name != "permute") arguments.set("axes", Dims{0});
    if (info.name == "broadcast") arguments.set("shape", Dims{3, 4, 6});
    if (info.name == "pad") arguments.set("widths", PadWidths{{1, 1}, {2, 2}});
    const std::vector<TensorView> views = destinations_of(info.name, std::vector{from.view}, arguments);
    std::vector<Tensor> to;
    to.reserve(views.size());
    for (const TensorView& view : views) to.push_back({view, 0x80000});
    const Operation made = make_operation(info.name, to, {from}, arguments);
    CHECK(made.moves.size() == 1);
    CHECK(made.destinations.size() == 1);
    CHECK(made.sources == std::vector{from});  // the given source, even if a move reads only a view of it
    CHECK(made.moves.front().destination.view == views.front());
    CHECK(reference::understands(made.moves.front()));
  }
}

TEST_CASE("every name of an enumeration is a choice of its argument") {
  const auto check = [](std::string_view operation, std::string_view argument, const auto& all) {
    const auto choices = find_operation(operation).find_argument(argument)->choices;
    INFO(operation << " " << argument);
    CHECK(choices.size() == all.size());
    for (const auto one : all) CHECK(std::ranges::find(choices, name(one)) != choices.end());
  };
  check("tiles", "op", all_combine_ops);
  check("reduce_into", "op", all_combine_ops);
  check("cast_transpose", "orders", all_cast_orders);
  for (const char* const indexed : {"gather", "scatter", "scatter_add", "gather_sum"})
    check(indexed, "out_of_range", all_out_of_range);
  check("tiles", "swizzle", std::array{Swizzle::none, Swizzle::b32, Swizzle::b64, Swizzle::b128});
  check("tiles", "interleave", std::array{Interleave::none, Interleave::b16, Interleave::b32});
  check("tiles", "oob", std::array{OobFill::zero, OobFill::nan});
  check("tiles", "l2", std::array{L2Promotion::none, L2Promotion::b64, L2Promotion::b128, L2Promotion::b256});
  std::vector<std::string_view> families_with_tiles;
  for (const FamilyInfo& family : families()) {
    if (family.does("tiles")) families_with_tiles.push_back(family.name);
  }
  const auto choices = find_operation("tiles").find_argument("family")->choices;
  CHECK(std::ranges::is_permutation(choices, families_with_tiles));
}
