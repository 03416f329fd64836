// Each rule of fusion, by hand: what the fused operations are, and the sentence for each refusal.
#include <tmajit/error.hpp>
#include <tmajit/fusion.hpp>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

using namespace tmajit;
using Catch::Matchers::ContainsSubstring;
using enum ElementType;

namespace {

/// A dense tensor at an address of its own, by its number.
Tensor dense(std::uint64_t number, const Dims& shape, ElementType type = f32) {
  return Tensor::contiguous(type, shape, (number + 1) << 30);
}

const Move& only_move(const Fusion& fusion) {
  REQUIRE(fusion.operations.size() == 1);
  REQUIRE(fusion.operations.front().moves.size() == 1);
  return fusion.operations.front().moves.front();
}

std::string map_text(const Fusion& fusion) {
  return std::get<Map>(only_move(fusion).body).expression;
}
std::string steps_text(const Fusion& fusion) {
  REQUIRE(fusion.operations.size() == 1);
  return std::get<Rowwise>(fusion.operations.front().moves.front().body).steps;
}

/// The sentences about a chain that is not fused.
std::string obstacle(List<Operation> chain, List<Tensor> unused) {
  const Fusion fusion = fuse(chain, unused);
  CHECK(fusion.operations.size() == chain.size());
  std::string all;
  for (const std::string& sentence : fusion.sentences) all += sentence + '\n';
  return all;
}

const Tensor a = dense(0, {8, 6});
const Tensor b = dense(1, {8, 6});
const Tensor c = dense(2, {8, 6});
const Tensor t = dense(3, {8, 6}, bf16);
const Tensor y = dense(4, {8, 6});
const Tensor row = dense(5, {8});

}  // namespace

TEST_CASE("a map is computed where its readers load elements, rounded to the intermediate's type") {
  SECTION("a map") {
    const Fusion fusion =
        fuse({operation::map(t, "x0 * x1", {a, b}), operation::map(y, "x0 + x1 * x", {t, c})}, {t});
    CHECK(map_text(fusion) == "as_bf16(x0 * x1) + x2 * x");
    CHECK(only_move(fusion).sources == std::vector<Tensor>{a, b, c});
    CHECK(
        fusion.sentences ==
        std::vector<std::string>{"operation 0 (map) is fused into operation 1 (map), which computes it where "
                                 "it loads elements."});
  }
  SECTION("equal sources are listed once, numbers last") {
    const Fusion fusion = fuse({operation::map(t, "x * p0", {a, number(2.0F)}),
                                operation::map(y, "x0 + x1 + p0", {t, a, number(3.0F)})},
                               {t});
    CHECK(map_text(fusion) == "as_bf16(x * p0) + x + p1");
    CHECK(only_move(fusion).sources.size() == 3);
    CHECK(only_move(fusion).sources[2].address == number(3.0F).address);
  }
  SECTION("a cast and a reduction") {
    const Fusion fusion = fuse(
        {operation::cast(t, a), operation::reduce(row, {.op = ReductionOp::sum, .axes = {1}}, {t})}, {t});
    CHECK(std::get<Reduction>(only_move(fusion).body).expression == "as_bf16(x)");
  }
  SECTION("a scan") {
    const Fusion fusion =
        fuse({operation::map(t, "x + 1", {a}), operation::scan(y, {.expression = "x * x"}, {t})}, {t});
    CHECK(std::get<Scan>(only_move(fusion).body).expression == "as_bf16(x + 1) * as_bf16(x + 1)");
  }
  SECTION("the steps of rows") {
    const Fusion fusion = fuse({operation::map(t, "x0 * x1", {a, b}),
                                operation::rowwise({y}, {.steps = "v0 = max(x); y = expf(x - v0)"}, {t})},
                               {t});
    CHECK(steps_text(fusion) == "v1 = as_bf16(x0 * x1); v0 = max(v1); y = expf(v1 - v0)");
  }
  SECTION("a view of the map's destination") {
    const Tensor wide = dense(6, {6, 4, 2});
    const Tensor turned = permuted(reshaped(t, {4, 2, 6}), {2, 0, 1});
    const Fusion fusion =
        fuse({operation::map(t, "x * 2", {a}), operation::map(wide, "x + 1", {turned})}, {t});
    CHECK(only_move(fusion).sources.front() == permuted(reshaped(a, {4, 2, 6}), {2, 0, 1}));
  }
  SECTION("two readers, if they load no more bytes") {
    const Tensor z = dense(6, {8, 6});
    const std::vector<Operation> chain{operation::map(t, "x * 2", {a}), operation::map(y, "x + 1", {t}),
                                       operation::map(z, "x + 2", {t})};
    CHECK(fuse(chain, {{t}}).operations.size() == 2);
    const std::vector<Operation> larger{operation::map(t, "x0 + x1 + x2", {a, b, c}), chain[1], chain[2]};
    CHECK_THAT(obstacle(larger, {{t}}), ContainsSubstring("as 2 operations read the result"));
  }
  SECTION("coordinates, if both have the same") {
    const std::vector<Operation> chain{operation::map(t, "float(g[0])", {}),
                                       operation::map(y, "x + g[1]", {t})};
    CHECK(map_text(fuse(chain, {{t}})) == "as_bf16(float(g[0])) + g[1]");
    const Tensor flipped_t = flipped(t, 0);
    CHECK_THAT(obstacle({chain[0], operation::map(y, "x", {flipped_t})}, {t}),
               ContainsSubstring("the coordinates g would be those of other elements"));
    CHECK_THAT(obstacle({chain[0], operation::map(dense(6, {4, 12}), "x", {reshaped(t, {4, 12})})}, {t}),
               ContainsSubstring("the coordinates g would be those of other elements"));
    CHECK_THAT(obstacle({operation::map(t, "x + g[0]", {a}),
                         operation::reduce(row, {.op = ReductionOp::sum, .axes = {1}}, {t})},
                        {t}),
               ContainsSubstring("as reduce knows no coordinates g"));
  }
}

TEST_CASE("rows read a permuted source directly only if its elements stay neighbours") {
  const Tensor turned = dense(6, {6, 8}, f32);
  const auto softmax_after = [&](const Tensor& source) {
    const Operation rows = operation::rowwise({dense(7, {6, 8})}, {.steps = "y = x - max(x)"}, {turned});
    return fuse({operation::copy(turned, source), rows}, {turned});
  };
  CHECK(softmax_after(permuted(a, {1, 0})).operations.size() == 2);
  CHECK_THAT(softmax_after(permuted(a, {1, 0})).sentences.front(),
             ContainsSubstring("as it would load elements that are not neighbours in memory"));
  CHECK(softmax_after(flipped(dense(8, {6, 8}), 0)).operations.size() == 1);
}

TEST_CASE("a map of the results of a reduction is its epilogue, one of rows a further step") {
  const Tensor sum = dense(6, {8}, f16);
  SECTION("an epilogue, and a cast") {
    const Operation reduce = operation::reduce(sum, {.op = ReductionOp::sum, .axes = {1}}, {a});
    const Fusion fusion = fuse({reduce, operation::map(row, "sqrtf(x)", {sum})}, {sum});
    CHECK(std::get<Reduction>(only_move(fusion).body).epilogue == "sqrtf(as_f16(x))");
    CHECK(only_move(fusion).destination == row);
    CHECK(fusion.sentences.front() ==
          "operation 1 (map) is fused into operation 0 (reduce), which is its epilogue.");
    CHECK_THAT(obstacle({reduce, operation::map(row, "x0 * x1", {sum, dense(7, {8})})}, {sum}),
               ContainsSubstring("the epilogue of a reduction reads no other tensor"));
  }
  SECTION("an epilogue with numbers, which follow those of the reduction") {
    const Fusion fusion =
        fuse({operation::map(t, "x * p0", {a, number(2.0F)}),
              operation::reduce(sum, {.op = ReductionOp::sum, .axes = {1}, .epilogue = "x + p0"},
                                {t, number(3.0F)}),
              operation::map(row, "x * p1 - p0", {sum, number(4.0F), number(5.0F)})},
             {t, sum});
    const Move& move = only_move(fusion);
    CHECK(std::get<Reduction>(move.body).expression == "as_bf16(x * p0)");
    CHECK(std::get<Reduction>(move.body).epilogue == "as_f16(x + p1) * p3 - p2");
    REQUIRE(move.sources.size() == 5);
    for (std::size_t k = 1; k < 5; ++k)
      CHECK(move.sources[k].address == number(static_cast<float>(k + 1)).address);
  }
  const Operation softmax =
      operation::rowwise({t}, {.steps = "m = max(x); e = expf(x - m); y = e / sum(e)"}, {a});
  SECTION("a step with a further source") {
    const Fusion fusion = fuse({softmax, operation::map(y, "x0 * x1", {t, b})}, {t});
    CHECK(steps_text(fusion) == "m = max(x0); e = expf(x0 - m); v0 = e / sum(e); y0 = as_bf16(v0) * x1");
    CHECK(only_move(fusion).destination == y);
  }
  SECTION("results that are read elsewhere are stored, too") {
    const Fusion fusion = fuse({softmax, operation::map(y, "x * 2", {t})}, {});
    CHECK(steps_text(fusion) == "m = max(x); e = expf(x - m); y0 = e / sum(e); y1 = as_bf16(y0) * 2");
    CHECK(fusion.operations.front().destinations == std::vector<Tensor>{t, y});
  }
  SECTION("a recipe") {
    const Fusion fusion = fuse(
        {operation::map(t, "x * 0.5f", {a}), operation::softmax({b}, {t}), operation::cast(y, b)}, {t, b});
    CHECK(fusion.operations.size() == 1);
    CHECK(only_move(fusion).sources == std::vector<Tensor>{a});
  }
  SECTION("a scan's results are cast if they lose nothing before") {
    const Tensor half = dense(7, {8, 6}, f16);
    CHECK(only_move(fuse({operation::scan(b, {}, {a}), operation::cast(half, b)}, {b})).destination == half);
    CHECK_THAT(obstacle({operation::scan(t, {}, {a}), operation::cast(half, t)}, {t}),
               ContainsSubstring("rounded to bf16 before the cast"));
    CHECK_THAT(obstacle({operation::scan(b, {}, {a}), operation::map(y, "x * 2", {b})}, {b}),
               ContainsSubstring("a scan has no epilogue"));
  }
}

TEST_CASE("copies of views are fused with what reads or writes them") {
  const Tensor turned = dense(6, {6, 8});
  SECTION("before any reader") {
    const Operation permute = operation::permute(turned, a, {1, 0});
    const Tensor column = dense(7, {6});
    const Fusion fusion =
        fuse({permute, operation::reduce(column, {.op = ReductionOp::max, .axes = {1}}, {turned})}, {turned});
    CHECK(only_move(fusion).sources.front() == permuted(a, {1, 0}));
    CHECK(
        fuse({permute, operation::pad(dense(7, {8, 10}), turned, {{1, 1}, 2})}, {turned}).operations.size() ==
        1);
  }
  SECTION("after a producer") {
    const Operation scan = operation::scan(b, {}, {a});
    CHECK(only_move(fuse({scan, operation::permute(turned, b, {1, 0})}, {b})).destination ==
          permuted(turned, {1, 0}));
    CHECK(only_move(fuse({scan, operation::copy(y, flipped(b, 1))}, {b})).destination == flipped(y, 1));
    const Tensor half = dense(7, {4, 6});
    CHECK_THAT(obstacle({scan, operation::copy(half, sliced(b, {{.start = 4}}))}, {b}),
               ContainsSubstring("it does not read each result once"));
    CHECK(map_text(fuse({operation::map(b, "x * 2", {a}), operation::copy(half, sliced(b, {{.start = 4}}))},
                        {b})) == "x * 2");
  }
  SECTION("parts of a concatenation are written where they go") {
    const Tensor whole = dense(7, {16, 6});
    const Fusion fusion = fuse({operation::scan(b, {}, {a}), operation::concat(whole, {b, c}, 0)}, {b});
    REQUIRE(fusion.operations.size() == 2);
    CHECK(fusion.operations[0].destinations.front() == sliced(whole, {{.stop = 8}}));
  }
}

TEST_CASE("a map is the expression of a gather of its results, rounded to the intermediate's type") {
  const Tensor places = dense(7, {5}, i32);
  const Operation doubled = operation::map(t, "x * p0", {a, number(2.0F)});
  const auto gather_of = [](const Fusion& fusion) { return std::get<Gather>(only_move(fusion).body); };
  SECTION("bits are moved after it") {
    const Tensor taken = dense(8, {5, 6}, bf16);
    const Fusion fusion = fuse({doubled, operation::gather(taken, t, {places}, {.value = 3})}, {t});
    CHECK((gather_of(fusion).expression == "x * p0" && gather_of(fusion).value == 3));
    REQUIRE(only_move(fusion).sources.size() == 3);
    CHECK((only_move(fusion).sources[0] == a && only_move(fusion).sources[1] == places));
    CHECK(only_move(fusion).sources[2].address == number(2.0F).address);
    CHECK(fusion.sentences.front() ==
          "operation 0 (map) is fused into operation 1 (gather), which computes it where it loads elements.");
  }
  SECTION("a further expression, of a view, and an index tensor that is given twice") {
    const Tensor taken = dense(8, {5}, f64);
    const Gather what{.axes = {0, 1}, .expression = "x + p0 * p1"};
    const Operation gather =
        operation::gather(taken, permuted(t, {1, 0}), {places, places, number(5.0F), number(7.0F)}, what);
    const Fusion fusion = fuse({doubled, gather}, {t});
    CHECK(gather_of(fusion).expression == "as_bf16(x * p0) + p1 * p2");
    REQUIRE(only_move(fusion).sources.size() == 6);
    CHECK(only_move(fusion).sources[0] == permuted(a, {1, 0}));
    CHECK((only_move(fusion).sources[1] == places && only_move(fusion).sources[2] == places));
    CHECK(only_move(fusion).sources[3].address == number(2.0F).address);
    CHECK(only_move(fusion).sources[5].address == number(7.0F).address);
  }
  SECTION("maps that are no expression of one element") {
    const auto refused = [&](const Operation& map, const Gather& what = {}, ElementType type = bf16) {
      return obstacle({map, operation::gather(dense(8, {5, 6}, type), t, {places}, what)}, {t});
    };
    CHECK_THAT(refused(operation::map(t, "x0 * x1", {a, b})), ContainsSubstring("reads one tensor"));
    CHECK_THAT(refused(operation::map(t, "p0", {number(2.0F)})), ContainsSubstring("reads one tensor"));
    CHECK_THAT(refused(operation::map(t, "x + g[0]", {a})), ContainsSubstring("knows no coordinates g"));
    CHECK_THAT(refused(doubled, {}, i16), ContainsSubstring("as elements of another type"));
    const Operation gather = operation::gather(dense(8, {400, 6}, bf16), t, {dense(7, {400}, i32)});
    CHECK_THAT(obstacle({doubled, gather}, {t}), ContainsSubstring("selects so many elements"));
    const Operation index = operation::map(places, "x + 1", {dense(9, {5}, i32)});
    CHECK_THAT(obstacle({index, operation::gather(dense(8, {5, 6}), a, {places})}, {places}),
               ContainsSubstring("no expression of its index tensors"));
  }
}

TEST_CASE("results that are padded are stored into the interior, and fills write the border") {
  const Tensor wide = dense(8, {10, 7});
  const Operation pad = operation::pad(wide, b, {.before = {1, 0}, .value = -1.5});
  const Tensor interior = sliced(wide, {{.start = 1, .stop = 9}, {.start = 0, .stop = 6}});
  const auto check = [&](const Operation& producer) {
    const Fusion fusion = fuse({producer, pad}, {b});
    REQUIRE(fusion.operations.size() == 2);
    CHECK(fusion.operations[0].destinations == std::vector<Tensor>{interior});
    const std::vector<Move>& border = fusion.operations[1].moves;
    // Both sides of one row are one tensor.
    REQUIRE(border.size() == 2);
    CHECK(border[0].destination == Tensor::strided(f32, {1, 7, 2}, {7, 1, 63}, wide.address));
    CHECK(border[1].destination == sliced(wide, {{.start = 1, .stop = 9}, {.start = 6}}));
    for (const Move& side : border) CHECK(std::get<Map>(side.body).expression == "-1.5");
    CHECK_THAT(fusion.sentences.front(),
               ContainsSubstring("which stores into the interior of the pad's destination; the border is"));
  };
  check(operation::map(b, "x0 * x1 + g[1]", {a, c}));
  check(operation::scan(b, {}, {a}));
  check(operation::rowwise({b}, {.steps = "y = x - max(x)"}, {a}));
  check(operation::reduce(b, {.op = ReductionOp::sum, .axes = {1}}, {dense(9, {8, 3, 6})}));
  const Operation doubled = operation::map(b, "x * 2", {a});
  SECTION("a permuted result, without a border") {
    const Tensor turned = dense(8, {6, 8});
    const Fusion fusion = fuse({doubled, operation::pad(turned, permuted(b, {1, 0}), {{0, 0}, 1})}, {b});
    CHECK(only_move(fusion).destination == permuted(turned, {1, 0}));
  }
  SECTION("infinities and NaN") {
    const double infinity = std::numeric_limits<double>::infinity();
    const auto text = [&](double value) {
      const Fusion fusion = fuse({doubled, operation::pad(dense(8, {9, 6}), b, {{1, 0}, value})}, {b});
      return std::get<Map>(fusion.operations.at(1).moves.front().body).expression;
    };
    CHECK((text(-infinity) == "-INFINITY" && text(std::nan("")) == "NAN" && text(0) == "0.0"));
  }
  SECTION("pads that are not fused") {
    CHECK_THAT(obstacle({doubled, operation::pad(dense(8, {7, 6}), b, {{-1, 0}, 0})}, {b}),
               ContainsSubstring("the pad crops its source"));
    CHECK_THAT(obstacle({doubled, operation::pad(dense(8, {16, 6}), b, {{4, 0}, 0})}, {b}),
               ContainsSubstring("as many elements as the interior"));
    CHECK_THAT(obstacle({operation::rowwise({b}, {.steps = "y = x - max(x)"}, {a}), pad}, {}),
               ContainsSubstring("its source is stored, too"));
    CHECK_THAT(obstacle({doubled, pad}, {}), ContainsSubstring("is not listed as unused"));
    CHECK_THAT(obstacle({doubled, pad, operation::map(y, "x", {b})}, {b}),
               ContainsSubstring("pad computes no expression of its source"));
    CHECK_THAT(obstacle({operation::stencil(b, "x(0, 1)", {a}), pad}, {b}),
               ContainsSubstring("stencil computes no results of pad"));
  }
}

TEST_CASE("a map of a gather's results is its expression, if no value is stored for absent elements") {
  const Tensor places = dense(7, {8}, i32);
  const Gather clamped{.out_of_range = OutOfRange::clamp};
  const Operation gather = operation::gather(b, a, {places}, clamped);
  const auto expression = [](const Fusion& fusion) {
    return std::get<Gather>(only_move(fusion).body).expression;
  };
  const Fusion fusion = fuse({gather, operation::map(t, "x * p0 + x0", {b, number(2.0F)})}, {b});
  CHECK(expression(fusion) == "x * p0 + x");
  CHECK(only_move(fusion).destination == t);
  CHECK(only_move(fusion).sources.size() == 3);
  CHECK(fusion.sentences.front() ==
        "operation 1 (map) is fused into operation 0 (gather), which stores its expression.");
  Gather computes = clamped;
  computes.expression = "x + p0";
  const Operation first = operation::gather(t, a, {places, number(3.0F)}, computes);
  CHECK(expression(fuse({first, operation::map(y, "x * p0", {t, number(2.0F)})}, {t})) ==
        "as_bf16(x + p0) * p1");
  // Zeros in place of absent elements may be cast.
  const Operation skips = operation::gather(b, a, {places});
  CHECK(expression(fuse({skips, operation::cast(t, b)}, {b})) == "x");
  CHECK_THAT(obstacle({skips, operation::map(t, "x + 1", {b})}, {b}),
             ContainsSubstring("to which no expression is applied"));
  CHECK_THAT(obstacle({operation::gather(b, a, {places}, {.value = 2}), operation::cast(t, b)}, {b}),
             ContainsSubstring("to which no expression is applied"));
  CHECK_THAT(obstacle({gather, operation::map(t, "x0 + x1", {b, c})}, {b}),
             ContainsSubstring("reads one tensor"));
  CHECK_THAT(obstacle({gather, operation::map(t, "x + g[1]", {b})}, {b}),
             ContainsSubstring("knows no coordinates g"));
  CHECK_THAT(obstacle({operation::gather(b, reinterpreted(a, i32), {places}, clamped),
                       operation::map(t, "x + 1", {b})},
                      {b}),
             ContainsSubstring("moves the bits of another type"));
}

TEST_CASE("operations are not fused if that would change results, or save nothing") {
  const Operation doubled = operation::map(t, "x * 2", {a});
  const Operation added = operation::map(y, "x + 1", {t});
  CHECK_THAT(obstacle({doubled, added}, {}), ContainsSubstring("is not listed as unused"));
  CHECK_THAT(obstacle({doubled, operation::map(a, "x", {c}), added}, {t}),
             ContainsSubstring("a source of the first is overwritten before the second reads it"));
  CHECK_THAT(
      obstacle({doubled, operation::map(sliced(t, {{.stop = 2}}), "x", {sliced(c, {{.stop = 2}})}), added},
               {t}),
      ContainsSubstring("a later operation overwrites the intermediate tensor"));
  CHECK_THAT(obstacle({doubled, operation::map(t, "x + 1", {t})}, {t}),
             ContainsSubstring("a later operation overwrites the intermediate tensor"));
  CHECK_THAT(obstacle({operation::map(t, "x * 2", {t}), added}, {t}), ContainsSubstring("it works in place"));
  CHECK_THAT(obstacle({doubled, operation::map(y, "x", {reinterpreted(t, i16)})}, {t}),
             ContainsSubstring("as elements of another type"));
  std::vector<Tensor> many;
  for (std::uint64_t k = 0; k < 7; ++k) many.push_back(dense(10 + k, {8, 6}));
  const std::string sum = "x0 + x1 + x2 + x3 + x4 + x5 + x6";
  const std::vector<Tensor> unused{t};
  const std::vector<Operation> wide{operation::map(t, sum, many),
                                    operation::map(y, "x0 + x1 + x2", {t, b, c})};
  CHECK_THAT(obstacle(wide, unused), ContainsSubstring("both have 9 sources; at most 8 are possible"));
  const std::string power = "x" + std::string(100, ' ') + "* x";
  CHECK_THAT(obstacle({operation::map(t, power, {a}), operation::map(y, "x*x*x*x*x*x*x*x*x*x*x", {t})}, {t}),
             ContainsSubstring("at most 1023 are possible"));
  CHECK_THAT(
      obstacle({operation::map(t, "x + n", {a}), operation::rowwise({y}, {.steps = "y = x"}, {t})}, {t}),
      ContainsSubstring("n has another meaning in the steps"));
  CHECK_THROWS_AS(fuse({operation::map(y, "x", {sliced(y, {{.start = 1}})})}, {}), Error);
}

TEST_CASE("operations without a common tensor remain as they are, and chains of none are empty") {
  CHECK(fuse({}, {}).operations.empty());
  const Fusion fusion =
      fuse({operation::concat(dense(6, {16, 6}), {a, b}, 0), operation::map(y, "x", {c})}, {});
  CHECK(fusion.operations.size() == 2);
  CHECK(fusion.sentences.empty());
  CHECK(fusion.operations.front().moves.size() == 2);
}
