#include "operations/cases.hpp"

#include "operations/drawing/draw_values.hpp"

#include <tmajit/operations/scan.hpp>

#include <array>
#include <utility>

#include <spdlog/fmt/fmt.h>
#include <spdlog/fmt/ranges.h>

namespace reference::scan_operation {

using namespace tmajit;
using bench::Case, bench::CaseBuilder;

namespace {

constexpr std::array expressions{
    ValueExpression{"", 1},        ValueExpression{"", 1},
    ValueExpression{"", 1},        ValueExpression{"x * x", 1},
    ValueExpression{"x0 * x1", 2}, ValueExpression{"x0 * x1 * x2 * x3 * x4 * x5 * x6 * x7", 8}};

/// Draws scans of small whole numbers, whose sums and products are exact in any order of combination.
void draw_test_case(TestCaseDraw& draw) {
  Random& random = draw.kernel_property_random;
  const ValueExpression values = one_of(random, expressions);
  const ScanOp op = one_of(random, all_scan_ops);
  draw.test_case.contents =
      op == ScanOp::product || values.source_count > 1 ? Contents::units : Contents::whole;
  draw.test_case.has_nan = (op == ScanOp::min || op == ScanOp::max) && one_in(random, 2);
  Shape shape = one_in(random, 4) ? draw.tensor_shape(1, 8) : draw.tensor_shape(1, 3);
  const auto rank = static_cast<std::int64_t>(shape.size());
  if (one_in(draw.launch_parameter_random, 60))
    shape[between(draw.launch_parameter_random, 0, shape.size() - 1)] = 0;
  const auto axis = static_cast<std::int64_t>(between(random, 0, shape.size() - 1));
  draw.test_case.arguments = {{"op", std::string(name(op))},
                              {"axis", one_in(random, 3) ? axis - rank : axis},
                              {"bound", std::string(one_in(random, 3) ? "exclusive" : "inclusive")},
                              {"direction", std::string(one_in(random, 3) ? "backwards" : "forwards")}};
  draw.add_destination(draw.view(draw.any_type(), shape, false));
  draw_values(draw, shape, values.source_count);
  if (values.source_count == 1 && one_in(random, 8)) draw.test_case.sources = draw.test_case.destinations;
  const bool rounds =
      (op == ScanOp::min || op == ScanOp::max) && values.source_count == 1 && one_in(random, 3);
  // Products of other numbers than 1 and -1 would not be exact.
  draw.test_case.arguments.set("expression",
                               draw.test_case.contents == Contents::units
                                   ? std::string(values.text)
                                   : draw.with_numbers(rounds ? "expf(x * 0.3f) + 1" : values.text));
}

Case scan_case(const char* group, ElementType from, ElementType to, const Shape& shape, std::uint32_t axis) {
  Case result = bench::make_case(group, fmt::format("sum ({}) along {}", fmt::join(shape, ","), axis), "scan",
                                 {{from, shape}}, {{"op", "sum"}, {"axis", std::int64_t{axis}}});
  result.destinations.front().type = to;
  return result;
}

/// Lists sums along a single row, along rows and along columns, long and short.
void add_benchmark_cases(CaseBuilder& list) {
  const auto n = [&](std::uint64_t extent) { return list.tiny() && extent > 4 ? 2 + extent % 97 : extent; };
  const auto sum = [&](ElementType type, const Shape& shape, std::uint32_t axis) {
    list.add(scan_case("scans", type, type, shape, axis));
  };
  sum(ElementType::f32, {n(1 << 28)}, 0);
  sum(ElementType::f32, {n(1 << 24)}, 0);
  sum(ElementType::f32, {n(65536), n(4096)}, 1);
  sum(ElementType::f32, {n(65537), n(4095)}, 1);
  sum(ElementType::bf16, {n(1 << 20), n(255)}, 1);
  sum(ElementType::f32, {n(16384), n(16384)}, 0);
}

/// Draws a sum along a random axis of a random shape: rank 1 to 4, 2^16 to 2^27 elements.
Case draw_benchmark_case(bench::BenchmarkCaseDraw& draw) {
  using enum ElementType;
  constexpr std::array types{std::pair{f32, f32}, std::pair{bf16, bf16}, std::pair{f64, f64},
                             std::pair{u8, i64}, std::pair{i32, i64}};
  const auto [from, to] = types.at(draw.random.one_in(2) ? 0 : draw.random.below(types.size()));
  const std::size_t rank = draw.random.between(1, 4);
  const Shape shape = draw.shape(rank, std::uint64_t{1} << 16, std::uint64_t{1} << 27);
  return scan_case("random scan", from, to, shape, static_cast<std::uint32_t>(draw.random.below(rank)));
}

}  // namespace

const OperationCases cases{.draw_test_case = draw_test_case,
                           .add_benchmark_cases = add_benchmark_cases,
                           .draw_benchmark_case = draw_benchmark_case};

}  // namespace reference::scan_operation
