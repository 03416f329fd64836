#include "operations/cases.hpp"

#include "operations/drawing/draw_windows.hpp"

#include <array>

#include <spdlog/fmt/fmt.h>
#include <spdlog/fmt/ranges.h>

namespace reference::im2col_operation {

using namespace tmajit;

namespace {

/// Draws an im2col whose destination has its dimensions separate or merged.
void draw_test_case(TestCaseDraw& draw) {
  draw.type = one_of(draw.kernel_property_random,
                     std::array{ElementType::f32, ElementType::bf16, ElementType::u8, ElementType::f64});
  for (;;) {
    DrawnWindows drawn = draw_windows(draw, 16 / size_of(draw.type));
    const std::uint64_t rows = element_count(drawn.windows);
    const std::uint64_t row = element_count(drawn.taps) * drawn.channels;
    if (rows * row > draw.limits.max_elements) continue;
    drawn.image.push_back(drawn.channels);
    Shape whole = drawn.windows;
    whole.insert(whole.end(), drawn.taps.begin(), drawn.taps.end());
    whole.push_back(drawn.channels);
    const bool is_dense = !one_in(draw.kernel_property_random, 3);
    draw.add_destination(
        window_view(draw, one_in(draw.kernel_property_random, 2) ? Shape{rows, row} : whole, is_dense));
    draw.add_source(window_view(draw, drawn.image, is_dense || one_in(draw.kernel_property_random, 2)));
    return;
  }
}

struct Row {
  const char* what;
  Shape images;
  Arguments windows;
  ElementType type = ElementType::bf16;
};

/// Windows of images, gathered to the rows of a matrix.
void add_benchmark_cases(bench::CaseBuilder& list) {
  const Arguments around = window_arguments({3, 3}, {1, 1});
  const Row rows[] = {
      {"3x3", {64, 56, 56, 64}, around},
      {"3x3", {64, 56, 56, 64}, around, ElementType::f32},
      {"3x3", {64, 56, 56, 64}, around, ElementType::u8},
      {"3x3 of many channels", {64, 14, 14, 256}, around},
      {"3x3 by 2", {64, 56, 56, 128}, window_arguments({3, 3}, {1, 1}, {2, 2})},
      {"3x3 inside", {64, 58, 58, 64}, window_arguments({3, 3}, {})},
      {"1x1 by 2", {64, 56, 56, 256}, window_arguments({1, 1}, {}, {2, 2})},
      {"7x7 by 2 of colours", {64, 224, 224, 3}, window_arguments({7, 7}, {3, 3}, {2, 2})},
      {"7x7 by 2 of 8 channels", {64, 224, 224, 8}, window_arguments({7, 7}, {3, 3}, {2, 2})},
      {"9 of a line", {256, 4096, 64}, window_arguments({9}, {4})},
      {"3x3x3", {4, 32, 56, 56, 32}, window_arguments({3, 3, 3}, {1, 1, 1})},
  };
  for (const auto& [what, images_of, windows, type] : rows) {
    const Shape images = benchmark_images(list, images_of);
    bench::Case& added = list.add("windows", fmt::format("{} ({})", what, fmt::join(images, ",")), "im2col",
                                  {{type, images}}, windows);
    added.peers = bench::Peers::none;
    added.odd = images.back() * size_of(type) % 16 != 0;
  }
}

}  // namespace

const OperationCases cases{.draw_test_case = draw_test_case, .add_benchmark_cases = add_benchmark_cases};

}  // namespace reference::im2col_operation
