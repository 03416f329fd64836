#include "operations/cases.hpp"

#include <algorithm>
#include <array>
#include <string>

#include <spdlog/fmt/fmt.h>
#include <spdlog/fmt/ranges.h>

namespace reference::slice_operation {

using namespace tmajit;

namespace {

void draw_test_case(TestCaseDraw& draw) {
  const Shape shape = draw.shape();
  draw.add_destination(draw.view(draw.type, shape, false));
  Shape source;
  std::vector<Slice> slices;
  for (std::size_t d = 0; d < shape.size(); ++d) {
    const std::uint64_t count = shape[d];
    auto step = one_of(draw.kernel_property_random, std::array<std::int64_t, 8>{1, 1, 1, 1, 2, 3, -1, -2});
    const std::uint64_t unit = d + 1 == shape.size() ? draw.granule() : 1;
    std::uint64_t before = unit * between(draw.launch_parameter_random, 0, 3);
    std::uint64_t after = unit * between(draw.launch_parameter_random, 0, 3);
    // Margins and a step enlarge the source in each dimension. A dimension in which it would become too large
    // gets none.
    if (element_count(source) * std::max<std::uint64_t>(count, 1) > draw.limits.elements) {
      step = step < 0 ? -1 : 1;
      before = after = 0;
    }
    const auto width = static_cast<std::uint64_t>(step < 0 ? -step : step);
    const std::uint64_t covered = count == 0 ? 0 : (count - 1) * width + 1;
    source.push_back(before + covered + after);
    const auto first = static_cast<std::int64_t>(step > 0 ? before : before + covered - 1);
    Slice slice{.start = first, .stop = first + static_cast<std::int64_t>(count) * step, .step = step};
    if (count == 0) slice.stop = slice.start = static_cast<std::int64_t>(before);
    // A stop below 0 would count from the source's end. A slice without a stop continues to the last element
    // or, with a negative step, to the first.
    if (*slice.stop < 0 || (step > 0 && after == 0 && count != 0)) slice.stop = std::nullopt;
    slices.push_back(slice);
  }
  draw.test_case.arguments.set("slices", slices);
  draw.add_source(draw.view(draw.same_size_type(), source, true));
}

bench::Case& add_slice(bench::CaseBuilder& list, const std::string& name, ElementType type,
                       const std::array<Slice, 2>& slices) {
  std::vector<Slice> scaled;
  for (const Slice& s : slices) {
    const std::uint64_t start = list.scaled_in_matrix(static_cast<std::uint64_t>(s.start.value_or(0)));
    const std::uint64_t stop = list.scaled_in_matrix(static_cast<std::uint64_t>(s.stop.value_or(16384)));
    scaled.push_back({static_cast<std::int64_t>(start), static_cast<std::int64_t>(stop), s.step});
  }
  bench::Case& added =
      list.add("slice", name, "slice", {{type, {list.scaled_in_matrix(16384), list.scaled_in_matrix(16384)}}},
               {{"slices", scaled}});
  added.min_ratio = 0.95;
  return added;
}

void add_benchmark_cases(bench::CaseBuilder& list) {
  using enum ElementType;
  add_slice(list, "12000x12000 of 16384x16384", f32, {Slice{0, 12000}, Slice{0, 12000}}).quick = true;
  add_slice(list, "[100:12100,64:12064]", f32, {Slice{100, 12100}, Slice{64, 12064}});
  add_slice(list, "[101:12101,67:12067]", f32, {Slice{101, 12101}, Slice{67, 12067}}).quick = true;
  add_slice(list, "[101:12101,67:12067]", bf16, {Slice{101, 12101}, Slice{67, 12067}});
  add_slice(list, "[101:12101,67:12067]", u8, {Slice{101, 12101}, Slice{67, 12067}});
  add_slice(list, "[::2,64:12064]", f32, {Slice{0, 16384, 2}, Slice{64, 12064}});
  add_slice(list, "[100:12100,64:12064:2]", f32, {Slice{100, 12100}, Slice{64, 12064, 2}});
  add_slice(list, "[::3,1::3]", f32, {Slice{0, 16384, 3}, Slice{1, 16384, 3}});
}

bench::Case draw_benchmark_case(bench::BenchmarkCaseDraw& draw) {
  for (;;) {
    const Shape to = draw.shape();
    bench::Case result{.group = "random slice", .operation = "slice", .destinations = {{draw.type, to}}};
    Shape from = to;
    std::vector<Slice> slices;
    for (const std::uint64_t n : to) slices.push_back({0, static_cast<std::int64_t>(n), 1});
    for (const std::uint32_t d : draw.some_axes(to.size())) {
      const std::uint64_t start = draw.random.one_in(4) ? 0 : draw.odd_margin(to[d]);
      const std::uint64_t step = draw.random.one_in(4) ? draw.random.between(2, 3) : 1;
      const std::uint64_t stop = start + (to[d] - 1) * step + 1;
      from[d] = stop + draw.random.below(std::min<std::uint64_t>(to[d], 64));
      slices[d] = {static_cast<std::int64_t>(start), static_cast<std::int64_t>(stop),
                   static_cast<std::int64_t>(step)};
    }
    if (element_count(from) > 2 * draw.element_limit()) continue;
    std::vector<std::string> parts;
    parts.reserve(slices.size());
    for (const Slice& s : slices) {
      parts.push_back(fmt::format("{}:{}", s.start.value_or(0), s.stop.value_or(0)) +
                      (s.step == 1 ? "" : fmt::format(":{}", s.step)));
    }
    result.arguments.set("slices", slices);
    const std::string source = draw.add_source(result, draw.type, from);
    result.name = fmt::format("{}[{}]", source, fmt::join(parts, ","));
    return result;
  }
}

}  // namespace

const OperationCases cases{.draw_test_case = draw_test_case,
                           .add_benchmark_cases = add_benchmark_cases,
                           .draw_benchmark_case = draw_benchmark_case};

}  // namespace reference::slice_operation
