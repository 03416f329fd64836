#include "operations/cases.hpp"

#include "operations/drawing/draw_values.hpp"

#include <tmajit/operations/reduce.hpp>
#include <tmajit/tile_options.hpp>

#include <array>

#include <spdlog/fmt/fmt.h>
#include <spdlog/fmt/ranges.h>

namespace reference::reduce_operation {

using namespace tmajit;
using bench::Case, bench::CaseBuilder;

namespace {

constexpr std::array expressions{ValueExpression{"", 1},
                                 ValueExpression{"", 1},
                                 ValueExpression{"x * x", 1},
                                 ValueExpression{"x > 1", 1},
                                 ValueExpression{"x0 * x1", 2},
                                 ValueExpression{"x0 + x1 + x2", 3},
                                 ValueExpression{"x0 + x1 + x2 + x3 + x4 + x5 + x6 + x7", 8}};

/// Draws an epilogue. It may read a number of its own, or one that the expression reads, too.
void draw_epilogue(TestCaseDraw& draw) {
  Random& random = draw.kernel_property_random;
  TestCase& drawn = draw.test_case;
  std::string text = one_of(random, std::array{"", "", "x * 2", "x + n", "x * ", "x + "});
  if (text.ends_with(' ')) {
    const bool has_room = drawn.sources.size() + drawn.numbers.size() < max_inputs;
    if (has_room && (drawn.numbers.empty() || one_in(random, 2))) draw.add_number();
    text = drawn.numbers.empty() ? "" : fmt::format("{}p{}", text, drawn.numbers.size() - 1);
  }
  drawn.arguments.set("epilogue", text);
}

/// Draws reductions of small whole numbers, whose sums are exact in any order. An exception is x0 + x1 + x2
/// of u32, i32 and f32: if x0 + x1 is negative, it wraps to almost 2^32, which is then converted to f32.
void draw_test_case(TestCaseDraw& draw) {
  Random& random = draw.kernel_property_random;
  const ValueExpression values = one_of(random, expressions);
  const ReductionOp op = one_of(random, all_reduction_ops);
  draw.test_case.contents = Contents::whole;
  draw.test_case.has_nan = op != ReductionOp::sum && op != ReductionOp::mean && one_in(random, 2);
  const Shape shape = one_in(random, 2) ? draw.tensor_shape(1, 3) : draw.tensor_shape(0, 8);
  std::vector<std::int64_t> axes;
  Shape remaining;
  const bool keep_dims = one_in(random, 4);
  for (std::size_t d = 0; d < shape.size(); ++d) {
    if (!one_in(random, 2)) {
      remaining.push_back(shape[d]);
      continue;
    }
    if (keep_dims) remaining.push_back(1);
    const auto axis = static_cast<std::int64_t>(d);
    axes.push_back(one_in(random, 3) ? axis - static_cast<std::int64_t>(shape.size()) : axis);
  }
  std::shuffle(axes.begin(), axes.end(), random);
  if (axes.empty())
    remaining.assign(keep_dims ? shape.size() : 0, 1);  // without axes, all dimensions are reduced
  draw.test_case.arguments = {{"op", std::string(name(op))},
                              {"axes", Dims(axes)},
                              {"keep_dims", std::string(keep_dims ? "yes" : "no")}};
  draw.add_destination(draw.view(draw.any_type(), remaining, false));
  draw_values(draw, shape, values.source_count);
  // Rounded values: their sums would depend on the order.
  const bool rounds =
      (op == ReductionOp::min || op == ReductionOp::max) && values.source_count == 1 && one_in(random, 3);
  draw.test_case.arguments.set("expression", draw.with_numbers(rounds ? "expf(x * 0.3f) + 1" : values.text));
  draw_epilogue(draw);
}

Case reduction(const char* group, ElementType type, const Shape& shape,
               const std::vector<std::uint32_t>& axes, ReductionOp op = ReductionOp::sum) {
  Case result = bench::make_case(
      group, fmt::format("{} ({}) over {}", name(op), fmt::join(shape, ","), fmt::join(axes, ",")), "reduce",
      {{type, shape}}, {{"op", std::string(name(op))}, {"axes", Dims(axes)}});
  // As in PyTorch, sums of bytes have 64 bits.
  if (op == ReductionOp::sum && type == ElementType::u8) result.destinations.front().type = ElementType::i64;
  return result;
}

/// Common reductions: of all 2^28 elements, of long and short rows, and of long and short columns, in several
/// types.
void add_dedicated_cases(CaseBuilder& list) {
  using enum ElementType;
  const auto extent = [&](std::uint64_t n) { return list.tiny() && n > 64 ? 8 + n % 61 : n; };
  const auto add = [&](ElementType type, Shape shape, const std::vector<std::uint32_t>& axes,
                       ReductionOp op = ReductionOp::sum) {
    std::ranges::transform(shape, shape.begin(), extent);
    list.add(reduction("reductions", type, shape, axes, op)).quick = true;
  };
  for (const ElementType type : {f32, bf16, u8}) add(type, {1 << 28}, {0});
  for (const ElementType type : {f32, bf16}) {
    add(type, {16384, 16384}, {1});
    add(type, {16384, 16384}, {0});
    add(type, {16381, 16381}, {1});
    add(type, {16381, 16381}, {0});
  }
  add(f32, {64, 4 << 20}, {1});
  add(f32, {64, 4 << 20}, {0});
  add(f32, {4 << 20, 64}, {1});
  add(f32, {4 << 20, 64}, {0});
  add(f32, {20'000'000, 7}, {1});
  add(f32, {20'000'000, 7}, {0});
  add(f32, {512, 512, 1024}, {1});
  add(f32, {512, 512, 1024}, {0, 2});
  add(f32, {1 << 20}, {0});
  add(f32, {1024, 1024}, {1});
  add(f32, {1024, 1024}, {0});
  add(f32, {1 << 28}, {0}, ReductionOp::max);
  add(f32, {16384, 16384}, {1}, ReductionOp::max);
  add(f32, {16384, 16384}, {1}, ReductionOp::arg_max);
  add(f32, {16384, 16384}, {0}, ReductionOp::arg_max);
}

/// Sums of f32 of random shapes, ranks 2 to 4 and 4 to 256 Mi elements, over random axes.
Case draw_benchmark_case(bench::BenchmarkCaseDraw& draw) {
  const std::size_t rank = draw.random.between(2, 4);
  const Shape shape = draw.shape(rank, 4 * bench::Mi, 256 * bench::Mi);
  std::vector<std::uint32_t> axes;
  while (axes.empty()) {
    for (std::uint32_t d = 0; d < rank; ++d) {
      if (draw.random.one_in(2)) axes.push_back(d);
    }
  }
  return reduction("random reduction", ElementType::f32, shape, axes);
}

}  // namespace

const OperationCases cases{.draw_test_case = draw_test_case,
                           .add_dedicated_cases = add_dedicated_cases,
                           .draw_benchmark_case = draw_benchmark_case};

}  // namespace reference::reduce_operation
