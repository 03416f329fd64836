#include "operations/cases.hpp"

#include "operations/drawing/draw_parts.hpp"

#include <cstddef>

#include <spdlog/fmt/fmt.h>
#include <spdlog/fmt/ranges.h>

namespace reference::concat_operation {

using namespace tmajit;

namespace {

void draw_test_case(TestCaseDraw& draw) {
  DrawnParts drawn = draw_parts(draw);
  const bool new_axis = one_in(draw.kernel_property_random, 4);
  if (new_axis) {
    drawn.whole[drawn.axis] = drawn.parts.size();
    for (Shape& part : drawn.parts) part.erase(part.begin() + static_cast<std::ptrdiff_t>(drawn.axis));
  }
  draw.test_case.arguments = {{"axis", static_cast<std::int64_t>(drawn.axis)},
                              {"new_axis", std::string(new_axis ? "yes" : "no")}};
  draw.add_destination(draw.view(draw.type, drawn.whole, false));
  for (const Shape& part : drawn.parts)
    draw.add_source(draw.view(draw.same_size_type(), draw.broadcastable(part, drawn.axis), true));
}

void add_benchmark_cases(bench::CaseBuilder& list) {
  for (BenchmarkParts& parts : benchmark_parts(list))
    list.add("concat", parts.name, "concat", std::move(parts.arrays), {{"axis", std::int64_t{parts.axis}}});
}

/// Draws two to four parts along an axis of a random shape.
bench::Case draw_benchmark_case(bench::BenchmarkCaseDraw& draw) {
  for (;;) {
    const Shape whole = draw.shape();
    const auto axis = static_cast<std::uint32_t>(draw.random.below(whole.size()));
    const std::uint64_t parts = draw.random.between(2, 4);
    if (whole[axis] < parts) continue;
    std::vector<bench::Array> sources;
    std::vector<std::uint64_t> extents;
    std::uint64_t rest = whole[axis];
    for (std::uint64_t part = parts; part > 0; --part) {
      const std::uint64_t about = rest / part;
      const std::uint64_t extent = part == 1 ? rest : draw.random.between((about + 1) / 2, about);
      rest -= extent;
      extents.push_back(extent);
      sources.push_back({draw.type, whole});
      sources.back().shape[axis] = extent;
    }
    return bench::make_case(
        "random concat",
        fmt::format("({}) of {} along {}", fmt::join(whole, ","), fmt::join(extents, "+"), axis), "concat",
        std::move(sources), {{"axis", std::int64_t{axis}}});
  }
}

}  // namespace

const OperationCases cases{.draw_test_case = draw_test_case,
                           .add_benchmark_cases = add_benchmark_cases,
                           .draw_benchmark_case = draw_benchmark_case};

}  // namespace reference::concat_operation
