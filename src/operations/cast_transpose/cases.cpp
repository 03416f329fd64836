#include "operations/cases.hpp"

#include <array>
#include <string>
#include <utility>

#include <spdlog/fmt/fmt.h>
#include <spdlog/fmt/ranges.h>

namespace reference::cast_transpose_operation {

using namespace tmajit;

namespace {

void draw_test_case(TestCaseDraw& draw) {
  Random& random = draw.kernel_property_random;
  using enum ElementType;
  const ElementType from = one_of(random, std::array{bf16, f16, f32});
  const ElementType to = one_of(random, std::array{e4m3, e5m2, i8, f16, bf16});
  const auto orders = one_of(random, all_cast_orders);
  const bool amax = one_in(random, 2);
  draw.test_case.contents = one_in(random, 2) ? Contents::whole : Contents::numbers;
  draw.test_case.arguments = {{"orders", std::string(name(orders))},
                              {"amax", std::string(amax ? "yes" : "no")}};
  if (one_in(random, 2)) draw.test_case.arguments.set("to", std::string(name(to)));
  const Shape shape = one_in(random, 4) ? draw.tensor_shape(2, 8) : draw.tensor_shape(2, 3);
  Shape swapped = shape;
  std::swap(swapped[swapped.size() - 1], swapped[swapped.size() - 2]);
  // Most tensors of such calls are dense; draw.view() has any strides.
  const auto add = [&](ElementType type, const Shape& of, bool source) {
    const TensorView view = one_in(random, 2) ? draw.row_major_view(type, of) : draw.view(type, of, source);
    source ? draw.add_source(view) : draw.add_destination(view);
  };
  if (orders != CastOrders::transposed) add(to, shape, false);
  if (orders != CastOrders::plain) add(to, swapped, false);
  if (amax) draw.add_destination(TensorView::contiguous(f32, one_in(random, 2) ? Shape{} : Shape{1}));
  add(from, shape, true);
  const std::uint64_t scale = between(random, 0, 2);
  if (scale == 1) draw.add_source(TensorView::contiguous(f32, one_in(random, 2) ? Shape{} : Shape{1, 1}));
  if (scale == 2) {
    const auto value = static_cast<float>(between(draw.launch_parameter_random, 1, 12));
    draw.test_case.numbers.push_back(number(value / 4));
  }
}

/// Lists matrices of training, cast to e4m3 and transposed.
void add_benchmark_cases(bench::CaseBuilder& list) {
  for (const Shape& full : {Shape{8192, 8192}, Shape{16384, 5120}}) {
    const Shape shape = list.tiny() ? Shape{24, 40} : full;
    list.add("cast_transpose", fmt::format("({})", fmt::join(full, ",")), "cast_transpose",
             {{ElementType::bf16, shape}}, {{"orders", "transposed"}, {"amax", "no"}})
        .peers = bench::Peers::none;
  }
}

}  // namespace

const OperationCases cases{.draw_test_case = draw_test_case, .add_benchmark_cases = add_benchmark_cases};

}  // namespace reference::cast_transpose_operation
