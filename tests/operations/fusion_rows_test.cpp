// Reductions that are broadcast back to their elements, by hand: the steps of the one kernel, and the
// sentence for each refusal.
#include <tmajit/error.hpp>
#include <tmajit/fusion.hpp>

#include <string>
#include <vector>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

using namespace tmajit;
using Catch::Matchers::ContainsSubstring;
using enum ElementType;

namespace fusion_rows_test {

Tensor dense(std::uint64_t number, const Dims& shape, ElementType type = f32) {
  return Tensor::contiguous(type, shape, (number + 1) << 34);
}

/// The one kernel of a fused chain.
struct Rows {
  std::string steps;
  Dims axes;
  std::vector<Tensor> destinations;
  std::vector<Tensor> sources;
};
Rows rows_of(List<Operation> chain, List<Tensor> unused) {
  const Fusion fusion = fuse(chain, unused);
  for (const std::string& sentence : fusion.sentences) UNSCOPED_INFO(sentence);
  REQUIRE(fusion.operations.size() == 1);
  const Operation& only = fusion.operations.front();
  const auto& rows = std::get<Rowwise>(only.moves.front().body);
  return {rows.steps, rows.axes, only.destinations, only.moves.front().sources};
}

std::string sentences_of(List<Operation> chain, List<Tensor> unused) {
  const Fusion fusion = fuse(chain, unused);
  CHECK(fusion.operations.size() == chain.size());
  std::string all;
  for (const std::string& sentence : fusion.sentences) all += sentence + '\n';
  return all;
}

Operation reduction(const Tensor& to, ReductionOp op, const Tensor& from, const std::string& expression = "",
                    const std::string& epilogue = "") {
  return operation::reduce(
      to,
      {.op = op, .axes = {1}, .expression = expression, .epilogue = epilogue, .keep_dims = to.view.rank == 2},
      {from});
}

const Tensor x = dense(0, {8, 6});
const Tensor w = dense(1, {6});
const Tensor y = dense(2, {8, 6});
const Tensor e = dense(3, {8, 6}, bf16);
const Tensor s = dense(4, {8, 1});
const Tensor m = dense(5, {8});
const Tensor each_m = broadcast(reshaped(m, {8, 1}), {8, 6});

TEST_CASE("a map of a reduction's elements and its result is one kernel of rows") {
  const Operation sum = reduction(s, ReductionOp::sum, x);
  SECTION("the result is not stored if nothing else reads it") {
    const std::vector<Operation> chain{sum, operation::map(y, "x0 / x1", {x, s})};
    const Rows rows = rows_of(chain, {s});
    CHECK(rows.steps == "v0 = sum(x); y0 = x / as_f32(v0)");
    CHECK((rows.axes == Dims{1} && rows.sources == std::vector<Tensor>{x}));
    CHECK(rows.destinations == std::vector<Tensor>{y});
    CHECK(fuse(chain, {s}).sentences ==
          std::vector<std::string>{"operation 1 (map) is fused into operation 0 (reduce), as steps of rows, "
                                   "whose elements are loaded once."});
  }
  SECTION("a result that is read elsewhere is a further destination") {
    const Rows rows = rows_of({sum, operation::map(y, "x0 / x1", {x, s})}, {});
    CHECK(rows.steps == "y0 = sum(x); y1 = x / as_f32(y0)");
    CHECK(rows.destinations == std::vector<Tensor>{s, y});
    const Tensor z = dense(6, {8, 6});
    const std::vector<Operation> two{sum, operation::map(y, "x0 / x1", {x, s}),
                                     operation::map(z, "x0 - x1", {x, s})};
    CHECK(rows_of(two, {s}).steps == "v0 = sum(x); y0 = x / as_f32(v0); y1 = x - as_f32(v0)");
  }
  SECTION("an expression, an epilogue and numbers; n keeps the type of the result") {
    const Tensor eps = number(0.5F);
    const Tensor scale = number(2.0F);
    const Operation norm = operation::reduce(
        m, {.op = ReductionOp::sum, .axes = {-1}, .expression = "x * x", .epilogue = "rsqrtf(x / n + p0)"},
        {x, eps});
    const Rows rows = rows_of({norm, operation::map(y, "x0 * x1 * x2 * p0", {x, each_m, w, scale})}, {m});
    CHECK(rows.steps ==
          "v0 = sum(x0 * x0); v1 = rsqrtf(v0 / (1 ? n : v0) + p0); y0 = x0 * as_f32(v1) * x1 * p1");
    REQUIRE(rows.sources.size() == 4);
    CHECK(rows.sources[1] == broadcast(w, {8, 6}));
    CHECK((rows.sources[2].address == eps.address && rows.sources[3].address == scale.address));
  }
  SECTION("the result in another type, elements in another order") {
    const Tensor turned = dense(6, {6, 8});
    const Tensor half = dense(7, {8}, f16);
    const Operation map = operation::map(turned, "x0 - x1", {permuted(x, {1, 0}), broadcast(half, {6, 8})});
    const Rows rows = rows_of({reduction(half, ReductionOp::max, x), map}, {half});
    CHECK(rows.steps == "v0 = max(x); y0 = x - as_f16(v0)");
    CHECK(rows.destinations == std::vector<Tensor>{permuted(turned, {1, 0})});
  }
  SECTION("the index of the greatest element") {
    const Tensor place = dense(6, {8, 1}, i64);
    CHECK(rows_of({reduction(place, ReductionOp::arg_max, x), operation::map(y, "x0 - x1", {x, place})},
                  {place})
              .steps == "v0 = arg_max(x); y0 = x - as_i64(v0)");
  }
  SECTION("dimensions of one element") {
    const Tensor one = dense(6, {1, 6});
    const Tensor sum_of_one = dense(7, {1, 1});
    const Tensor result = dense(8, {1, 6});
    CHECK(rows_of({reduction(sum_of_one, ReductionOp::sum, one),
                   operation::map(result, "x0 / x1", {one, sum_of_one})},
                  {sum_of_one})
              .steps == "v0 = sum(x); y0 = x / as_f32(v0)");
  }
}

TEST_CASE("maps and reductions of one another are one kernel") {
  SECTION("a softmax") {
    const Tensor shifted = dense(6, {8, 6});
    const std::vector<Operation> chain{
        reduction(m, ReductionOp::max, x), operation::map(shifted, "x0 - x1", {x, each_m}),
        operation::map(e, "expf(x)", {shifted}), reduction(s, ReductionOp::sum, e),
        operation::map(y, "x0 / x1", {e, s})};
    const Rows rows = rows_of(chain, {m, shifted, e, s});
    CHECK(
        rows.steps ==
        "v0 = max(x); v1 = x - as_f32(v0); v2 = expf(as_f32(v1)); v3 = sum(as_bf16(v2)); y0 = as_bf16(v2) / "
        "as_f32(v3)");
    CHECK(rows.sources == std::vector<Tensor>{x});
    const Rows with_sums = rows_of(chain, {m, shifted, e});
    REQUIRE(with_sums.destinations.size() == 2);
    CHECK((with_sums.destinations[0].address == s.address && with_sums.destinations[1] == y));
  }
  SECTION("a LayerNorm") {
    const Tensor centred = dense(6, {8, 6});
    const Tensor squares = dense(7, {8, 6});
    const Tensor scale = dense(8, {8, 1});
    const std::vector<Operation> chain{reduction(m, ReductionOp::mean, x),
                                       operation::map(centred, "x0 - x1", {x, each_m}),
                                       operation::map(squares, "x * x", {centred}),
                                       reduction(s, ReductionOp::mean, squares),
                                       operation::map(scale, "rsqrtf(x + 1e-5f)", {s}),
                                       operation::map(y, "x0 * x1 * x2", {centred, scale, w})};
    const Rows rows = rows_of(chain, {m, centred, squares, s, scale});
    CHECK((rows.sources.size() == 2 && rows.destinations == std::vector<Tensor>{y}));
  }
  SECTION("an RMSNorm") {
    const Tensor squares = dense(6, {8, 6});
    const Tensor scale = dense(7, {8, 1});
    CHECK(rows_of({operation::map(squares, "x * x", {x}), reduction(s, ReductionOp::mean, squares),
                   operation::map(scale, "rsqrtf(x + 1e-5f)", {s}),
                   operation::map(y, "x0 * x1 * x2", {x, scale, w})},
                  {squares, s, scale})
              .steps ==
          "v0 = mean(as_f32(x0 * x0)); v1 = rsqrtf(as_f32(v0) + 1e-5f); y0 = x0 * as_f32(v1) * x1");
  }
  SECTION("reductions that do not read each other, and a map of both") {
    CHECK(rows_of({reduction(m, ReductionOp::max, x), reduction(s, ReductionOp::min, x),
                   operation::map(y, "(x0 - x2) / (x1 - x2)", {x, each_m, s})},
                  {m, s})
              .steps == "v1 = min(x); v0 = max(x); y0 = (x - as_f32(v1)) / (as_f32(v0) - as_f32(v1))");
  }
  SECTION("rows that lack a step, whose names are their own") {
    const Operation rows = operation::rowwise({y}, {.steps = "v0 = x0 - x1; y = v0 * sum(v0)"}, {x, s});
    CHECK(rows_of({reduction(s, ReductionOp::max, x), rows}, {s}).steps ==
          "v1 = max(x); v0 = x - as_f32(v1); y0 = v0 * sum(v0)");
    const Operation first = operation::rowwise({e}, {.steps = "m = max(x); y = x - m;"}, {x});
    const Operation second = operation::rowwise({y, m}, {.steps = "m = sum(x); y0 = x / m; y1 = m"}, {e});
    const Rows both = rows_of({first, second}, {e});
    CHECK(both.steps == "m = max(x); v0 = x - m; v1 = sum(as_bf16(v0)); y0 = as_bf16(v0) / v1; y1 = v1");
    CHECK(both.destinations.size() == 2);
  }
  SECTION("a map of two results of the same rows") {
    const Tensor z = dense(6, {8, 6});
    const Operation rows = operation::rowwise({z, e}, {.steps = "y0 = x - max(x); y1 = x * 2"}, {x});
    const Operation map = operation::map(y, "x0 + x1", {z, e});
    CHECK(rows_of({rows, map}, {z, e}).steps == "v0 = x - max(x); v1 = x * 2; y0 = as_f32(v0) + as_bf16(v1)");
    CHECK(rows_of({rows, map}, {z}).steps == "v0 = x - max(x); y0 = x * 2; y1 = as_f32(v0) + as_bf16(y0)");
  }
}

TEST_CASE("reductions and maps that one kernel of rows would not compute faster, or cannot, stay separate") {
  const Operation sum = reduction(s, ReductionOp::sum, x);
  const auto refused = [&](const Operation& second) { return sentences_of({sum, second}, {s}); };
  SECTION("they share no elements") {
    const Tensor z = dense(6, {8, 6});
    CHECK_THAT(
        refused(operation::map(y, "x0 / x1", {z, s})),
        ContainsSubstring(
            "share no tensor with all elements of the rows, so that this would save no pass over memory"));
    CHECK_THAT(refused(operation::map(y, "x0 / x1", {w, s})), ContainsSubstring("would save no pass"));
  }
  SECTION("rows that do not fit on the chip") {
    const auto long_rows = [](std::uint64_t length, const Dims& axes) {
      const bool down = axes[0] == 0;
      const Dims shape = down ? Dims{length, 64} : Dims{64, length};
      const Tensor from = dense(6, shape);
      const Tensor total = dense(7, down ? Dims{1, 64} : Dims{64, 1});
      return fuse(
          {operation::reduce(total, {.op = ReductionOp::sum, .axes = axes, .keep_dims = true}, {from}),
           operation::map(dense(8, shape), "x0 / x1", {from, total})},
          {total});
    };
    CHECK(long_rows(500'000, {1}).operations.size() == 1);
    CHECK_THAT(
        long_rows(1'000'000, {1}).sentences.front(),
        ContainsSubstring("as the rows do not fit on the chip, so that each reduction would load them"));
    CHECK(long_rows(100, {0}).operations.size() == 1);
    CHECK_THAT(long_rows(10'000, {0}).sentences.front(), ContainsSubstring("do not fit on the chip"));
  }
  SECTION("other dimensions") {
    const Tensor square = dense(6, {8, 8});
    const Tensor column = dense(7, {8});
    CHECK_THAT(sentences_of({reduction(column, ReductionOp::sum, x),
                             operation::map(dense(8, {8, 7}), "x0 / x1",
                                            {dense(9, {8, 7}), broadcast(reshaped(column, {8, 1}), {8, 7})})},
                            {column}),
               ContainsSubstring("broadcast along other dimensions than those that were reduced"));
    const Operation along = operation::rowwise({dense(8, {8, 8})}, {.steps = "y = x0 - max(x1)", .axes = {0}},
                                               {square, broadcast(reshaped(column, {8, 1}), {8, 8})});
    CHECK_THAT(sentences_of({reduction(column, ReductionOp::sum, square), along}, {column}),
               ContainsSubstring("as its rows have other dimensions"));
    CHECK_THAT(sentences_of({operation::softmax({e}, {x}),
                             operation::reduce(dense(8, {6}), {.op = ReductionOp::sum, .axes = {0}}, {e})},
                            {e}),
               ContainsSubstring("as its rows have other dimensions"));
    CHECK_THAT(sentences_of({operation::softmax({e}, {x}),
                             operation::rowwise({dense(8, {8, 6})}, {.steps = "y = x * i"}, {flipped(e, 1)})},
                            {e}),
               ContainsSubstring("as the index i would be that of another element"));
  }
  SECTION("names and coordinates") {
    CHECK_THAT(refused(operation::map(y, "x0 / x1 + g[0]", {x, s})),
               ContainsSubstring("as steps know no coordinates g"));
    CHECK_THAT(refused(operation::map(y, "x0 / x1 + y1(x0)", {x, s})),
               ContainsSubstring("y1 has another meaning in the steps"));
    CHECK_THAT(refused(operation::map(y, "x0 + n * x1", {x, s})),
               ContainsSubstring("n has another meaning in the steps"));
  }
  SECTION("too many sources, and a result in between") {
    std::vector<Tensor> many{x, s};
    for (std::uint64_t k = 0; k < 6; ++k) many.push_back(dense(10 + k, {8, 6}));
    const std::string all = "x0 + x1 + x2 + x3 + x4 + x5 + x6 + x7";
    CHECK(fuse({sum, operation::map(y, all, many)}, {s}).operations.size() == 1);
    const Operation product = operation::reduce(
        s, {.op = ReductionOp::sum, .axes = {1}, .expression = "x0 * x1 * x2", .keep_dims = true},
        {x, dense(20, {8, 6}), dense(21, {8, 6})});
    CHECK_THAT(sentences_of({product, operation::map(y, all, many)}, {s}),
               ContainsSubstring("at most 8 are possible"));
    CHECK_THAT(sentences_of({sum, operation::map(x, "x", {y}), operation::map(e, "x0 / x1", {x, s})}, {s}),
               ContainsSubstring("as an operation between them reads or writes their tensors"));
    CHECK_THAT(sentences_of({sum, operation::map(sliced(s, {{.stop = 2}}), "x", {dense(22, {2, 1})}),
                             operation::map(y, "x0 / x1", {x, s})},
                            {s}),
               ContainsSubstring("a later operation overwrites the intermediate tensor"));
  }
  SECTION("one of two results that is overwritten before it is read") {
    const Tensor z = dense(23, {8, 6});
    const Operation rows = operation::rowwise({z, e}, {.steps = "y0 = x - max(x); y1 = x * 2"}, {x});
    CHECK_THAT(
        sentences_of({rows, operation::map(z, "x + 1", {y}), operation::map(y, "x0 + x1", {e, z})}, {e}),
        ContainsSubstring("as another of its sources is overwritten between them"));
  }
  SECTION("a stored result that is overwritten or read between them") {
    const Tensor z = dense(23, {8, 6});
    const Operation rows = operation::rowwise({z, e}, {.steps = "y0 = x - max(x); y1 = x * 2"}, {x});
    const Operation reads_z = operation::scan(dense(24, {8, 6}), {}, {z});
    const Operation reads_y = operation::scan(dense(25, {8, 6}), {}, {y});
    const Operation doubled = operation::map(y, "x * 2", {e});
    // The map runs before `z` is read; it must not run before `y` is read.
    CHECK(fuse({rows, reads_z, doubled}, {e}).operations.size() == 2);
    CHECK_THAT(sentences_of({rows, reads_z, reads_y, doubled}, {e}),
               ContainsSubstring("as an operation between them reads or writes their tensors"));
  }
  SECTION("a value for each row, and a further tensor") {
    const Operation rows = operation::rowwise({m}, {.steps = "y = max(x)"}, {x});
    CHECK_THAT(sentences_of({rows, operation::map(dense(8, {8}), "x0 * x1", {m, dense(9, {8})})}, {m}),
               ContainsSubstring("as a step with one value for each row reads no further tensors"));
  }
}

}  // namespace fusion_rows_test
