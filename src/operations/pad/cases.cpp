#include "operations/cases.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include <spdlog/fmt/fmt.h>
#include <spdlog/fmt/ranges.h>

namespace reference::pad_operation {

using namespace tmajit;

namespace {

void draw_test_case(TestCaseDraw& draw) {
  const Shape shape = draw.shape();
  draw.add_destination(draw.view(draw.type, shape, false));
  Shape source;
  std::vector<std::int64_t> before;
  std::vector<std::int64_t> after;
  for (const std::uint64_t extent : shape) {
    const std::uint64_t most =
        element_count(source) * extent > draw.limits.elements ? 0 : std::max<std::uint64_t>(extent / 4, 2);
    for (auto* const widths : {&before, &after}) {
      const std::int64_t side = one_in(draw.kernel_property_random, 4) ? -1 : 1;
      widths->push_back(side * static_cast<std::int64_t>(between(draw.launch_parameter_random, 0, most)));
    }
    const std::int64_t inside = static_cast<std::int64_t>(extent) - before.back() - after.back();
    if (inside < 0) after.back() += inside;
    source.push_back(static_cast<std::uint64_t>(std::max<std::int64_t>(inside, 0)));
  }
  constexpr double infinity = std::numeric_limits<double>::infinity();
  draw.test_case.arguments = {
      {"widths", PadWidths{before, after}},
      {"value", one_of(draw.launch_parameter_random,
                       std::array{0.0, 0.0, 1.0, -1.0, 0.3, 1e9, -3.5e38, infinity, std::nan(""), 255.0})}};
  draw.add_source(draw.view(draw.same_size_type(), source, true));
}

void add_benchmark_cases(bench::CaseBuilder& list) {
  using enum ElementType;
  struct Pad {
    ElementType type;
    std::uint64_t top, left;
  };
  // The tiny source needs room for its border.
  const std::uint64_t side = list.tiny() ? list.scaled_in_matrix(12000) - 2 : 12000;
  for (const Pad& pad : {Pad{f32, 128, 64}, Pad{f32, 101, 67}, Pad{bf16, 128, 64}, Pad{u8, 101, 67}}) {
    const Dims before{list.scaled_in_matrix(pad.top), list.scaled_in_matrix(pad.left)};
    const auto whole = static_cast<std::int64_t>(list.scaled_in_matrix(12288) - side);
    list.add("pad", fmt::format("12000x12000 at ({},{}) of 12288x12288", pad.top, pad.left), "pad",
             {{pad.type, {side, side}}},
             {{"widths", PadWidths{before, {whole - before[0], whole - before[1]}}}, {"value", 1.0}})
        .quick = pad.type == bf16;
  }
}

bench::Case draw_benchmark_case(bench::BenchmarkCaseDraw& draw) {
  for (;;) {
    const Shape to = draw.shape();
    bench::Case result{.group = "random pad", .operation = "pad", .destinations = {{draw.type, to}}};
    std::vector<std::uint64_t> before_each(to.size());
    std::vector<std::uint64_t> after_each(to.size());
    Shape inner = to;
    for (const std::uint32_t d : draw.some_axes(to.size())) {
      if (to[d] < 4) continue;
      const std::uint64_t before = draw.odd_margin(to[d]);
      const std::uint64_t after = draw.random.one_in(3) ? 0 : draw.odd_margin(to[d]);
      before_each[d] = before;
      after_each[d] = after;
      inner[d] -= before + after;
    }
    if (inner == to) continue;
    const auto value = static_cast<double>(draw.random.below(2));
    result.arguments = {{"widths", PadWidths{before_each, after_each}}, {"value", value}};
    const std::string source = draw.add_source(result, draw.type, inner);
    result.name =
        fmt::format("{} at ({}) of ({}), {}", source, fmt::join(before_each, ","), fmt::join(to, ","), value);
    return result;
  }
}

}  // namespace

const OperationCases cases{.draw_test_case = draw_test_case,
                           .add_benchmark_cases = add_benchmark_cases,
                           .draw_benchmark_case = draw_benchmark_case};

}  // namespace reference::pad_operation
