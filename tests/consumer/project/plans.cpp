// Operations to plans, plans to sources, and the tuner's table of choices. Nothing here needs a compiler.
#include "expect.hpp"

#include <tmajit/tmajit.hpp>

#include <array>
#include <string>
#include <utility>
#include <vector>

using namespace tmajit;

namespace {

Tensor matrix(std::uint64_t rows, std::uint64_t columns, DevicePtr address,
              ElementType type = ElementType::f32) {
  return {TensorView::contiguous(type, {rows, columns}), address};
}

void call_every_function(const KernelPlan& plan) {
  expect(&find_family(plan.family().name) == &plan.family() && !families().empty(),
         "a plan's family is listed");
  expect(!plan.key().empty() && plan.expression().empty(), "key() and expression()");
  expect(plan.launch_shape().grid[0] > 0 && plan.shape().threads > 0, "launch_shape() and shape()");
  const KernelChoice choice = plan.choice();
  expect(choice.family == plan.family().name && !choice.text().empty(), "choice()");
  expect(!choice.box("tile").empty() && choice.number("threads") > 0, "a choice's numbers, by name");
  expect_error(ErrorCode::invalid_argument, [&] { (void)choice.number("tile"); });
  expect(plan.prediction().us > 0 && (plan.common() || !plan.is_default()), "prediction()");
  expect(!plan.why().empty() && plan.predicted_us() > 0 && !plan.tuned(), "why()");
  expect(!plan.parameters().empty() && !plan.parameter_bytes().empty(), "parameters()");
  expect(plan.operand_address(0) == 1 << 20, "operand_address()");
  expect(plan.bytes_read() + plan.bytes_written() == plan.bytes_moved(), "bytes_moved()");
  expect(source(plan).text.find("__global__") != std::string::npos, "source()");
}

}  // namespace

void plan_moves() {
  const Tensor to = matrix(64, 128, 1 << 20);
  const Tensor from = matrix(64, 128, 2 << 20);
  const Tensor half = matrix(32, 128, 3 << 20);
  const std::array halves{half, matrix(32, 128, 4 << 20)};
  const std::array operations{
      operation::copy(to, from),
      operation::permute(to, matrix(128, 64, 2 << 20), {1, 0}),
      operation::pad(to, half, {.before = {16, 0}, .value = 1}),
      operation::slice(half, from, {{.stop = 32}}),
      operation::concat(to, halves, 0),
      operation::split(halves, from, 0),
      operation::cast(to, matrix(64, 128, 2 << 20, ElementType::bf16)),
      operation::map(to, "x * 2", {from}),
      operation::stencil(to, "x(0, 1) - x(-1, 0)", {from}, {.boundary = Boundary::clamp}),
      operation::reduce(matrix(1, 64, 1 << 20),
                        {.op = parse<ReductionOp>("mean"), .axes = {1}, .epilogue = "x / n"},
                        {{TensorView::contiguous(ElementType::f32, {1, 128, 64}), 2 << 20}}),
      operation::im2col(matrix(2ULL * 6 * 8, 9ULL * 16, 1 << 20),
                        {TensorView::contiguous(ElementType::f32, {2, 8, 10, 16}), 2 << 20},
                        {.filter = {3, 3}}),
      operation::convolution(matrix(2ULL * 6 * 8, 32, 1 << 20),
                             {TensorView::contiguous(ElementType::f32, {2, 8, 10, 16}), 2 << 20},
                             {TensorView::contiguous(ElementType::f32, {32, 3, 3, 16}), 3 << 20}),
      Operation::of({{.destination = to, .sources = {from}}}),
      operation::reduce_into(to, parse<CombineOp>("add"), from),
  };
  for (const Operation& operation : operations)
    expect(!plan_kernels(operation).empty(), "an operation is planned");

  call_every_function(plan_kernels(operations[1]).at(0));
  expect(!plan_ragged({to}, {from}).table.empty(), "plan_ragged()");
  expect(window_counts({.filter = {3, 3}}, {8, 10}) == std::vector<std::uint64_t>{6, 8}, "window_counts()");
  expect(plan_kernels(operations[9]).at(0).epilogue() == "x / n" && name(ReductionOp::mean) == "mean",
         "a reduction");
  expect(
      combined_as(CombineOp::bit_or, ElementType::f64) == ElementType::u64 && name(CombineOp::bit_or) == "or",
      "a combination");
  expect(plan_candidates(operations[1].moves.at(0)).size() > 1, "plan_candidates()");
  expect_error(ErrorCode::illegal_spec, [&to] { static_cast<void>(plan_kernels(operation::copy(to, to))); });
  expect(plan_kernels(operations[0], {.chip = chip_of({.name = "NVIDIA H100", .sm_count = 114})}).size() == 1,
         "chip_of()");
}

void plan_own_tiles() {
  TileRequest request{.family = "map",
                      .destination = matrix(1000, 4096, 0),
                      .sources = {matrix(1000, 4096, 0)},
                      .expression = "x * 2 + 1"};
  request.tiles.box = {32, 3};  // 3 floats are 12 bytes, which no tensor map takes
  expect(!validate(request).empty(), "an illegal box is refused");
  request.tiles.box = {32, 64};
  expect(validate(request).empty(), "a legal box is taken");
  expect(destination_view(request) == request.destination.view, "destination_view()");
  expect(plan_tiles(request).expression() == request.expression, "plan_tiles()");
  const Operation operation = operation::tiles(
      request.destination, {.family = "map", .expression = "x", .options = request.tiles}, request.sources);
  expect(plan_kernels(operation).at(0).family().name == "map", "operation::tiles()");

  expect(!device_headers().empty(), "device_headers()");
  expect(custom_source("extern \"C\" __global__ void nothing() {}", "nothing").entry == "nothing",
         "custom_source()");
}

void keep_choices() {
  const KernelPlan plan =
      tmajit::plan_kernels(operation::copy(matrix(64, 128, 1 << 20), matrix(64, 128, 2 << 20))).at(0);
  const TunedChoice choice{.chip = "NVIDIA H200",
                           .shape_class = {.family = "rows", .rank = 1},
                           .choice = plan.choice(),
                           .microseconds = 2};
  expect(!choice.shape_class.text().empty(), "ShapeClass::text()");
  expect(choice.shape_class.is_of_kind(choice.shape_class) &&
             choice.shape_class.distance(choice.shape_class) == 0,
         "ShapeClass::distance()");

  TuningTable table;
  table.add(choice);
  expect(table.has_added(choice.chip, choice.shape_class) &&
             !TuningTable::shipped().has_added(choice.chip, choice.shape_class),
         "has_added()");
  TuningTable read;
  read.add_json(table.json());
  expect(read.find(choice.chip, choice.shape_class) == choice, "a table's JSON is read again");

  const Scratch file;
  table.save(file.path);
  TuningTable loaded;
  loaded.load(file.path);
  TuningTable moved(std::move(loaded));
  expect(moved.all() == table.all(), "a table is saved and loaded");
  moved = TuningTable::shipped();
  expect(!moved.all().empty(), "choices are shipped");
}
