// Operations as data: the list, arguments as values and as text, and operations by name.
#include "expect.hpp"

#include <tmajit/operations.hpp>
#include <tmajit/runtime.hpp>

#include <array>
#include <vector>

using namespace tmajit;

void describe_operations() {
  expect(!operations().empty(), "operations()");
  const OperationInfo& reduce = find_operation("reduce");
  const Argument* const op = reduce.find_argument("op");
  expect(op != nullptr && name(op->type) == "choice", "an argument of reduce");
  expect(!reduce.has_many_destinations() && find_operation("split").has_many_destinations(),
         "operations of several destinations");
  expect(text_of(parse_argument(*op, "sum", "--op")) == "sum", "an argument as text");
  expect(parse_extents("2x3", "--shape") == Dims{2, 3}, "parse_extents()");
  expect(parse_numbers("2,-3", "--strides") == Dims{2, -3}, "parse_numbers()");
  expect(resolve_axes({-1}, 2, "--axes") == std::vector<std::uint32_t>{1}, "resolve_axes()");
  expect(name(ScanOp::product) == "product", "the name of a ScanOp");

  Arguments arguments{{"op", "sum"}, {"axes", Dims{1}}};
  expect(arguments.find("epilogue") == nullptr && arguments.text("op") == "sum" &&
             arguments.dims("axes").size() == 1,
         "arguments");
  expect(arguments.number("value", 2) == 2 && arguments.axis("axis", -1) == -1 &&
             arguments.count("stages", 3) == 3,
         "fallbacks of arguments");
  expect(arguments.slices("slices").empty() && arguments.widths("widths") == PadWidths(),
         "lists of arguments");
  arguments.set("epilogue", "x / n");
  const Tensor from{TensorView::contiguous(ElementType::f32, {4, 8}), 1 << 20};
  const std::vector<TensorView> to = destinations_of("reduce", std::array{from.view}, arguments);
  const Tensor sums{to.front(), 2 << 20};
  const Arguments cut{{"axis", std::int64_t{0}}, {"parts", parse_parts("100,37,5", "--parts")}};
  expect(cut.parts("parts").size() == 3, "parts of an argument");
  expect(make_operation("reduce", {sums}, {from}, arguments).moves.size() == 1, "an operation by name");
  const Runtime runtime({.cache_directory = std::nullopt});
  expect_error(ErrorCode::invalid_argument, [&] {
    run_operation(runtime, "reduce", {sums}, {from}, {{"axes", Dims{1}}});
  });
  const Tensor same{from.view, 2 << 20};
  expect(operation::scan(same, {}, {from}).moves.size() == 1, "operation::scan()");
  expect(operation::rowwise({same, sums}, {.steps = "y1 = sum(x); y0 = x / y1"}, {from}).moves.size() == 2,
         "operation::rowwise()");
  expect(operation::softmax({same}, {from}, {.axis = 0}).moves.size() == 1, "operation::softmax()");
  const std::vector<TensorView> cos = sources_of("rotary", from.view, 3, {});
  expect(cos[1] == TensorView::contiguous(ElementType::f32, {4, 4}), "sources_of()");
  expect(name(find_operation("rotary").sources[1].shape) == "half" && name(OperandElements::any) == "any",
         "operands of a recipe");
  const Tensor bytes{TensorView::contiguous(ElementType::i8, {4, 8}), 4 << 20};
  const CastTranspose plain{.orders = CastOrders::plain, .amax = false};
  expect(operation::cast_transpose({bytes}, plain, {from}).moves.size() == 1, "operation::cast_transpose()");
  expect(name(CastOrders::both) == "both", "the name of CastOrders");
  expect(operation::top_k({same}, from).moves.size() == 1, "operation::top_k()");
  const Tensor places = Tensor::contiguous(ElementType::i64, {4}, 3 << 20);
  expect(operation::gather(same, from, {places}).moves.size() == 1, "operation::gather()");
  expect(operation::scatter(same, from, {places}).moves.size() == 1, "operation::scatter()");
  expect(operation::scatter_add(same, from, {places}).moves.size() == 1, "operation::scatter_add()");
  const Tensor pairs = Tensor::contiguous(ElementType::i64, {4, 2}, 3 << 20);
  expect(operation::gather_sum(same, from, pairs).moves.size() == 1, "operation::gather_sum()");
  expect(name(OutOfRange::clamp) == "clamp", "the name of an OutOfRange");
  const std::vector<Tensor> sorted{same, Tensor::contiguous(ElementType::i32, {4}, 4 << 20),
                                   Tensor::contiguous(ElementType::i32, {3}, 5 << 20),
                                   Tensor::contiguous(ElementType::i32, {4}, 6 << 20)};
  expect(operation::moe_permute(sorted, from, places).moves.size() == 4, "operation::moe_permute()");
  expect(operation::copy_ragged({same}, {from}).one_launch, "operation::copy_ragged()");
}
