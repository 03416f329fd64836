#include "operations/cases.hpp"

#include "operations/drawing/draw_expression.hpp"
#include "operations/drawing/expressions.hpp"

#include <tmajit/tiles.hpp>

#include <array>
#include <string>
#include <vector>

#include <spdlog/fmt/fmt.h>
#include <spdlog/fmt/ranges.h>

namespace reference::map_operation {

using namespace tmajit;
using bench::Case, bench::CaseBuilder, bench::GiB;

namespace {

void draw_test_case(TestCaseDraw& draw) {
  const Shape shape = draw.shape();
  draw.add_destination(draw.view(draw.type, shape, false));
  const std::uint64_t count = one_in(draw.kernel_property_random, 6) ? 0
                              : one_in(draw.kernel_property_random, 2)
                                  ? 1
                                  : between(draw.kernel_property_random, 2, 8);
  const bool mixed = one_in(draw.kernel_property_random, 3);
  const ElementType from = draw.any_type();
  for (std::uint64_t i = 0; i < count; ++i) {
    const ElementType other = draw.any_type();
    draw.add_source(draw.view(mixed ? other : from, draw.broadcastable(shape), true));
  }
  draw.test_case.arguments.set("expression", draw.with_numbers(draw_expression(draw, count, shape.size())));
  // In place: the first source is the destination.
  if (count > 0 && one_in(draw.kernel_property_random, 8)) {
    draw.test_case.sources[0] = draw.test_case.destinations[0];
    draw.test_case.sources[0].view.type = draw.same_size_type();
  }
}

/// An expression over arrays of one dimension, named by the expression.
Case& add_map(CaseBuilder& list, const char* group, const std::string& expression, std::size_t inputs,
              ElementType from, ElementType to, std::uint64_t elements) {
  const Shape shape{list.scaled_length(elements)};
  return list.add(bench::map_or_cast(group, expression, expression,
                                     std::vector<bench::Array>(inputs, {from, shape}), {to, shape}));
}

void add_benchmark_cases(CaseBuilder& list) {
  const auto elements = [](ElementType type) { return GiB / size_of(type); };
  for (const ElementType type :
       {ElementType::f32, ElementType::bf16, ElementType::u8, ElementType::i32, ElementType::f64}) {
    Case& added = add_map(list, "map", "2a+1", 1, type, type, elements(type));
    added.min_ratio = 0.97;
    added.quick = type == ElementType::bf16;
  }
  for (const ElementType type : {ElementType::f32, ElementType::bf16, ElementType::f64}) {
    Case& added = add_map(list, "map", "silu(a)*b+1", 2, type, type, elements(type));
    added.min_ratio = 0.97;
    added.quick = type == ElementType::f32;
  }
  using enum ElementType;
  add_map(list, "cast", "2.5a", 1, bf16, e4m3, GiB / 2).quick = true;
  add_map(list, "cast", "normalise", 1, u8, f32, GiB / 4);
  // Families without inputs write a constant.
  for (const FamilyInfo& family : families()) {
    if (!family.computes || family.max_inputs > 0) continue;
    for (const ElementType type : {f32, bf16, u8})
      add_map(list, "made up", "3", 0, type, type, GiB / size_of(type)).peers = bench::Peers::none;
  }
}

/// An expression, the number of its inputs, their type and the result's.
struct Computation {
  const char* expression;
  std::size_t inputs;
  ElementType from, to;
};
constexpr std::array computations{
    Computation{"2a+1", 1, ElementType::f32, ElementType::f32},
    Computation{"2a+1", 1, ElementType::bf16, ElementType::bf16},
    Computation{"2a+1", 1, ElementType::u8, ElementType::u8},
    Computation{"a+b", 2, ElementType::f32, ElementType::f32},
    Computation{"a+b", 2, ElementType::bf16, ElementType::bf16},
    Computation{"a+b", 2, ElementType::u8, ElementType::u8},
    Computation{"a+b+c", 3, ElementType::f32, ElementType::f32},
    Computation{"a+b+c", 3, ElementType::bf16, ElementType::bf16},
    Computation{"a+b+c", 3, ElementType::u8, ElementType::u8},
    Computation{"silu(a)*b+1", 2, ElementType::f32, ElementType::f32},
    Computation{"silu(a)*b+1", 2, ElementType::bf16, ElementType::bf16},
    Computation{"2.5a", 1, ElementType::bf16, ElementType::e4m3},
    Computation{"normalise", 1, ElementType::u8, ElementType::f32},
    Computation{"100a", 1, ElementType::f32, ElementType::u8},
};

Case draw_benchmark_case(bench::BenchmarkCaseDraw& draw) {
  const Computation& computation = computations.at(draw.number % computations.size());
  const Shape to = draw.shape();
  Case result{.group = "random map", .operation = "map", .destinations = {{computation.to, to}}};
  result.expression = computation.expression;
  result.arguments.set("expression", bench::expression_text(result.expression, computation.from));
  std::vector<std::string> sources;
  for (std::size_t i = 0; i < computation.inputs; ++i) {
    // The first source is never broadcast, so that a case reads at least one source in full.
    sources.push_back(draw.add_source(result, computation.from,
                                      i > 0 && draw.random.one_in(2) ? draw.broadcastable(to) : to));
  }
  result.name = fmt::format("{} of {}", result.expression, fmt::join(sources, ", "));
  return result;
}

}  // namespace

const OperationCases cases{.draw_test_case = draw_test_case,
                           .add_benchmark_cases = add_benchmark_cases,
                           .draw_benchmark_case = draw_benchmark_case};

}  // namespace reference::map_operation
