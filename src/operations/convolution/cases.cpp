#include "operations/cases.hpp"

#include "operations/drawing/draw_windows.hpp"

#include <spdlog/fmt/fmt.h>
#include <spdlog/fmt/ranges.h>

namespace reference::convolution_operation {

using namespace tmajit;

namespace {

void draw_test_case(TestCaseDraw& draw) {
  draw.type = ElementType::f32;
  draw.test_case.contents = Contents::numbers;
  for (;;) {
    DrawnWindows drawn = draw_windows(draw, 4);
    const std::uint64_t outputs =
        between(draw.kernel_property_random, 1, one_in(draw.kernel_property_random, 3) ? 150 : 20);
    const std::uint64_t rows = element_count(drawn.windows);
    const std::uint64_t products = rows * outputs * element_count(drawn.taps) * drawn.channels;
    if (products > 10 * draw.limits.max_elements) continue;
    drawn.image.push_back(drawn.channels);
    drawn.windows.push_back(outputs);
    drawn.taps.insert(drawn.taps.begin(), outputs);
    drawn.taps.push_back(drawn.channels);
    const bool is_dense = !one_in(draw.kernel_property_random, 3);
    draw.add_destination(window_view(
        draw, one_in(draw.kernel_property_random, 2) ? Shape{rows, outputs} : drawn.windows, is_dense));
    draw.add_source(window_view(draw, drawn.image, is_dense || one_in(draw.kernel_property_random, 2)));
    draw.add_source(window_view(draw, drawn.taps, is_dense || one_in(draw.kernel_property_random, 2)));
    return;
  }
}

struct Layer {
  const char* what;
  Shape images;
  std::uint64_t outputs;
  Arguments windows;
};

void add_benchmark_cases(bench::CaseBuilder& list) {
  const Layer layers[] = {
      {"3x3", {64, 56, 56, 64}, 64, window_arguments({3, 3}, {1, 1})},
      {"3x3", {64, 14, 14, 256}, 256, window_arguments({3, 3}, {1, 1})},
      {"3x3 by 2", {64, 56, 56, 128}, 128, window_arguments({3, 3}, {1, 1}, {2, 2})},
      {"1x1", {64, 56, 56, 64}, 256, window_arguments({1, 1}, {})},
      {"7x7 by 2 of colours", {64, 224, 224, 3}, 64, window_arguments({7, 7}, {3, 3}, {2, 2})},
  };
  for (const Layer& layer : layers) {
    const Shape images = benchmark_images(list, layer.images);
    Shape filter{list.tiny() ? 12 : layer.outputs};
    for (const std::int64_t taps : layer.windows.dims("filter"))
      filter.push_back(static_cast<std::uint64_t>(taps));
    filter.push_back(images.back());
    bench::Case& added = list.add("windows", {}, "convolution",
                                  {{ElementType::f32, images}, {ElementType::f32, filter}}, layer.windows);
    const std::uint64_t products = element_count(filter) / filter.front();
    const auto operations = 2.0 * static_cast<double>(added.destinations.front().elements() * products);
    added.name = fmt::format("convolution {} ({}) to {}, {:.3g} GFLOP", layer.what, fmt::join(images, ","),
                             filter.front(), operations * 1e-9);
    added.peers = bench::Peers::none;
  }
}

}  // namespace

const OperationCases cases{.draw_test_case = draw_test_case, .add_benchmark_cases = add_benchmark_cases};

}  // namespace reference::convolution_operation
