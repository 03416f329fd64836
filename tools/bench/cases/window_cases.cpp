#include "window_cases.hpp"

#include <functional>
#include <numeric>
#include <span>

#include <spdlog/fmt/fmt.h>
#include <spdlog/fmt/ranges.h>

namespace bench {
namespace {

using tmajit::ElementType;

struct Row {
  const char* what;
  Shape images;
  tmajit::Windows windows;
  ElementType type = ElementType::bf16;
};

/// A convolution in f32.
struct Layer {
  const char* what;
  Shape images;
  std::uint64_t outputs;
  tmajit::Windows windows;
};

std::uint64_t product(const tmajit::Dims& numbers) {
  return static_cast<std::uint64_t>(
      std::accumulate(numbers.begin(), numbers.end(), std::int64_t{1}, std::multiplies()));
}

/// Images of few and small ones.
Shape made_tiny(Shape images) {
  images.front() = 2;
  for (std::size_t d = 1; d + 1 < images.size(); ++d) images[d] = 9 + d;
  return images;
}

/// Of all images.
std::uint64_t count_windows(const tmajit::Windows& windows, const Shape& images) {
  const auto counts = tmajit::window_counts(windows, std::span(images).subspan(1, images.size() - 2));
  return std::accumulate(counts.begin(), counts.end(), images.front(), std::multiplies());
}

Case matrix_of(const Row& row, bool tiny) {
  const Shape images = tiny ? made_tiny(row.images) : row.images;
  return {
      .group = "windows",
      .name = fmt::format("{} ({})", row.what, fmt::join(images, ",")),
      .kind = Kind::im2col,
      .sources = {{row.type, images}},
      .destinations = {{row.type,
                        {count_windows(row.windows, images), product(row.windows.filter) * images.back()}}},
      .windows = row.windows,
      .peers = Peers::none,
      .odd = images.back() * tmajit::size_of(row.type) % 16 != 0};
}

Case convolution_of(const Layer& layer, bool tiny) {
  const Shape images = tiny ? made_tiny(layer.images) : layer.images;
  const std::uint64_t outputs = tiny ? 12 : layer.outputs;
  const std::uint64_t windows = count_windows(layer.windows, images);
  Shape filter{outputs};
  for (const std::int64_t taps : layer.windows.filter) filter.push_back(static_cast<std::uint64_t>(taps));
  filter.push_back(images.back());
  const double operations =
      2.0 * static_cast<double>(windows * outputs * product(layer.windows.filter) * images.back());
  return {.group = "windows",
          .name = fmt::format("convolution {} ({}) to {}, {:.3g} GFLOP", layer.what, fmt::join(images, ","),
                              outputs, operations * 1e-9),
          .kind = Kind::convolution,
          .sources = {{ElementType::f32, images}, {ElementType::f32, filter}},
          .destinations = {{ElementType::f32, {windows, outputs}}},
          .windows = layer.windows,
          .peers = Peers::none};
}

}  // namespace

std::vector<Case> window_cases(bool tiny) {
  const tmajit::Windows around{.filter = {3, 3}, .before = {1, 1}, .after = {1, 1}};
  const tmajit::Windows by_2{.filter = {3, 3}, .strides = {2, 2}, .before = {1, 1}, .after = {1, 1}};
  const tmajit::Windows wide{.filter = {7, 7}, .strides = {2, 2}, .before = {3, 3}, .after = {3, 3}};
  const Row rows[] = {
      {"3x3", {64, 56, 56, 64}, around},
      {"3x3", {64, 56, 56, 64}, around, ElementType::f32},
      {"3x3", {64, 56, 56, 64}, around, ElementType::u8},
      {"3x3 of many channels", {64, 14, 14, 256}, around},
      {"3x3 by 2", {64, 56, 56, 128}, by_2},
      {"3x3 inside", {64, 58, 58, 64}, {.filter = {3, 3}}},
      {"1x1 by 2", {64, 56, 56, 256}, {.filter = {1, 1}, .strides = {2, 2}}},
      {"7x7 by 2 of colours", {64, 224, 224, 3}, wide},
      {"7x7 by 2 of 8 channels", {64, 224, 224, 8}, wide},
      {"9 of a line", {256, 4096, 64}, {.filter = {9}, .before = {4}, .after = {4}}},
      {"3x3x3", {4, 32, 56, 56, 32}, {.filter = {3, 3, 3}, .before = {1, 1, 1}, .after = {1, 1, 1}}},
  };
  const Layer layers[] = {
      {"3x3", {64, 56, 56, 64}, 64, around},
      {"3x3", {64, 14, 14, 256}, 256, around},
      {"3x3 by 2", {64, 56, 56, 128}, 128, by_2},
      {"1x1", {64, 56, 56, 64}, 256, {.filter = {1, 1}}},
      {"7x7 by 2 of colours", {64, 224, 224, 3}, 64, wide},
  };
  std::vector<Case> cases;
  for (const Row& row : rows) cases.push_back(matrix_of(row, tiny));
  for (const Layer& layer : layers) cases.push_back(convolution_of(layer, tiny));
  return cases;
}

}  // namespace bench
