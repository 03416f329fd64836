#include "operations/cases.hpp"

#include "operations/drawing/expressions.hpp"

#include <algorithm>
#include <array>

namespace reference::cast_operation {

using namespace tmajit;
using bench::Case, bench::CaseBuilder;

namespace {

void draw_test_case(TestCaseDraw& draw) {
  const Shape shape = draw.shape();
  draw.add_destination(draw.view(draw.type, shape, false));
  draw.add_source(draw.view(draw.any_type(), draw.broadcastable(shape), true));
}

Case& add_cast(CaseBuilder& list, const char* group, const std::string& name, ElementType from,
               ElementType to, std::uint64_t elements) {
  const Shape shape{list.scaled_length(elements)};
  return list.add(bench::map_or_cast(group, name, "cast", {{from, shape}}, {to, shape}));
}

void add_benchmark_cases(CaseBuilder& list) {
  using enum ElementType;
  add_cast(list, "cast", "cast", f32, bf16, bench::GiB / 4);
  add_cast(list, "cast", "cast", bf16, f32, bench::GiB / 4);
}

/// Casts between every two element types, in both directions; the array of the wider type has 256 MiB.
void add_dedicated_cases(CaseBuilder& list) {
  using enum ElementType;
  constexpr std::uint64_t bytes = 256 * bench::MiB;
  constexpr std::array quick{f32, bf16, u8, e4m3, f64};
  const auto is_quick = [&](ElementType type) { return std::ranges::find(quick, type) != quick.end(); };
  for (const ElementType from : all_element_types) {
    for (const ElementType to : all_element_types) {
      if (from == to) continue;
      Case& added = add_cast(list, "casts", bench::human_bytes(bytes), from, to,
                             bytes / std::max(size_of(from), size_of(to)));
      added.peers = bench::Peers::none;
      added.quick = is_quick(from) && is_quick(to);
      added.min_ratio = 0.93;
    }
  }
}

/// Draws a cast between two of five types; the case's number selects the pair.
Case draw_benchmark_case(bench::BenchmarkCaseDraw& draw) {
  using enum ElementType;
  constexpr std::array types{f32, bf16, u8, e4m3, f64};
  constexpr std::size_t others = types.size() - 1;
  const std::size_t from = draw.number % (types.size() * others) / others;
  const std::size_t to = draw.number % others;
  const Shape shape = draw.shape();
  Case result{.group = "random cast",
              .operation = "cast",
              .destinations = {{types.at(to < from ? to : to + 1), shape}},
              .expression = "cast"};
  result.name = draw.add_source(result, types.at(from), shape);
  return result;
}

}  // namespace

const OperationCases cases{.draw_test_case = draw_test_case,
                           .add_benchmark_cases = add_benchmark_cases,
                           .add_dedicated_cases = add_dedicated_cases,
                           .draw_benchmark_case = draw_benchmark_case};

}  // namespace reference::cast_operation
